import type { Database, Limits } from "../../../database/database.ts";
import { applyMigrations } from "../../../database/migrate.ts";
import type { AdapterLog } from "../../../engines/adapter.ts";
import { historyMismatch } from "../parameters.ts";

/** The migrations of the schema. Earlier releases lock the name of the schema, too, while they apply theirs. */
export const featureMigrations = {
  folder: new URL("./migrations/", import.meta.url),
  schema: "feature_storage",
};

/** Processes that open the store at the same time wait for the one that begins the feed. */
const limits: Partial<Limits> = { statementMs: 30_000, lockMs: 30_000 };

/**
 * Prepares the schema `feature_storage` for a store that keeps all change records or not. Rejects as `applyMigrations` does,
 * and if changes have been recorded in the other way.
 */
export async function prepareSchema(database: Database, keepsAll: boolean, log?: AdapterLog): Promise<void> {
  await applyMigrations(database, featureMigrations, log);
  const [feed] = await database.query<{ keeps_all: boolean }>("select keeps_all from feature_storage.feed");
  if (feed?.keeps_all === keepsAll) return;
  await database.transaction(async (sql) => {
    // The first change of another process may be in flight.
    await sql.query("select from feature_storage.feed for update");
    const begun = await sql.query(
      `update feature_storage.feed set keeps_all = $1
      where not exists (select from feature_storage.change) returning 1`,
      [keepsAll],
    );
    if (begun.length === 0) throw historyMismatch(keepsAll);
    if (keepsAll) await sql.run(historyIndexes);
  }, limits);
}

/** A store that deletes records does not need them. */
const historyIndexes = `
  create index if not exists change_by_resource on feature_storage.change (resource, id, number);
  create index if not exists change_by_feature on feature_storage.change (resource, feature, id, at, number)`;
