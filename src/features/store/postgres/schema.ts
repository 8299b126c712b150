import { readdirSync, readFileSync } from "node:fs";
import type { Database, Limits, Sql } from "../../../database/database.ts";

const folder = new URL("./migrations/", import.meta.url);

/** Processes that open the store at the same time wait for the one that creates or changes the tables. */
const limits: Partial<Limits> = { statementMs: 30_000, lockMs: 30_000 };

/**
 * Applies the files of `migrations/` that the schema `feature_storage` lacks, in the order of their names and in one
 * transaction. Creates the schema if there is none. Rejects if a newer version has changed it.
 */
export async function migrate(database: Database): Promise<void> {
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
