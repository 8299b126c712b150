import { readdirSync, readFileSync } from "node:fs";
import type { Database, Limits, Sql } from "../../../database/database.ts";
import { historyMismatch } from "../parameters.ts";

const folder = new URL("./migrations/", import.meta.url);

/** Processes that open the store at the same time wait for the one that creates or changes the tables. */
const limits: Partial<Limits> = { statementMs: 30_000, lockMs: 30_000 };

/**
 * Prepares the schema `feature_storage` for a store that keeps all change records or not. Rejects if a newer version has
 * changed the tables, and if changes have been recorded in the other way.
 */
export async function prepareSchema(database: Database, keepsAll: boolean): Promise<void> {
  await migrate(database);
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

/**
 * Applies the files of `migrations/` that the schema `feature_storage` lacks, in the order of their names and in one
 * transaction. Creates the schema if there is none. Rejects if a newer version has changed it.
 */
async function migrate(database: Database): Promise<void> {
  const [{ encoding } = { encoding: "" }] = await database.query<{ encoding: string }>(
    "select current_setting('server_encoding') as encoding",
  );
  if (encoding !== "UTF8") throw new Error(`the encoding of the database must be UTF8; it is ${encoding}`);
  // A process that has nothing to apply needs no lock and no right to create tables.
  if ((await dueMigrations(database)).length === 0) return;
  await database.transaction(async (sql) => {
    await sql.query("select pg_advisory_xact_lock(hashtext('feature_storage'), 0)");
    await sql.run(`
      create schema if not exists feature_storage;
      create table if not exists feature_storage.migration (
        name text primary key,
        applied_at timestamptz not null default now()
      )`);
    for (const name of await dueMigrations(sql)) {
      await sql.run(readFileSync(new URL(name, folder), "utf8"));
      await sql.query("insert into feature_storage.migration (name) values ($1)", [name]);
    }
  }, limits);
}

async function dueMigrations(sql: Sql): Promise<string[]> {
  const names = readdirSync(folder).sort();
  const [table] = await sql.query<{ name: string | null }>(
    "select to_regclass('feature_storage.migration')::text as name",
  );
  if (table?.name == null) return names;
  const rows = await sql.query<{ name: string }>("select name from feature_storage.migration");
  const applied = new Set(rows.map(({ name }) => name));
  const unknown = [...applied.difference(new Set(names))].sort();
  if (unknown.length > 0) {
    throw new Error(
      `the schema feature_storage has the migrations ${unknown.join(", ")}, which this version does not know; ` +
        "start the newer version",
    );
  }
  return names.filter((name) => !applied.has(name));
}
