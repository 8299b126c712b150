import { PGlite, type Transaction, types } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { messageOf } from "../../process/describe-error.ts";
import { lockFolder } from "../../process/folder-lock.ts";
import { refuseWithoutSpace } from "../../process/free-space.ts";
import { parseExactly } from "../../values/exact-json.ts";
import {
  type Database,
  DatabaseUnavailable,
  givenUpAfter,
  isFileFault,
  isOfTheMoment,
  type Sql,
} from "./database.ts";
import { upkeepOf } from "./pglite-upkeep.ts";
import { readTimestamp } from "./timestamp.ts";

const spaceMinMebibytes = 64;
/** Until another start of an engine that could not be started is tried. */
const startAgainMs = 2000;

/**
 * PostgreSQL inside this process, in a folder or in memory. One connection: transactions wait for one another. When it
 * cannot go on, since its disk is full say, another one takes its place, as soon as there is space.
 */
export async function open(url: URL): Promise<Database> {
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

  async function startAnother(): Promise<void> {
    await engine[Symbol.asyncDispose]();
    engine = await startEngine(folder);
    starting = undefined;
  }

  async function running(): Promise<PGlite> {
    if (engine.hasEnded()) {
      // One at a time, since two in one folder destroy it.
      starting ??= startAnother().catch((error) => {
        setTimeout(() => {
          starting = undefined;
        }, startAgainMs).unref();
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
    // A statement that has begun goes on to its end, since this engine, which runs in this thread, cannot be interrupted.
    within: (limitMs) => givenUpAfter(limitMs, sql),
    // Its folder belongs to one process.
    exclusively: (work) => work(),
    runOutside: sql.run,
    // Nobody else can hold anything here: there are no limits.
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
  /** Whether it will never answer again. */
  hasEnded(): boolean;
}

async function startEngine(folder: string | undefined): Promise<Engine> {
  if (folder !== undefined) await refuseWithoutSpace(folder, spaceMinMebibytes);
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
      `the embedded database in ${folder} does not start (${messageOf(error)}); restore the folder from a copy, or move it away and send the messages again`,
      { cause: error },
    );
  });
  const hasEnded = watchForPanic(pglite);
  await pglite.exec("set time zone 'UTC'");
  const upkeep = upkeepOf(pglite);
  return {
    pglite,
    hasEnded,
    async [Symbol.asyncDispose]() {
      await upkeep[Symbol.asyncDispose]();
      if (!hasEnded()) await pglite.close();
    },
  };
}

/**
 * At a PANIC, when its log cannot be written, PostgreSQL ends and recovers from the log. This engine stays, and runs in
 * circles at the next question, and this thread with it: so it is not asked any more.
 */
function watchForPanic(pglite: PGlite): () => boolean {
  const ask = pglite.execProtocolStream.bind(pglite);
  let panic: Error | undefined;
  pglite.execProtocolStream = async (...question) => {
    if (panic) throw panic;
    try {
      return await ask(...question);
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

/** Its disk can be full. */
function reject(error: Error & { code?: string }): never {
  throw isOfTheMoment(error.code) || isFileFault(error) ? new DatabaseUnavailable(error) : error;
}
