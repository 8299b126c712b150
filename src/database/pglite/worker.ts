import { on } from "node:events";
import { setFlagsFromString } from "node:v8";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { PGlite, protocol, types } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { readTimestamp } from "../../values/timestamp.ts";
import { type Crash, type Message, type Result, settle } from "./message.ts";
import { querying } from "./query.ts";

// The thread of the embedded engine. It sends an outcome when the engine has started, and then one for each message, in
// order.

const parameters = {
  // The default, 128 MB, is written to once and so never leaves the memory of the process. Files are in the cache of the
  // operating system too.
  shared_buffers: "8MB",
  // For an index or a vacuum. The memory of the engine grows to what was ever needed, and never shrinks.
  maintenance_work_mem: "16MB",
};

/**
 * How much a function runs until V8 optimizes it, about in bytes of code. With its default, 13 million, V8 optimizes the code
 * of migrations and keeps 30 MiB that this needed.
 */
const tieringBudget = 100_000_000;

class Engine extends PGlite {
  /** The start of a PGlite calls this before it parses the first statement. */
  override async _initArrayTypes(options?: { force?: boolean }): Promise<void> {
    compileParser(this);
    await super._initArrayTypes(options);
  }
}

/**
 * Lets V8 compile the parser of SQL without the counters that make it optimize a function when it is hot. The parser is one
 * function of 100 kB, and to optimize it takes 600 MB of memory. The next function, which names the command of a statement,
 * takes 40 MB. V8 compiles a function at its first call, here for a statement that calls little else, and looks at the flag
 * only then.
 */
function compileParser(pglite: PGlite): void {
  setFlagsFromString("--wasm-tier-up-filter=0");
  try {
    pglite.execProtocolRawSync(protocol.serialize.parse({ text: "begin" }));
    pglite.execProtocolRawSync(protocol.serialize.sync());
  } finally {
    setFlagsFromString("--wasm-tier-up-filter=-1");
  }
}

/** The status of the exception with which the engine leaves a statement that failed. */
const statementFailed = 100;

/**
 * Calls `crash` when the code of the engine has thrown anything else: at a PANIC, when its log cannot be written, or when the
 * stack is too small. A PostgreSQL server would end, restart and recover from its log. PGlite ignores it and loops.
 */
function watchForCrash(pglite: PGlite, crash: (error: Error) => never): void {
  const runOnce = pglite.Module._PostgresMainLoopOnce;
  pglite.Module._PostgresMainLoopOnce = () => {
    try {
      runOnce();
    } catch (error) {
      if ((error as { status?: number }).status !== statementFailed) crash(error as Error);
      throw error;
    }
  };
}

async function start(folder: string | undefined, crash: (reason: string) => never): Promise<PGlite> {
  setFlagsFromString(`--wasm-tiering-budget=${tieringBudget}`);
  let panic: string | undefined;
  const pglite = new Engine({
    ...(folder !== undefined && { dataDir: folder }),
    extensions: { pg_trgm },
    startParams: [
      ...PGlite.defaultStartParams,
      ...Object.entries(parameters).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
    ],
    parsers: {
      [types.INT8]: BigInt,
      [types.JSON]: (text: string) => text,
      [types.JSONB]: (text: string) => text,
      [types.TIMESTAMPTZ]: readTimestamp,
      [types.BYTEA]: (text: string) => Buffer.from(text.slice("\\x".length), "hex"),
    },
    onStderr(line) {
      panic ??= /PANIC: +(.*)/.exec(line)?.[1];
      return false;
    },
  });
  await pglite.waitReady;
  watchForCrash(pglite, (error) => crash(panic ?? error.message));
  await pglite.exec("set time zone 'UTC'");
  return pglite;
}

async function run(pglite: PGlite, query: ReturnType<typeof querying>, message: Message): Promise<Result> {
  if (message === "close") {
    await pglite.close();
    return nothing;
  }
  if ("script" in message) {
    const results = await pglite.exec(message.script);
    return { ...nothing, command: results.at(-1)?.command };
  }
  const { fields, rows } = await query(message);
  return {
    columns: fields.map(({ name }) => name),
    rows,
    json: fields.flatMap(({ dataTypeID }, index) =>
      dataTypeID === types.JSONB || dataTypeID === types.JSON ? index : [],
    ),
    command: undefined,
  };
}

const nothing: Result = { columns: [], rows: [], json: [], command: undefined };

/** Serves the engine of a folder, or of a database in memory. */
async function serve(port: MessagePort, folder: string | undefined): Promise<void> {
  const messages = on(port, "message");
  const starting = start(folder, (crashed) => {
    port.postMessage({ crashed } satisfies Crash);
    process.exit();
  });
  port.postMessage(await settle(starting.then(() => nothing)));
  const pglite = await starting;
  const query = querying(pglite);
  for await (const [message] of messages) port.postMessage(await settle(run(pglite, query, message)));
}

if (parentPort) await serve(parentPort, workerData);
