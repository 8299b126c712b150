import { openDatabase } from "../../database/databases.ts";
import { migrate } from "./migrate.ts";

/** Migrates a database, for tests that kill the process. Its arguments are the URLs of the database and of the folder. */
const [database = "", folder = ""] = process.argv.slice(2);
await using opened = await openDatabase(database);
await migrate(opened, undefined, new URL(folder));
