import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Address } from "../../engines/adapter.ts";
import { lockFolder } from "../../process/folder-lock.ts";
import { requireFreeSpace } from "../../process/free-space.ts";
import { parseExactly } from "../../values/exact-json.ts";
import {
  beginSnapshot,
  type Database,
  DatabaseUnavailable,
  isFileError,
  isTransient,
  type Plan,
  type Sql,
  StatementTimeout,
  withStatementTimeout,
} from "../database.ts";
import { startAutovacuum } from "./autovacuum.ts";
import { type Engine, startEngine } from "./engine.ts";
import { openFairQueue } from "./fair-queue.ts";
import type { Message, Result } from "./message.ts";
import type { Statement } from "./query.ts";
import { serveTurns, type Turn } from "./socket.ts";

const spaceMinMebibytes = 64;
/** The names of the database, of one that is being made, of the socket for commands, and of a key of the ledger. */
const databaseNames = /^(pglite|pglite\.new-.*|commands\.sock|transparency-log\.key)$/;
/** Statements of `within` that can wait for the engine, which runs one at a time. It shares its time between their owners. */
const statementsMax = 9;
/** Delay between two attempts to start an engine. */
const restartDelayMs = 2000;

/**
 * PostgreSQL in a thread of this process, in a folder or in memory. It has one connection: transactions wait for one
 * another. An engine that has crashed, for example on a full disk, is replaced as soon as there is space.
 */
export async function open({ url, warn }: Address): Promise<Database> {
  await using opening = new AsyncDisposableStack();
  const path = decodeURIComponent(url.pathname);
  const folder = path === "memory" ? undefined : path;
  if (folder !== undefined) opening.use(lockFolder(folder, databaseNames, warn));
  const inTurn = openFairQueue();
  const kept: KeptEngine = { folder, engine: await openEngine(folder) };
  opening.defer(() => inTurn("transaction", () => close(kept)));
  const sql = sqlOver((message) => inTurn("slow", async () => (await runningEngine(kept)).send(message)));
  opening.use(startAutovacuum(sql));
  const takeTurn = <Outcome>(work: (turn: Turn) => Promise<Outcome>) =>
    inTurn("transaction", async () => work(await runningEngine(kept)));
  if (folder !== undefined) opening.use(await serveTurns(folder, takeTurn));
  const opened = opening.move();
  return {
    ...alone(sql),
    // A running statement continues, since only the whole engine could be ended.
    within(limitMs) {
      const limited = sqlOver((message) => {
        const latest = performance.now() + limitMs;
        return inTurn(isQuick(message) ? "quick" : "slow", async () => {
          // Its caller has given up while it waited.
          if (performance.now() > latest) throw new StatementTimeout(limitMs);
          return (await runningEngine(kept)).send(message);
        });
      });
      const snapshot = <Result>(work: (sql: Sql) => Promise<Result>) =>
        inTurn("slow", async () => transact(await runningEngine(kept), work, beginSnapshot));
      return withStatementTimeout(limitMs, { ...limited, snapshot });
    },
    // No other process can hold a lock, so there are no limits.
    transaction: (work) => takeTurn((turn) => transact(turn, work)),
    requestConnections: statementsMax,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** The part of a database that is the same for the process that has the folder and for a command that joins it. */
export const alone = (
  sql: Sql,
): Sql & Pick<Database, "exclusively" | "runOutside" | "check" | "connections"> => ({
  ...sql,
  // The folder belongs to one process.
  exclusively: (_name, work) => work(),
  runOutside: sql.run,
  async check() {
    await sql.query("select 1");
  },
  connections: () => ({}),
});

/** An engine that is replaced when it has crashed. It is used in one turn at a time. */
interface KeptEngine {
  readonly folder: string | undefined;
  /** Undefined after the end. */
  engine: Engine | undefined;
  /** The last attempt to replace it, if that has failed. */
  failed?: { error: DatabaseUnavailable; at: number };
}

async function runningEngine(kept: KeptEngine): Promise<Engine> {
  const { folder, engine, failed } = kept;
  if (!engine) throw new Error("the database is closed");
  if (!engine.hasEnded()) return engine;
  // Not at each statement, since an attempt takes long.
  if (failed && performance.now() - failed.at < restartDelayMs) throw failed.error;
  try {
    // Two engines in one folder destroy it.
    await engine[Symbol.asyncDispose]();
    kept.engine = await openEngine(folder);
    return kept.engine;
  } catch (error) {
    kept.failed = { error: new DatabaseUnavailable(error), at: performance.now() };
    throw kept.failed.error;
  }
}

async function close(kept: KeptEngine): Promise<void> {
  const { engine } = kept;
  kept.engine = undefined;
  await engine?.[Symbol.asyncDispose]();
}

async function openEngine(folder: string | undefined): Promise<Engine> {
  if (folder === undefined) return startEngine(folder);
  requireFreeSpace(folder, spaceMinMebibytes);
  const data = `${folder}/pglite`;
  if (!existsSync(data)) await createData(folder, data);
  return startEngine(data);
}

/**
 * Creates an empty database from the archive, since the engine takes seconds to make one. It gets its name when it is
 * complete, so that an interrupted start leaves nothing incomplete.
 */
async function createData(folder: string, data: string): Promise<void> {
  const prefix = "pglite.new-";
  const unfinished = (await readdir(folder)).filter((name) => name.startsWith(prefix));
  for (const name of unfinished) await rm(join(folder, name), { recursive: true });
  const made = await mkdtemp(join(folder, prefix));
  const program = new URL("create.js", import.meta.url);
  await once(new Worker(program, { workerData: made, execArgv: [] }), "exit");
  await rename(made, data);
}

/** Runs a transaction. A statement that work sends after its end is rejected, since it would run outside. */
export async function transact<Outcome>(engine: Turn, work: (sql: Sql) => Promise<Outcome>, begin = "begin") {
  let hasEnded = false;
  const sql = sqlOver(async (message) => {
    if (hasEnded) throw new Error("the transaction has ended");
    return engine.send(message);
  });
  const end = (script: string) => {
    hasEnded = true;
    return engine.send({ script }).catch(reject);
  };
  await sql.run(begin);
  try {
    const outcome = await work(sql);
    const { command } = await end("commit");
    if (command === "ROLLBACK")
      throw new Error("a statement of the transaction failed, so it was rolled back");
    return outcome;
  } catch (error) {
    // An engine that has crashed needs none.
    if (!hasEnded) await end("rollback").catch(() => {});
    throw error;
  }
}

const isQuick = (message: Message) => (message as Partial<Statement>).plan === "prepared";

/** Statements whose messages are sent by this function. */
export const sqlOver = (send: (message: Message) => Promise<Result>): Sql => ({
  async query<Row>(text: string, values: unknown[] = [], plan: Plan = "prepared") {
    return rowsOf(await send({ text, values, plan }).catch(reject)) as Row[];
  },
  async run(script) {
    await send({ script }).catch(reject);
  },
});

function rowsOf({ columns, rows, json }: Result): object[] {
  return rows.map((values) => {
    for (const index of json) {
      if (values[index] !== null) values[index] = parseExactly(values[index] as string);
    }
    return Object.fromEntries(columns.map((name, index) => [name, values[index]]));
  });
}

/** Maps transient errors, such as those of a full disk. */
function reject(error: Error & { code?: string }): never {
  throw isTransient(error.code) || isFileError(error) ? new DatabaseUnavailable(error) : error;
}
