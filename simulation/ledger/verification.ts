import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { openDatabase } from "../../src/database/databases.ts";
import { verifySummaries } from "../../src/ledger/intake/verify.ts";
import { openProgress, type Progress } from "../../src/process/progress.ts";
import { testWaitMaxMs } from "../../testing/test-wait-max.ts";
import { Violation } from "../violation.ts";
import type { Deployment } from "./deployment.ts";
import { eventKey, type LedgerEvent } from "./messages.ts";
import type { Oracle } from "./oracle.ts";
import type { Publisher } from "./publisher.ts";
import type { Get, Read } from "./reads.ts";

const readsAtATime = 8;
/** A difference is final after this time with an empty queue and no message in flight: no retry delay is longer. */
const idleMs = 10_000;

/** A read whose result differs from the oracle's. */
interface Difference {
  read: Read;
  actual: unknown;
  expected: unknown;
}

/**
 * Sends every read until all results are those of the oracle. Resolves with their number. Rejects with a `Violation` if
 * a difference remains.
 */
export async function verify(
  gets: Get[],
  publisher: Publisher,
  reads: Iterable<Read>,
  stop: AbortSignal,
): Promise<number> {
  let progressedAt = performance.now();
  let remaining = [...reads];
  const count = remaining.length;
  let idleSince = Number.POSITIVE_INFINITY;
  using progress = openProgress("responses compared", count);
  for (;;) {
    const startedAt = performance.now();
    const differences = await differencesOf(remaining, gets, publisher.oracle, progress, stop);
    stop.throwIfAborted();
    if (differences.length === 0) return count;
    if (differences.length < remaining.length) progressedAt = performance.now();
    if (startedAt - idleSince > idleMs || startedAt - progressedAt > testWaitMaxMs) {
      throw new Violation(describe(differences, publisher));
    }
    const isIdle = await hasNoMessages(gets, publisher).catch(() => false);
    idleSince = isIdle ? Math.min(idleSince, performance.now()) : Number.POSITIVE_INFINITY;
    remaining = differences.map(({ read }) => read);
    await sleep(500);
  }
}

/** Resolves when no message is on its way for some time: a broker counts one that has just been sent a moment later. */
export async function whenIdle(gets: Get[], publisher: Publisher): Promise<void> {
  for (let checks = 0; checks < 5; await sleep(100)) {
    checks = (await hasNoMessages(gets, publisher)) ? checks + 1 : 0;
  }
}

/** Tells whether the queue is empty and no ledger has a message in flight. */
async function hasNoMessages(gets: Get[], publisher: Publisher): Promise<boolean> {
  const checks = await Promise.all(gets.map(async (get) => JSON.parse((await get("/healthcheck")).text)));
  const hasInFlight = checks.some(({ receiver }) => receiver?.oldest_message_age_ms > 0);
  return !hasInFlight && (await publisher.isQueueEmpty());
}

async function differencesOf(
  reads: Read[],
  gets: Get[],
  oracle: Oracle,
  progress: Progress,
  stop: AbortSignal,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const remaining = reads.values();
  await Promise.all(
    Array.from({ length: readsAtATime }, async (_, index) => {
      const get = gets[index % gets.length] as Get;
      for (const read of remaining) {
        if (stop.aborted) return;
        const actual = await read.send(get).catch((error: Error) => error.message);
        const expected = withoutUndefined(read.expected(oracle));
        if (isDeepStrictEqual(actual, expected)) progress.advance(1);
        else differences.push({ read, actual, expected });
      }
    }),
  );
  return differences;
}

const withoutUndefined = (value: unknown) => JSON.parse(JSON.stringify(value));

function describe(differences: Difference[], { oracle, sent }: Publisher): string {
  const [first] = differences.toSorted((a, b) => b.read.ids.length - a.read.ids.length);
  const { read, actual, expected } = first as Difference;
  const [own, oracles] = [withoutRowsOf(actual, expected), withoutRowsOf(expected, actual)].map((rows) =>
    JSON.stringify(rows).slice(0, 2000),
  );
  const ids =
    read.ids.length > 0 ? read.ids : (`${own}${oracles}`.match(/(pay|ref|dis|agr)-\d+[^"]*/g) ?? []);
  const keys = new Set(oracle.eventsAbout(ids).map(eventKey));
  const related = sent.filter((message) => message.kind === "event" && keys.has(eventKey(message.event)));
  return [
    `${differences.length} responses differ from the oracle's; one of them: ${read.name}`,
    `  actual:   ${own}`,
    `  expected: ${oracles}`,
    ...differences.slice(0, 20).map((other) => `  another: ${other.read.name}`),
    `  The ${related.length} messages about these transactions, in the order of sending:`,
    ...related.slice(0, 50).map(({ body }) => `  ${JSON.stringify(JSON.parse(body))}`),
  ].join("\n");
}

/** The rows of a result that is a list or a page of one. */
function rowsIn(result: unknown): unknown[] | undefined {
  const { body } = result as { body?: unknown };
  if (Array.isArray(body)) return body;
  const { results, groups } = (body ?? {}) as { results?: unknown[]; groups?: unknown[] };
  return results ?? groups;
}

/** The rows of a result that another one does not have; the whole result if this shows no difference. */
export function withoutRowsOf(result: unknown, other: unknown): unknown {
  const [rows, others] = [rowsIn(result), new Set(rowsIn(other)?.map((row) => JSON.stringify(row)))];
  const own = rows?.filter((row) => !others.has(JSON.stringify(row))) ?? [];
  return own.length > 0 ? own : result;
}

/**
 * Verifies that each published event is stored once and in its first version, that each invalid message has become a
 * dead letter, and that nothing else is stored.
 */
export async function verifyStored(
  { databaseUrl }: Deployment,
  { oracle, sent, attempts }: Publisher,
): Promise<void> {
  await using database = await openDatabase(databaseUrl);
  const rows = await database.query<LedgerEvent>(
    `select resource_type, resource_external_id, parent_resource_external_id, timestamp, event_type, service_id, live,
            event_details, other_members
     from event`,
  );
  const textOf = ({
    parent_resource_external_id: parent,
    service_id,
    live,
    event_details,
    other_members = null,
    ...event
  }: LedgerEvent) =>
    JSON.stringify([eventKey(event), parent, service_id, live, event_details, other_members], inOrder);
  const stored = new Map<string, number>();
  for (const row of rows) stored.set(textOf(row), (stored.get(textOf(row)) ?? 0) + 1);
  for (const event of oracle.events) {
    const count = stored.get(textOf(event)) ?? 0;
    if (count !== 1) throw new Violation(`an event is stored ${count} times: ${textOf(event)}`);
    stored.delete(textOf(event));
  }
  const [unpublished] = stored.keys();
  if (unpublished) throw new Violation(`an event is stored and was not published: ${unpublished}`);

  const deadLetters = await database.query<{ body: Uint8Array; reason: string }>(
    "select body, reason from dead_letter",
  );
  const byBody = Map.groupBy(deadLetters, ({ body }) => Buffer.from(body).toString());
  const invalid = sent.filter((message) => message.kind === "invalid");
  for (const { body, reason: expected } of invalid) {
    const reasons = byBody.get(body)?.map(({ reason }) => reason) ?? [];
    // A failed attempt can have sent the message, and each copy becomes a dead letter.
    if (reasons.length < 1 || reasons.length > (attempts.get(body) ?? 0)) {
      throw new Violation(`a message has ${reasons.length} dead letters: ${body}`);
    }
    const unexpected = reasons.find((reason) => !expected.test(reason));
    if (unexpected)
      throw new Violation(`a dead letter has the reason "${unexpected}", not ${expected}: ${body}`);
  }
  const valid = [...byBody.keys()].find((letter) => !invalid.some(({ body }) => body === letter));
  if (valid) throw new Violation(`a valid message is a dead letter: ${valid}`);
}

/** Gives the members of each object in the order of their names, for `JSON.stringify`. */
const inOrder = (_name: string, value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    : value;

/** Verifies that the kept summaries are those of the stored transactions. */
export async function verifyStoredSummaries({ databaseUrl }: Deployment): Promise<void> {
  await using database = await openDatabase(databaseUrl);
  const [first, ...others] = await verifySummaries(database);
  if (first) {
    throw new Violation(`${others.length + 1} summaries differ from the transactions; the first: ${first}`);
  }
}

/** Verifies that the logs of the ledgers have neither secrets nor unexpected errors. */
export async function verifyLogs({ ledgers }: Deployment, secrets: string[]): Promise<void> {
  for (const { folder } of ledgers) {
    const log = await readFile(join(folder, "log"), "utf8");
    const lines = log.split("\n");
    const leak = lines.find((line) => secrets.some((secret) => line.includes(secret)));
    if (leak) throw new Violation(`a log has a secret: ${leak}`);
    const unexpected = lines.find((line) => line.includes("unexpected error"));
    if (unexpected) throw new Violation(`a log has an unexpected error: ${unexpected}`);
  }
}
