import { readdir, readFile } from "node:fs/promises";
import type { Database, Sql } from "../database/database.ts";

const folder = new URL("./migrations/", import.meta.url);

/** Brings the tables up to date: each numbered file once, in order, all or nothing, one process at a time. */
export async function migrate(database: Database): Promise<void> {
  const [{ encoding } = { encoding: "" }] = await database.query<{ encoding: string }>(
    "select current_setting('server_encoding') as encoding",
  );
  if (encoding !== "UTF8") throw new Error(`the database must be in UTF8, and is in ${encoding}`);
  // A process that finds nothing to do needs no lock, and no right to make tables.
  if ((await unapplied(database)).length === 0) return;
  await database.transaction(async (sql) => {
    await sql.query("select pg_advisory_xact_lock(hashtext('migration'))");
    await sql.run(
      "create table if not exists migration (name text primary key, applied_at timestamptz not null default now())",
    );
    for (const file of await unapplied(sql)) {
      await sql.run(await readFile(new URL(file, folder), "utf8"));
      await sql.query("insert into migration (name) values ($1)", [file]);
    }
  });
}

/** Rejects when the tables are not those that this version works with; changes nothing. */
export async function refuseUnmigrated(database: Database): Promise<void> {
  const missing = await unapplied(database);
  if (missing.length > 0) {
    throw new Error(
      `the tables lack ${missing.join(", ")}; the ledger of this version makes them when it starts`,
    );
  }
}

async function unapplied(sql: Sql): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  const [table] = await sql.query<{ name: string | null }>("select to_regclass('migration')::text as name");
  if (table?.name == null) return files;
  const applied = await sql.query<{ name: string }>("select name from migration");
  return files.filter((file) => !applied.some(({ name }) => name === file));
}
