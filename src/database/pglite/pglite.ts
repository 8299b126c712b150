import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Address } from "../../engines/adapter.ts";
import { lockFolder } from "../../process/folder-lock.ts";
import { requireFreeSpace } from "../../process/free-space.ts";
import { parseExactly } from "../../values/exact-json.ts";
import { presentOwner } from "../../waiting/turns.ts";
import {
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
import { serveTurns, type Turn } from "./socket.ts";
import type { Message, Result } from "./worker.ts";

const spaceMinMebibytes = 64;
/** The names of the database, of one that is being made, and of the socket for commands. */
const databaseNames = /^(pglite|pglite\.new-.*|commands\.sock)$/;
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
  const inTurn = takingTurns();
  let engine = await openEngine(folder);
  let starting: Promise<void> | undefined;
  let isClosed = false;
  opening.defer(() =>
    inTurn("transaction", async () => {
      isClosed = true;
      await engine[Symbol.asyncDispose]();
    }),
  );

  async function restart(): Promise<void> {
    // Two engines in one folder destroy it.
    await engine[Symbol.asyncDispose]();
    engine = await openEngine(folder);
    starting = undefined;
  }

  async function running(): Promise<Engine> {
    if (isClosed) throw new Error("the database is closed");
    if (engine.hasEnded()) {
      // Not at each statement, since an attempt takes long.
      starting ??= restart().catch((error) => {
        setTimeout(() => {
          starting = undefined;
        }, restartDelayMs).unref();
        throw new DatabaseUnavailable(error);
      });
      await starting;
    }
    return engine;
  }

  const sql = sqlOver((message) => inTurn("slow", async () => (await running()).send(message)));
  opening.use(startAutovacuum(sql));
  if (folder !== undefined) {
    const takeTurn = (work: (turn: Turn) => Promise<void>) =>
      inTurn("transaction", async () => work(await running()));
    opening.use(await serveTurns(folder, takeTurn));
  }
  const opened = opening.move();
  return {
    ...sql,
    // A running statement continues, since only the whole engine could be ended.
    within(limitMs) {
      const limited = sqlOver((message) => {
        const latest = performance.now() + limitMs;
        return inTurn(isQuick(message) ? "quick" : "slow", async () => {
          // Its caller has given up while it waited.
          if (performance.now() > latest) throw new StatementTimeout(limitMs);
          return (await running()).send(message);
        });
      });
      return withStatementTimeout(limitMs, limited);
    },
    // Its folder belongs to this process.
    exclusively: (_name, work) => work(),
    runOutside: sql.run,
    // No other process can hold a lock, so there are no limits.
    transaction: (work) => inTurn("transaction", async () => transact(await running(), work)),
    async check() {
      await sql.query("select 1");
    },
    requestConnections: statementsMax,
    connections: () => ({}),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function openEngine(folder: string | undefined): Promise<Engine> {
  if (folder === undefined) return startEngine({ folder });
  requireFreeSpace(folder, spaceMinMebibytes);
  const data = `${folder}/pglite`;
  if (!existsSync(data)) await createData(folder, data);
  return startEngine({ folder: data });
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

/** A `quick` statement takes a few milliseconds, a `slow` one may take much longer. */
type Kind = "quick" | "slow" | "transaction";

/** The work of one kind of an owner. */
interface Queue {
  waiting: (() => Promise<unknown>)[];
  /** The time that its work has used, in milliseconds, counted from when it was not empty. */
  usedMs: number;
}

/**
 * Returns a function that runs one work at a time. Work of one kind and owner runs in the order of the calls. The kinds and
 * owners share the time of the engine (start-time fair queueing), so that none waits for all work of another.
 */
function takingTurns(): <Result>(kind: Kind, work: () => Promise<Result>) => Promise<Result> {
  const queues = new Map<string, Queue>();
  let isRunning = false;
  /** What the queue had used whose work began last. It only grows. */
  let nowMs = 0;

  const next = (): Queue | undefined =>
    queues
      .values()
      .filter(({ waiting }) => waiting.length > 0)
      .reduce<Queue | undefined>(
        (one, other) => (one && one.usedMs <= other.usedMs ? one : other),
        undefined,
      );

  async function runAll(): Promise<void> {
    isRunning = true;
    for (let queue = next(); queue; queue = next()) {
      nowMs = Math.max(nowMs, queue.usedMs);
      const startedAt = performance.now();
      await queue.waiting.shift()?.();
      queue.usedMs += performance.now() - startedAt;
    }
    isRunning = false;
  }

  /** Time in which a queue was empty is not made up for, so one that is behind is not needed. */
  function queueOf(name: string): Queue {
    for (const [other, { waiting, usedMs }] of queues)
      if (waiting.length === 0 && usedMs < nowMs) queues.delete(other);
    const queue = queues.get(name) ?? { waiting: [], usedMs: nowMs };
    queues.set(name, queue);
    return queue;
  }

  return (kind, work) => {
    const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof work>>>();
    queueOf(`${kind} ${presentOwner()}`).waiting.push(async () => {
      const done = work();
      resolve(done as never);
      await done.catch(() => {});
    });
    if (!isRunning) void runAll();
    return promise;
  };
}

/** Runs a transaction. A statement that work sends after its end is rejected, since it would run outside. */
export async function transact<Outcome>(
  engine: Turn,
  work: (sql: Sql) => Promise<Outcome>,
): Promise<Outcome> {
  let hasEnded = false;
  const sql = sqlOver(async (message) => {
    if (hasEnded) throw new Error("the transaction has ended");
    return engine.send(message);
  });
  const end = (script: string) => {
    hasEnded = true;
    return engine.send({ script }).catch(reject);
  };
  await sql.run("begin");
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

const isQuick = (message: Message): boolean =>
  typeof message === "object" && "plan" in message && message.plan === "prepared";

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
