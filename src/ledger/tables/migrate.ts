import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../process/log.ts";
import { type Database, limitMaxMs, type Sql } from "../database/database.ts";

const migrations = new URL("./migrations/", import.meta.url);

/**
 * How long requests can wait behind a statement that waits for a lock. Shorter than PostgreSQL's `deadlock_timeout`, so
 * that the migration gives way where both wait for each other.
 */
const lockTimeoutMs = 500;
/** From one attempt to get a lock to the next: those who waited behind the first go on meanwhile. */
const lockRetryDelayMs = 2000;
/** So long is a lock tried for. */
const lockRetryMaxMs = 10 * 60_000;
/** Between two lines of the log that say how far a migration is. */
const progressEveryMs = 10_000;

/** Of a transaction of a migration. */
const limits = { statementMs: limitMaxMs, lockMs: lockTimeoutMs };

/**
 * Brings the tables up to date: each numbered file of the folder once, in order, one process at a time. ARCHITECTURE.md
 * says how a file is run, and what it may do, so that requests and receivers of older processes go on meanwhile. A
 * file that was broken off is completed the next time. Rejects when a lock is not free within 10 minutes.
 */
export async function migrate(database: Database, log?: Logger, folder = migrations): Promise<void> {
  const [{ encoding } = { encoding: "" }] = await database.query<{ encoding: string }>(
    "select current_setting('server_encoding') as encoding",
  );
  if (encoding !== "UTF8") throw new Error(`the database must be in UTF8, and is in ${encoding}`);
  // A process that finds nothing to do needs no lock, and no right to make tables.
  const due = await unapplied(database, folder);
  if (due.length === 0) return;
  log?.info({ migrations: due }, "migrations are due; one process at a time applies them");
  await database.exclusively(async () => {
    await database.run(
      "create table if not exists migration (name text primary key, applied_at timestamptz not null default now())",
    );
    for (const name of await unapplied(database, folder)) {
      const startedAt = Date.now();
      log?.info({ migration: name }, "migration begins");
      await apply({ database, log, name, text: await readFile(new URL(name, folder), "utf8") });
      log?.info({ migration: name, durationMs: Date.now() - startedAt }, "migration ends");
    }
  });
}

/** Rejects when the tables are not those that this version works with; changes nothing. */
export async function refuseUnmigrated(database: Database): Promise<void> {
  const missing = await unapplied(database, migrations);
  if (missing.length > 0) {
    throw new Error(
      `the tables lack ${missing.join(", ")}; the ledger of this version makes them when it starts`,
    );
  }
}

async function unapplied(sql: Sql, folder: URL): Promise<string[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  const [table] = await sql.query<{ name: string | null }>("select to_regclass('migration')::text as name");
  if (table?.name == null) return files;
  const applied = await sql.query<{ name: string }>("select name from migration");
  return files.filter((file) => !applied.some(({ name }) => name === file));
}

interface Migration {
  database: Database;
  log: Logger | undefined;
  name: string;
  text: string;
}

/** Runs a file as its first line says, and records it. */
async function apply(migration: Migration): Promise<void> {
  const [firstLine] = migration.text.split("\n", 1);
  if (firstLine === "-- outside a transaction") await applyOutside(migration);
  else if (firstLine === "-- in batches") await applyInBatches(migration);
  else {
    return inTransaction(migration, async (sql) => {
      // Recorded first, so that nobody else runs it at the same time.
      if (await record(sql, migration)) await sql.run(migration.text);
    });
  }
  await record(migration.database, migration);
}

/** Whether it was not recorded before. */
async function record(sql: Sql, { name }: Migration): Promise<boolean> {
  const recorded = await sql.query(
    "insert into migration (name) values ($1) on conflict do nothing returning name",
    [name],
  );
  return recorded.length > 0;
}

/** Runs each statement by itself. It must do nothing when what it makes is there. */
async function applyOutside(migration: Migration): Promise<void> {
  for (const statement of statementsOf(migration.text)) {
    await untilLocksAreFree(migration, async () => {
      await dropBroken(migration.database, statement);
      await migration.database.runOutside(statement);
    });
  }
}

/** The statements of a script, in which a semicolon ends one, and a comment has lines of its own. */
export const statementsOf = (script: string): string[] =>
  script
    .replaceAll(/^\s*--.*$/gm, "")
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");

/** An index that was not built to its end is there, and of no use. */
async function dropBroken(database: Database, statement: string): Promise<void> {
  const [, index] = /^create (?:unique )?index concurrently if not exists (\w+)/i.exec(statement) ?? [];
  if (index === undefined) return;
  const broken = await database.query(
    "select from pg_index where indexrelid = to_regclass($1) and not indisvalid",
    [index],
  );
  if (broken.length > 0) await database.runOutside(`drop index concurrently if exists ${index}`);
}

/**
 * Runs the statement again and again, each time in a transaction of its own, until it answers no row. It answers the keys
 * of the rows it has looked at, in their order, and goes on behind the key in `$1`: first an empty text, then the last
 * key.
 */
async function applyInBatches(migration: Migration): Promise<void> {
  let after: unknown = "";
  let rows = 0;
  let saidAt = Date.now();
  for (;;) {
    const batch = await inTransaction(migration, (sql) =>
      sql.query<{ key: unknown }>(migration.text, [after], "once"),
    );
    const last = batch.at(-1);
    if (last === undefined) return;
    after = last.key;
    rows += batch.length;
    if (Date.now() - saidAt > progressEveryMs) {
      saidAt = Date.now();
      migration.log?.info({ migration: migration.name, rows }, "migration goes on");
    }
  }
}

const inTransaction = <Result>(migration: Migration, work: (sql: Sql) => Promise<Result>): Promise<Result> =>
  untilLocksAreFree(migration, () => migration.database.transaction(work, limits));

async function untilLocksAreFree<Result>(
  { name, log }: Migration,
  work: () => Promise<Result>,
): Promise<Result> {
  const giveUpAt = Date.now() + lockRetryMaxMs;
  for (;;) {
    try {
      return await work();
    } catch (err) {
      if (!isOfLocks(err) || Date.now() > giveUpAt) throw err;
      log?.warn(
        { migration: name, err, retryDelayMs: lockRetryDelayMs },
        "a lock was not free; the migration is retried",
      );
      await sleep(lockRetryDelayMs);
    }
  }
}

/** SQLSTATE: a lock was not free in time (55P03), or those who waited did so in a circle (40P01). */
function isOfLocks(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: { code?: string } };
  return ["55P03", "40P01"].includes(code ?? cause?.code ?? "");
}
