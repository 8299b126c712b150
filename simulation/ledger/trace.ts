import { isDeepStrictEqual } from "node:util";
import { ledgerApp } from "../../src/ledger/app.ts";
import { type Database, openDatabase } from "../../src/ledger/database/database.ts";
import { ingest } from "../../src/ledger/intake/ingest.ts";
import { readMessage } from "../../src/ledger/intake/message.ts";
import { openQueue } from "../../src/ledger/queue/queue.ts";
import { migrate } from "../../src/ledger/tables/migrate.ts";
import { openLog } from "../../src/process/log.ts";
import type { EventMessage } from "./lives.ts";
import { Oracle } from "./oracle.ts";
import type { Get, Question } from "./questions.ts";

export interface Difference {
  question: Question;
  answered: unknown;
  right: unknown;
}

/** Asks, and tells where the answer is not the oracle's. */
export async function differenceOf(
  question: Question,
  get: Get,
  oracle: Oracle,
): Promise<Difference | undefined> {
  const answered = await question.ask(get);
  const right = plain(question.answer(oracle));
  return isDeepStrictEqual(answered, right) ? undefined : { question, answered, right };
}

/** As JSON has it: without members that are undefined. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

/**
 * The fewest messages, in the order in which they were published, after which a ledger that nothing disturbs answers
 * the question wrongly, too; undefined when it answers it rightly after all of them, or the time is over before.
 */
export async function smallestTrace(
  question: Question,
  published: EventMessage[],
  maxMs: number,
): Promise<EventMessage[] | undefined> {
  const late = performance.now() + maxMs;
  await using ledger = await openUndisturbed();
  const isWrong = (messages: EventMessage[]) => ledger.answersWrongly(question, messages);
  if (!(await isWrong(published))) return undefined;
  let trace = published;
  // Parts are left out, ever smaller ones, as long as the answer stays wrong.
  for (let size = Math.ceil(trace.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < trace.length && performance.now() < late; ) {
      const without = trace.toSpliced(from, size);
      if (await isWrong(without)) trace = without;
      else from += size;
    }
  }
  return trace;
}

async function openUndisturbed() {
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
    async answersWrongly(question: Question, messages: EventMessage[]): Promise<boolean> {
      await database.run("truncate event, transaction, payout, metadata_key restart identity");
      for (const { body } of messages) await take(database, body);
      const oracle = new Oracle(messages.map(({ event }) => event));
      return (await differenceOf(question, get, oracle)) !== undefined;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** By itself, since what comes together may be folded right where one after another is not. */
async function take(database: Database, body: string): Promise<void> {
  const message = readMessage(body);
  const events = message.kind === "event" ? [message.event] : [];
  await ingest(database, { events, rebuilds: [], deadLetters: [] });
}
