import type { Database } from "../../database/database.ts";
import { openPrepared } from "../../database/new-database.fixture.ts";
import { migrate } from "./migrate.ts";

/** Creates and opens a database with the tables of the ledger, without rows. */
export const openLedgerDatabase = (): Promise<Database> => openPrepared("ledger", migrate);
