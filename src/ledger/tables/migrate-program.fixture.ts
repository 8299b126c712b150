import { openDatabase } from "../database/database.ts";
import { migrate } from "./migrate.ts";

/** A process that migrates a database, to be killed: its arguments are the URLs of the database and of the folder. */
const [database = "", folder = ""] = process.argv.slice(2);
await using opened = await openDatabase(database);
await migrate(opened, undefined, new URL(folder));
