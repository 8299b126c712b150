import type { Database } from "../../database/database.ts";
import { applyMigrations, dueMigrations } from "../../database/migrate.ts";
import type { AdapterLog } from "../../engines/adapter.ts";

export const ledgerMigrations = { folder: new URL("./migrations/", import.meta.url) };

/** Creates or migrates the tables of the ledger, as `applyMigrations` describes. Resolves with true if there were none. */
export const migrate = (
  database: Database,
  log?: AdapterLog,
  folder = ledgerMigrations.folder,
): Promise<boolean> => applyMigrations(database, { folder }, log);

/** Rejects unless exactly the migrations of this version have been applied. Changes nothing. */
export async function requireMigrated(database: Database): Promise<void> {
  const due = await dueMigrations(database, ledgerMigrations);
  if (due.length > 0) {
    const names = due.map(({ name }) => name).join(", ");
    throw new Error(
      `the database lacks the migrations ${names}; start the ledger of this version to apply them`,
    );
  }
}
