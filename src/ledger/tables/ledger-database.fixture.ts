import { afterAll } from "vitest";
import type { Database } from "../../database/database.ts";
import { openPrepared } from "../../database/new-database.fixture.ts";
import { migrate } from "./migrate.ts";

/** Creates and opens a database with the tables of the ledger, without rows. */
export const openLedgerDatabase = (): Promise<Database> => openPrepared("ledger", migrate);

/** Opens one for all tests of a file, which is disposed after them. */
export async function ledgerDatabaseOfFile(): Promise<Database> {
  const database = await openLedgerDatabase();
  afterAll(() => database[Symbol.asyncDispose]());
  return database;
}
