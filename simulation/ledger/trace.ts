import { isDeepStrictEqual } from "node:util";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { ledgerApp } from "../../src/ledger/app.ts";
import { ingest } from "../../src/ledger/intake/ingest.ts";
import { readMessage } from "../../src/ledger/intake/message.ts";
import { openQueue } from "../../src/ledger/queue/queue.ts";
import { migrate } from "../../src/ledger/tables/migrate.ts";
import { openLog } from "../../src/process/log.ts";
import type { EventMessage } from "./messages.ts";
import { Oracle } from "./oracle.ts";
import type { Get, Read } from "./reads.ts";

/** A read whose result differs from the oracle's. */
export interface Difference {
  read: Read;
  actual: unknown;
  expected: unknown;
}

/** Sends a read and compares its result with the oracle's. */
export async function differenceOf(read: Read, get: Get, oracle: Oracle): Promise<Difference | undefined> {
  const actual = await read.send(get);
  const expected = withoutUndefined(read.expected(oracle));
  return isDeepStrictEqual(actual, expected) ? undefined : { read, actual, expected };
}

const withoutUndefined = (value: unknown) => JSON.parse(JSON.stringify(value));

/**
 * Finds few messages, in the order of publication, after which a ledger without faults gives a wrong result, too.
 * Resolves with undefined if the result is right after all of them. Stops reducing the messages after `maxMs`.
 */
export async function smallestTrace(
  read: Read,
  published: EventMessage[],
  maxMs: number,
): Promise<EventMessage[] | undefined> {
  const deadline = performance.now() + maxMs;
  await using ledger = await openLedgerWithoutFaults();
  const isWrong = (messages: EventMessage[]) => ledger.isWrong(read, messages);
  if (!(await isWrong(published))) return undefined;
  let trace = published;
  // Leaves out ever smaller chunks while the result stays wrong.
  for (let size = Math.ceil(trace.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < trace.length && performance.now() < deadline; ) {
      const shorter = trace.toSpliced(from, size);
      if (await isWrong(shorter)) trace = shorter;
      else from += size;
    }
  }
  return trace;
}

/** Empties the tables of every migration, except those whose rows the migrations make. */
const emptyTables = `
  do $$ begin
    execute (
      select 'truncate ' || string_agg(quote_ident(tablename), ', ') || ' restart identity' from pg_tables
      where schemaname = current_schema and tablename not in ('migration', 'event_feed_epoch')
    );
  end $$`;

async function openLedgerWithoutFaults() {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await openDatabase("pglite:memory"));
  await migrate(database);
  const queue = opening.use(await openQueue("memory:"));
  const app = opening.use(
    await ledgerApp({ database, queue, statementTimeoutMs: 60_000, log: openLog("silent") }),
  );
  const get: Get = async (path, accept = "application/json") => {
    const { statusCode, body } = await app.inject({ url: path, headers: { accept } });
    return { status: statusCode, text: body };
  };
  const opened = opening.move();
  return {
    /** Tells whether the result of the read is wrong after these messages alone. */
    async isWrong(read: Read, messages: EventMessage[]): Promise<boolean> {
      await database.run(emptyTables);
      for (const { body } of messages) await ingestAlone(database, body);
      const oracle = new Oracle(messages.map(({ event }) => event));
      return (await differenceOf(read, get, oracle)) !== undefined;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Each message is a batch of its own: a fold of one batch can be right where incremental folds are wrong. */
async function ingestAlone(database: Database, body: string): Promise<void> {
  const message = readMessage(body);
  const events = message.kind === "event" ? [message.event] : [];
  await ingest(database, { events, rebuilds: [], deadLetters: [] });
}
