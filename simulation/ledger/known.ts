import type { IncomingHttpHeaders } from "node:http";
import { isDeepStrictEqual } from "node:util";
import type { Random } from "../../testing/random.ts";
import { Violation } from "../violation.ts";
import { eventKey, type LedgerEvent } from "./messages.ts";
import { Oracle } from "./oracle.ts";
import { allReads, type Get, type Read, randomReportRead } from "./reads.ts";
import { withoutRowsOf } from "./verification.ts";

/** Sends a GET request and resolves with the response, whatever its status. */
export type Send = (
  path: string,
  accept?: string,
) => Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>;
type Response = Awaited<ReturnType<Send>>;

/** Statuses of a request with `known_at` that are no violation by themselves; see `permittedErrorOf`. */
export const knownStatuses = [200, 400, 404, 503];

/** The parameter `known_at` is for all of these but one. */
const canBeKnown = (path: string) =>
  /^\/v1\/(transaction|report|payout)/.test(path) && !path.includes("gateway-transaction");

const withKnownAt = (path: string, position: string) =>
  `${path}${path.includes("?") ? "&" : "?"}known_at=${encodeURIComponent(position)}`;

const linesOfPage = 500;

/**
 * Of a CSV with several pages, those after the first are of its position only with `position_line`: to read them as of a
 * position takes longer. A page by cursor has the position of the first page.
 */
const isOfOnePosition = (path: string, accept: string | undefined, text: string) =>
  accept === "text/csv"
    ? path.includes("position_line=true") || text.split("\n", linesOfPage + 1).length <= linesOfPage
    : !path.includes("cursor=");

/** The body without what differs between two requests with other parameters: links, and random cursors in them. */
const comparable = (text: string) =>
  text.replaceAll(
    /"(next_cursor|self|first_page|last_page|prev_page|next_page)":\{"href":"[^"]*"\}/g,
    '"$1":{}',
  );

/**
 * The HTTP error that a response may have: too many transactions to fold again, or too long a wait for those in flight. The
 * client that sends the request permits a 504 only during a fault.
 */
function permittedErrorOf({ status, text }: Response): string | undefined {
  if (status === 503) return "unavailable";
  if (status === 504) return "too slow";
  return status === 400 && text.includes("have changed since its position") ? "too many changes" : undefined;
}

/** A response has an HTTP error that is permitted. */
class PermittedError extends Error {}

/** Sends requests with `known_at`, and those of links, which have it. Rejects with `PermittedError`. */
const knownAt =
  (send: Send, position: string): Get =>
  async (path, accept) => {
    const response = await send(path.includes("known_at=") ? path : withKnownAt(path, position), accept);
    const error = permittedErrorOf(response);
    if (error) throw new PermittedError(error);
    return response;
  };

/** A response of a request without `known_at`. */
interface Kept {
  path: string;
  accept: string | undefined;
  position: string;
  text: string;
}

export type KeptResponses = ReturnType<typeof keepResponses>;

/**
 * Keeps responses with their positions, of up to `max` requests, which are a random sample. The same requests as of these
 * positions must get the same responses, whenever they are sent.
 */
export function keepResponses(random: Random, max = Number.POSITIVE_INFINITY) {
  const kept: Kept[] = [];
  let count = 0;
  let withoutPosition = 0;
  /** The number of requests that were sent again, by what became of them. */
  const outcomes = new Map<string, number>();

  function keep(response: Kept): void {
    count += 1;
    if (kept.length < max) kept.push(response);
    else if (random.chance(max / count)) kept[random.integer(0, max - 1)] = response;
  }

  async function sendAgain(send: Send, { path, accept, position, text }: Kept): Promise<void> {
    const response = await send(withKnownAt(path, position), accept);
    const error = permittedErrorOf(response);
    const then = { position: response.headers["ledger-position"], text: comparable(response.text) };
    if (!error && (response.status !== 200 || then.position !== position || then.text !== text))
      throw new Violation(
        [
          `the response ${response.status} to ${path} with known_at=${position} is not the one that was given there`,
          ...(then.position === position ? [] : [`  its position is ${then.position}`]),
          ...differenceOf(then.text, text),
        ].join("\n"),
      );
    const outcome = error ?? "equal";
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }

  return {
    outcomes,
    /** The number of responses that could be kept but have no position. */
    withoutPosition: () => withoutPosition,
    /**
     * Sends requests, and keeps responses. `isCurrent` is false if the response to a request that was sent at a time may be of
     * an earlier state.
     */
    keeping:
      (send: Send, isCurrent = (_sentAt: number) => true): Send =>
      async (path, accept) => {
        const sentAt = performance.now();
        const response = await send(path, accept);
        if (response.status !== 200 || !canBeKnown(path) || !isCurrent(sentAt)) return response;
        if (!isOfOnePosition(path, accept, response.text)) return response;
        const position = response.headers["ledger-position"];
        if (typeof position === "string") keep({ path, accept, position, text: comparable(response.text) });
        else withoutPosition += 1;
        return response;
      },
    /** Sends one of the requests again, as of its position. Throws a violation if the response differs. */
    async sendOne(send: Send): Promise<void> {
      if (kept.length > 0) await sendAgain(send, random.pick(kept));
    },
    /**
     * Sends all requests again, with each of `sends` in turn. Resolves with their number. Throws a violation if one response
     * differs, or if most get an HTTP error: then nothing was verified.
     */
    async sendAll(sends: Send[]): Promise<number> {
      const before = outcomes.get("equal") ?? 0;
      const remaining = kept.entries();
      await Promise.all(
        sends.map(async (send) => {
          for (const [, one] of remaining) await sendAgain(send, one);
        }),
      );
      const equal = (outcomes.get("equal") ?? 0) - before;
      if (equal < kept.length / 2)
        throw new Violation(`only ${equal} of ${kept.length} responses were given again`);
      // One has none if too many SQL transactions have committed while an older one was in flight.
      if (withoutPosition > count)
        throw new Violation(`${withoutPosition} of ${withoutPosition + count} responses have no position`);
      return kept.length;
    },
  };
}

/** The parts of two texts around their first difference. */
function differenceOf(actual: string, expected: string): string[] {
  let index = 0;
  while (index < actual.length && actual[index] === expected[index]) index += 1;
  if (index === actual.length && index === expected.length) return [];
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, index - 200), index + 200));
  return [`  actual:   ${around(actual)}`, `  expected: ${around(expected)}`];
}

/** An event of the feed. */
export type FeedEvent = Pick<
  LedgerEvent,
  "resource_type" | "resource_external_id" | "timestamp" | "event_type"
> & {
  cursor: string;
};

/**
 * Verifies that reads as of the cursors of some events are those of an oracle with the events up to these, of `stored`.
 * Resolves with the number of reads without an HTTP error. `probability` is that of a read.
 */
export async function verifyKnown(
  sends: Send[],
  feed: FeedEvent[],
  stored: LedgerEvent[],
  random: Random,
  { cursors = 10, probability = 0.1 } = {},
): Promise<number> {
  const byKey = new Map(stored.map((event) => [eventKey(event), event]));
  const events = feed.flatMap((event) => byKey.get(eventKey(event)) ?? []);
  let compared = 0;
  let failed = 0;
  for (let turn = 0; turn < cursors; turn += 1) {
    const count = random.integer(1, feed.length);
    const { cursor } = feed[count - 1] as FeedEvent;
    const oracle = new Oracle(events.slice(0, count));
    const reads = random.sample(readsOf(oracle, random), probability).values();
    await Promise.all(
      sends.map(async (send) => {
        for (const read of reads) {
          const actual = await read.send(knownAt(send, cursor)).catch((error: Error) => {
            if (!(error instanceof PermittedError)) throw error;
            return undefined;
          });
          if (actual === undefined) failed += 1;
          else compare(read, actual, oracle, `the cursor of event ${count} of ${feed.length}`);
        }
      }),
    );
  }
  if (compared < failed) throw new Violation(`${failed} of ${failed + compared} reads got an HTTP error`);
  return compared;

  function compare(read: Read, actual: object, oracle: Oracle, position: string) {
    const expected = JSON.parse(JSON.stringify(read.expected(oracle)));
    compared += 1;
    if (isDeepStrictEqual(actual, expected)) return;
    throw new Violation(
      [
        `the response to ${read.name} with known_at at ${position} is not that of the oracle with the events up to it`,
        `  actual:   ${JSON.stringify(withoutRowsOf(actual, expected)).slice(0, 2000)}`,
        `  expected: ${JSON.stringify(withoutRowsOf(expected, actual)).slice(0, 2000)}`,
      ].join("\n"),
    );
  }
}

const idsMax = 60;

/** Reads that can have `known_at`, of some transactions, every account and random ones. */
function readsOf(oracle: Oracle, random: Random): Read[] {
  const all = oracle.resourceIds();
  const payments = all.filter((id) => id.startsWith("pay-")).length;
  const reads = [
    ...allReads({ oracle, payments: () => payments }, random, random.shuffle(all).slice(0, idsMax)),
    ...Array.from({ length: 100 }, () => randomReportRead(random)),
  ];
  return reads.filter(({ name }) => canBeKnown(name));
}
