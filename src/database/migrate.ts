import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { AdapterLog } from "../engines/adapter.ts";
import { retry } from "../waiting/retry.ts";
import { type Database, limitMaxMs, type Sql } from "./database.ts";

/** The migrations of one service. */
export interface Migrations {
  /** The folder of the files. */
  folder: URL;
  /** The schema of the tables, which is created. Default: the one in which the database creates tables. */
  schema?: string;
}

/**
 * How long requests can wait behind a statement that waits for a lock. It is shorter than PostgreSQL's `deadlock_timeout`,
 * so that the migration loses a deadlock.
 */
const lockTimeoutMs = 500;
/** The delay after a conflict with another session. Requests that waited behind the migration proceed meanwhile. */
const retryDelayMs = 2000;
/** How long a conflict is retried. */
const retryMaxMs = 10 * 60_000;
/** The interval of log lines while migrations are applied. */
const progressEveryMs = 10_000;

/** The limits of a migration's transaction. */
const limits = { statementMs: limitMaxMs, lockMs: lockTimeoutMs };

/**
 * Applies each numbered file of the folder once, in order, one process at a time. CONTRIBUTING.md describes how a file is
 * run and what it may contain, so that requests and receivers of the previous release proceed meanwhile. An interrupted
 * file is completed at the next start. Resolves with true if there were no tables. Rejects if a lock is not free within
 * 10 minutes, if a file has changed since it was applied, and if a newer version has migrated the database.
 */
export async function applyMigrations(
  database: Database,
  migrations: Migrations,
  log?: AdapterLog,
): Promise<boolean> {
  const [{ encoding } = { encoding: "" }] = await database.query<{ encoding: string }>(
    "select current_setting('server_encoding') as encoding",
  );
  if (encoding !== "UTF8") throw new Error(`the encoding of the database must be UTF8; it is ${encoding}`);
  // A process that has nothing to apply needs no lock and no right to create tables.
  const due = await dueMigrations(database, migrations);
  if (due.length === 0) return false;
  const isEmpty = due.length === (await filesIn(migrations.folder)).length;
  const { schema } = migrations;
  if (isEmpty) log?.info({}, `creating ${schema === undefined ? "the tables" : `the schema ${schema}`}`);
  const startedAt = Date.now();
  const run: Run = { database, migrations, log };
  using _progress = logProgress(run);
  const applied = await database.exclusively(schema ?? "migration", () => applyDue(run));
  if (!isEmpty && applied.length > 0) {
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    log?.info({}, `migrated ${placeOf(migrations)} in ${seconds} s: ${namesFrom(applied)}`);
  }
  return isEmpty;
}

/** What the migrations change, for log lines and errors. */
const placeOf = ({ schema }: Migrations) => (schema === undefined ? "the database" : `the schema ${schema}`);

/** The name of a table or an index, with the schema of the tables if they have one. */
const nameIn = ({ schema }: Migrations, name: string) => (schema === undefined ? name : `${schema}.${name}`);

/** The table of the applied migrations. */
const tableOf = (migrations: Migrations) => nameIn(migrations, "migration");

interface Run {
  database: Database;
  migrations: Migrations;
  log: AdapterLog | undefined;
  /** The migration that is applied, if it is this process that applies them, and the rows that it has processed. */
  current?: { migration: string; rows?: number };
}

/** Applies the files that are due, and returns their names. */
async function applyDue(run: Run): Promise<string[]> {
  const { database, migrations, log } = run;
  const table = tableOf(migrations);
  await database.run(`
    ${migrations.schema === undefined ? "" : `create schema if not exists ${migrations.schema};`}
    create table if not exists ${table} (name text primary key, applied_at timestamptz not null default now());
    alter table ${table} add column if not exists checksum text`);
  const due = await dueMigrations(database, migrations);
  for (const file of due) {
    log?.debug({ migration: file.name }, "migration begins");
    run.current = { migration: file.name };
    await apply(run, file);
  }
  await saveMissingChecksums(database, migrations);
  return due.map(({ name }) => name);
}

/** `0002-a.sql`, or `3 migrations, 0002-a.sql to 0004-c.sql`. */
function namesFrom(names: string[]): string {
  const [first = "", last = first] = [names[0], names.at(-1)];
  return first === last ? first : `${names.length} migrations, ${first} to ${last}`;
}

/** Logs the progress at an interval, until it is disposed of. */
function logProgress(run: Run): Disposable {
  const place = placeOf(run.migrations);
  const timer = setInterval(() => {
    if (run.current) run.log?.info(run.current, `${place} is being migrated`);
    else run.log?.info({}, `another process migrates ${place}`);
  }, progressEveryMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

interface MigrationFile {
  name: string;
  text: string;
}

async function filesIn(folder: URL): Promise<MigrationFile[]> {
  const names = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name) => ({ name, text: await readFile(new URL(name, folder), "utf8") })),
  );
}

/** The files that are not applied yet. Rejects if an applied file has changed or is not in the folder. */
export async function dueMigrations(sql: Sql, migrations: Migrations): Promise<MigrationFile[]> {
  const files = await filesIn(migrations.folder);
  const table = tableOf(migrations);
  const [found] = await sql.query<{ name: string | null }>("select to_regclass($1)::text as name", [table]);
  if (found?.name == null) return files;
  // As JSON, since an older version has created the table without the column. Null if an older version has applied it.
  const rows = await sql.query<{ name: string; checksum: string | null }>(
    `select name, to_jsonb(applied) ->> 'checksum' as checksum from ${table} as applied`,
  );
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]));
  const known = new Set(files.map(({ name }) => name));
  const unknown = [...applied.keys()].filter((name) => !known.has(name)).sort();
  if (unknown.length > 0) {
    throw new Error(
      `${placeOf(migrations)} has the migrations ${unknown.join(", ")}, which this version does not know; ` +
        "start the newer version, or restore a backup from before these migrations",
    );
  }
  for (const { name, text } of files) {
    const checksum = applied.get(name) ?? undefined;
    if (checksum !== undefined && checksum !== checksumOf(text)) {
      throw new Error(
        `the migration ${name} has changed since it was applied; write a new migration instead`,
      );
    }
  }
  return files.filter(({ name }) => !applied.has(name));
}

const checksumOf = (text: string): string => createHash("sha256").update(text).digest("hex");

async function saveMissingChecksums(sql: Sql, migrations: Migrations): Promise<void> {
  for (const { name, text } of await filesIn(migrations.folder)) {
    await sql.query(`update ${tableOf(migrations)} set checksum = $2 where name = $1 and checksum is null`, [
      name,
      checksumOf(text),
    ]);
  }
}

/** Runs a file in the way that its first line states, and records it. */
async function apply(run: Run, file: MigrationFile): Promise<void> {
  const [firstLine] = file.text.split("\n", 1);
  if (firstLine === "-- outside a transaction") await applyOutside(run, file);
  else if (firstLine === "-- in batches") await applyInBatches(run, file);
  else {
    return inTransaction(run, file, async (sql) => {
      // Recorded first, so that no other process runs it at the same time.
      if (await record(sql, run, file)) await sql.run(file.text);
    });
  }
  await record(run.database, run, file);
}

/** Resolves with false if the migration is already recorded. */
async function record(sql: Sql, { migrations }: Run, { name, text }: MigrationFile): Promise<boolean> {
  const recorded = await sql.query(
    `insert into ${tableOf(migrations)} (name, checksum) values ($1, $2) on conflict do nothing returning name`,
    [name, checksumOf(text)],
  );
  return recorded.length > 0;
}

/** Runs each statement by itself. A statement must have no effect if its result exists. */
async function applyOutside(run: Run, file: MigrationFile): Promise<void> {
  for (const statement of statementsOf(file.text)) {
    await retryConflicts(run, file, async () => {
      await dropInvalidIndex(run, statement);
      await run.database.runOutside(statement);
    });
  }
}

/** The statements of a script. A semicolon ends a statement, but not between `$$`; a comment has its own lines. */
export const statementsOf = (script: string): string[] =>
  (script.replaceAll(/^\s*--.*$/gm, "").match(/(?:\$(\w*)\$.*?\$\1\$|[^;])+/gs) ?? [])
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");

/**
 * An interrupted `create index concurrently` leaves an invalid index. The session of a killed process can still build it. That
 * is cancelled: it can wait for a snapshot of the transaction that has the lock of this process, which would wait for it.
 */
async function dropInvalidIndex({ database, migrations }: Run, statement: string): Promise<void> {
  const [, name] = /^create (?:unique )?index concurrently if not exists (\w+)/i.exec(statement) ?? [];
  if (name === undefined) return;
  const index = nameIn(migrations, name);
  const invalid = await database.query(
    "select from pg_index where indexrelid = to_regclass($1) and not indisvalid",
    [index],
  );
  if (invalid.length === 0) return;
  await database.query(
    `select pg_cancel_backend(pid) from pg_stat_progress_create_index
     where datname = current_database() and index_relid = to_regclass($1)`,
    [index],
  );
  await database.runOutside(`drop index concurrently if exists ${index}`);
}

/**
 * Runs the statement repeatedly, each time in its own transaction, until it returns no row. It returns the keys of the
 * rows that it has processed, in order, and continues after the key in `$1`: first an empty text, then the last key.
 */
async function applyInBatches(run: Run, file: MigrationFile): Promise<void> {
  let after: unknown = "";
  let rows = 0;
  for (;;) {
    const batch = await inTransaction(run, file, (sql) =>
      sql.query<{ key: unknown }>(file.text, [after], "custom"),
    );
    const last = batch.at(-1);
    if (last === undefined) return;
    after = last.key;
    rows += batch.length;
    run.current = { migration: file.name, rows };
  }
}

const inTransaction = <Result>(run: Run, file: MigrationFile, work: (sql: Sql) => Promise<Result>) =>
  retryConflicts(run, file, () => run.database.transaction(work, limits));

const retryConflicts = <Result>({ log }: Run, { name }: MigrationFile, work: () => Promise<Result>) =>
  retry(work, {
    forMs: retryMaxMs,
    everyMs: retryDelayMs,
    mayPass: isConflict,
    onRetry: (err) =>
      log?.warn(
        { migration: name, err, retryDelayMs },
        "another session was in the way; the migration is retried",
      ),
  });

/**
 * True if another session was in the way: SQLSTATE 55P03 (a lock was not free in time), 40P01 (deadlock), or that PostgreSQL
 * let a statement change an index whose `create index concurrently` was about to commit, for example that of a killed
 * process. It has no SQLSTATE for this; the text is never translated.
 */
function isConflict(error: unknown): boolean {
  const { code, message } = ((error as Error).cause ?? error) as { code?: string; message?: string };
  return code === "55P03" || code === "40P01" || message === "tuple concurrently updated";
}
