import { PGlite, type Transaction, types } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import type { Address } from "../../process/adapter.ts";
import { messageOf } from "../../process/describe-error.ts";
import { lockFolder } from "../../process/folder-lock.ts";
import { requireFreeSpace } from "../../process/free-space.ts";
import { parseExactly } from "../../values/exact-json.ts";
import {
  type Database,
  DatabaseUnavailable,
  isFileError,
  isTransient,
  type Sql,
  withStatementTimeout,
} from "./database.ts";
import { startAutovacuum } from "./pglite-autovacuum.ts";
import { readTimestamp } from "./timestamp.ts";

const spaceMinMebibytes = 64;
/** Delay between two attempts to start an engine. */
const restartDelayMs = 2000;

/**
 * PostgreSQL in this process, in a folder or in memory. It has one connection: transactions wait for one another. An engine
 * that has crashed, for example on a full disk, is replaced as soon as there is space.
 */
export async function open({ url }: Address): Promise<Database> {
  await using opening = new AsyncDisposableStack();
  const path = decodeURIComponent(url.pathname);
  const folder = path === "memory" ? undefined : path;
  if (folder !== undefined) opening.use(lockFolder(folder));
  let engine = await startEngine(folder);
  let starting: Promise<void> | undefined;
  opening.defer(async () => {
    await starting?.catch(() => {});
    await engine[Symbol.asyncDispose]();
  });

  async function restart(): Promise<void> {
    await engine[Symbol.asyncDispose]();
    engine = await startEngine(folder);
    starting = undefined;
  }

  async function running(): Promise<PGlite> {
    if (engine.hasCrashed()) {
      // One at a time, since two engines in one folder destroy it.
      starting ??= restart().catch((error) => {
        setTimeout(() => {
          starting = undefined;
        }, restartDelayMs).unref();
        throw new DatabaseUnavailable(error);
      });
      await starting;
    }
    return engine.pglite;
  }

  const opened = opening.move();
  const sql = sqlOver(running);
  return {
    ...sql,
    // A running statement cannot be interrupted, since the engine runs in this thread.
    within: (limitMs) => withStatementTimeout(limitMs, sql),
    // Its folder belongs to this process.
    exclusively: (work) => work(),
    runOutside: sql.run,
    // No other process can hold a lock, so there are no limits.
    async transaction(work) {
      const pglite = await running();
      return pglite
        .transaction((transaction) => work(sqlOver(async () => transaction)))
        .catch(reject) as never;
    },
    async check() {
      await sql.query("select 1");
    },
    connections: () => ({}),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

interface Engine extends AsyncDisposable {
  pglite: PGlite;
  hasCrashed(): boolean;
}

async function startEngine(folder: string | undefined): Promise<Engine> {
  if (folder !== undefined) await requireFreeSpace(folder, spaceMinMebibytes);
  const options = {
    ...(folder !== undefined && { dataDir: `${folder}/pglite` }),
    extensions: { pg_trgm },
    parsers: {
      [types.INT8]: BigInt,
      [types.JSONB]: (text: string) => parseExactly(text),
      [types.TIMESTAMPTZ]: readTimestamp,
    },
  };
  const pglite = await PGlite.create(options).catch((error) => {
    throw new Error(
      `the embedded database in ${folder} does not start (${messageOf(error)}); restore the folder from a backup, or remove it and send the messages again`,
      { cause: error },
    );
  });
  const hasCrashed = watchForPanic(pglite);
  await pglite.exec("set time zone 'UTC'");
  const autovacuum = startAutovacuum(pglite);
  return {
    pglite,
    hasCrashed,
    async [Symbol.asyncDispose]() {
      await autovacuum[Symbol.asyncDispose]();
      if (!hasCrashed()) await pglite.close();
    },
  };
}

/**
 * At a PANIC, when its log cannot be written, a PostgreSQL server restarts and recovers from the log. This engine would loop
 * at its next statement and block this thread, so it gets no more statements.
 */
function watchForPanic(pglite: PGlite): () => boolean {
  const exec = pglite.execProtocolStream.bind(pglite);
  let panic: Error | undefined;
  pglite.execProtocolStream = async (...message) => {
    if (panic) throw panic;
    try {
      return await exec(...message);
    } catch (error) {
      if ((error as { severity?: string }).severity === "PANIC") panic = error as Error;
      throw error;
    }
  };
  return () => panic !== undefined;
}

const sqlOver = (connected: () => Promise<PGlite | Transaction>): Sql => ({
  async query<Row>(text: string, values?: unknown[]) {
    const connection = await connected();
    return (await connection.query<Row>(text, values).catch(reject)).rows;
  },
  async run(script) {
    const connection = await connected();
    await connection.exec(script).catch(reject);
  },
});

/** Maps transient errors, such as those of a full disk. */
function reject(error: Error & { code?: string }): never {
  throw isTransient(error.code) || isFileError(error) ? new DatabaseUnavailable(error) : error;
}
