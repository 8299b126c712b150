import { readdir, readFile } from "node:fs/promises";
import type { Database } from "../database/database.ts";

const folder = new URL("./migrations/", import.meta.url);

/** Brings the tables up to date: each numbered file once, in order, all or nothing, one process at a time. */
export async function migrate(database: Database): Promise<void> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  await database.transaction(async (sql) => {
    await sql.query("select pg_advisory_xact_lock(hashtext('migration'))");
    await sql.run(
      "create table if not exists migration (name text primary key, applied_at timestamptz not null default now())",
    );
    const applied = await sql.query<{ name: string }>("select name from migration");
    for (const file of files) {
      if (applied.some(({ name }) => name === file)) continue;
      await sql.run(await readFile(new URL(file, folder), "utf8"));
      await sql.query("insert into migration (name) values ($1)", [file]);
    }
  });
}
