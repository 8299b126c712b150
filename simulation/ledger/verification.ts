import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../../src/ledger/database/database.ts";
import { openProgress, type Progress } from "../../src/process/progress.ts";
import type { Random } from "../random.ts";
import { Astray } from "../replies.ts";
import { accounts, type EventMessage, keyOf, type ToldEvent } from "./lives.ts";
import type { Oracle } from "./oracle.ts";
import type { Publication } from "./publication.ts";
import {
  children,
  eventList,
  type Get,
  lookup,
  type Question,
  randomQuestion,
  table,
  walk,
} from "./questions.ts";
import { type Difference, differenceOf, smallestTrace } from "./trace.ts";
import type { World } from "./world.ts";

/** All that is to be known of each transaction, and many random questions more. */
export function* everyQuestion({ oracle, lives }: Publication, random: Random): Generator<Question> {
  const ids = new Set(oracle.events.map(({ resource_external_id }) => resource_external_id));
  for (const id of ids) {
    yield lookup(id, { override_account_id_restriction: "true" });
    const account = oracle.accountOf(id) ?? random.one(accounts);
    yield eventList(id, account, { include_all_events: "true" });
    if (random.chance(0.3)) yield children(id, account);
  }
  for (const account of [...accounts, accounts.join()]) {
    const query = { account_id: account };
    yield table(query);
    yield walk(query, 500, "next_page");
    yield walk(query, 70, "next_cursor");
  }
  for (let count = 0; count < randomQuestions; count += 1) yield randomQuestion(random, lives());
}
const randomQuestions = 400;
const atATime = 8;
/** How long what was published may take to be seen, once all that fails works again. */
const settledWithinMs = 60_000;
/** What still differs when nothing has been under way for so long stays so: no message pauses longer. */
const idleMs = 10_000;

/** Asks every question, again and again until all are answered rightly; how many there were. */
export async function verify(
  gets: Get[],
  published: Publication,
  questions: Iterable<Question>,
  stop: AbortSignal,
): Promise<number> {
  const late = AbortSignal.timeout(settledWithinMs);
  let left = [...questions];
  const count = left.length;
  let idleSince = Number.POSITIVE_INFINITY;
  using progress = openProgress("answers compared", count);
  for (;;) {
    const begun = performance.now();
    const differences = await differencesOf(left, gets, published.oracle, progress, stop);
    stop.throwIfAborted();
    if (differences.length === 0) return count;
    if (late.aborted || begun - idleSince > idleMs) throw new Astray(await describe(differences, published));
    const isIdle = await nothingIsUnderWay(gets, published).catch(() => false);
    idleSince = isIdle ? Math.min(idleSince, performance.now()) : Number.POSITIVE_INFINITY;
    left = differences.map(({ question }) => question);
    await sleep(500);
  }
}

/** Whether no message waits in the queue, and no ledger has one in hand. */
async function nothingIsUnderWay(gets: Get[], published: Publication): Promise<boolean> {
  const checks = await Promise.all(gets.map(async (get) => JSON.parse((await get("/healthcheck")).text)));
  const inHand = checks.some(({ receiver }) => receiver?.oldest_message_age_ms > 0);
  return !inHand && (await published.isTaken());
}

async function differencesOf(
  questions: Question[],
  gets: Get[],
  oracle: Oracle,
  progress: Progress,
  stop: AbortSignal,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const left = questions.values();
  await Promise.all(
    Array.from({ length: atATime }, async (_, index) => {
      const get = gets[index % gets.length] as Get;
      for (const question of left) {
        if (stop.aborted) return;
        const difference = await differenceOf(question, get, oracle).catch((error: Error) => ({
          question,
          answered: error.message,
          right: question.answer(oracle),
        }));
        if (difference) differences.push(difference);
        else progress.advance(1);
      }
    }),
  );
  return differences;
}

const traceMaxMs = 60_000;

async function describe(differences: Difference[], published: Publication): Promise<string> {
  const [first] = differences.toSorted((a, b) => b.question.ids.length - a.question.ids.length);
  const { question, answered, right } = first as Difference;
  const ids = question.ids.length > 0 ? question.ids : idsThatDiffer(answered, right);
  const keys = new Set(published.oracle.about(ids).map(keyOf));
  const concerned = published.sent.filter(
    (message): message is EventMessage => message.kind === "event" && keys.has(keyOf(message.event)),
  );
  const trace = await smallestTrace(question, concerned, traceMaxMs);
  const messages = trace ?? concerned;
  return [
    `${differences.length} answers differ; one of them is that to ${question.said}`,
    `  answered ${JSON.stringify(answered).slice(0, 2000)}`,
    `  right is ${JSON.stringify(right).slice(0, 2000)}`,
    trace
      ? `  A ledger that nothing disturbs answers so after these ${messages.length} messages:`
      : `  A ledger that nothing disturbs answers it rightly. These ${messages.length} messages concern it:`,
    ...messages.slice(0, 50).map(({ body }) => `  ${JSON.stringify(JSON.parse(body))}`),
  ].join("\n");
}

/** The transactions by which two answers differ. */
function idsThatDiffer(answered: unknown, right: unknown): string[] {
  const rows = (answer: unknown): string[] => {
    const { body } = answer as { body?: unknown };
    const list = Array.isArray(body) ? body : ((body as { results?: unknown[] })?.results ?? []);
    return list.map((row) => JSON.stringify(row));
  };
  const differing = new Set(rows(answered)).symmetricDifference(new Set(rows(right)));
  return [...differing].slice(0, 20).flatMap((row) => row.match(/(pay|ref|dis)-\d+[^"]*/g) ?? []);
}

/** Each event that was published is stored, once and as it was first told; each broken message is parked; nothing else. */
export async function verifyStored(
  { databaseUrl }: World,
  { oracle, sent, attempts }: Publication,
): Promise<void> {
  await using database = await openDatabase(databaseUrl);
  const rows = await database.query<ToldEvent>(
    `select resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type, service_id, live,
            event_details
     from event`,
  );
  const text = (event: ToldEvent) =>
    JSON.stringify([
      keyOf(event),
      event.parent_resource_external_id,
      event.service_id,
      event.live,
      sorted(event.event_details),
    ]);
  const stored = new Map<string, number>();
  for (const row of rows) stored.set(text(row), (stored.get(text(row)) ?? 0) + 1);
  for (const event of oracle.events) {
    const times = stored.get(text(event)) ?? 0;
    if (times !== 1) throw new Astray(`stored ${times} times: ${text(event)}`);
    stored.delete(text(event));
  }
  const [stray] = stored.keys();
  if (stray) throw new Astray(`stored and never published: ${stray}`);

  const parked = await database.query<{ body: Uint8Array; reason: string }>(
    "select body, reason from dead_letter",
  );
  const byBody = Map.groupBy(parked, ({ body }) => Buffer.from(body).toString());
  for (const message of sent) {
    if (message.kind !== "broken") continue;
    const found = byBody.get(message.body) ?? [];
    // A message that is sent again, since nobody knows whether it was taken, is another message.
    if (found.length < 1 || found.length > (attempts.get(message.body) ?? 0)) {
      throw new Astray(`parked ${found.length} times: ${message.body}`);
    }
    const odd = found.find(({ reason }) => !message.reason.test(reason));
    if (odd) throw new Astray(`parked for ${odd.reason}, not for ${message.reason}: ${message.body}`);
  }
  const broken = new Set(sent.flatMap((message) => (message.kind === "broken" ? [message.body] : [])));
  const sound = [...byBody.keys()].find((body) => !broken.has(body));
  if (sound) throw new Astray(`parked and not broken: ${sound}`);
}

/** With the members of objects in one order. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
      ? Object.entries(value)
          .map(([name, member]) => [name, sorted(member)])
          .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
      : value;

/** Nothing of a card's holder or of a token is in what the ledgers wrote down, and nothing went unexpectedly. */
export async function verifyLogs({ ledgers }: World, secrets: string[]): Promise<void> {
  for (const { folder } of ledgers) {
    const log = await readFile(join(folder, "log"), "utf8");
    const lines = log.split("\n");
    const told = lines.find((line) => secrets.some((secret) => line.includes(secret)));
    if (told) throw new Astray(`a log tells what it must not: ${told}`);
    const unexpected = lines.find((line) => line.includes("unexpected error"));
    if (unexpected) throw new Astray(`a unexpected error: ${unexpected}`);
  }
}
