import { setTimeout as sleep } from "node:timers/promises";
import type { Queue } from "../../src/ledger/queue/queue.ts";
import { retry } from "../../src/waiting/retry.ts";
import type { Random } from "../../testing/random.ts";
import { Violation } from "../violation.ts";
import { encode, generateMessages, type Message } from "./messages.ts";
import { Oracle } from "./oracle.ts";

/** The number of messages from which the next ones are drawn at random. */
const poolSize = 400;
const repeatProbability = 0.15;
/** The probability that a message is not sent before `publishRest`. */
const lateProbability = 0.02;
/** The probability that events are sent in a request instead of the queue. */
const requestProbability = 0.2;
const sendMaxMs = 90_000;
/** Publishing waits while more messages than these are in the queue. */
const queueLengthMax = 1500;

export type Publisher = ReturnType<typeof openPublisher>;

/** Sends a list of events in a request. Resolves with true if the response confirms that all are stored. */
export type Post = (events: string) => Promise<boolean>;

/**
 * Publishes messages on a queue in random order, some repeatedly and some late. `onSent` gets the number of messages of each
 * send. Default of `post`: all messages are sent to the queue.
 */
export function openPublisher(queue: Queue, random: Random, onSent: (messages: number) => void, post?: Post) {
  const generator = generateMessages(random.fork());
  /** It has all sent events. */
  const oracle = new Oracle();
  /** In the order of sending, with repeats. */
  const sent: Message[] = [];
  /** The number of attempts to send each body, failed ones included. */
  const attempts = new Map<string, number>();
  const pool: Message[] = [];
  const late: Message[] = [];
  let payments = 0;

  async function send(messages: Message[]): Promise<void> {
    sent.push(...messages);
    for (const message of messages) if (message.kind === "event") oracle.add(message.event);
    const bodies = messages.map(({ body }) => body);
    const isPosted =
      post && messages.every(({ kind }) => kind === "event") && random.chance(requestProbability);
    // A request without a response may have stored its events. They are sent to the queue, too.
    if (isPosted && (await post(`[${bodies}]`))) return onSent(messages.length);
    const attempt = () => {
      for (const body of bodies) attempts.set(body, (attempts.get(body) ?? 0) + 1);
      return queue.send(bodies);
    };
    await retry(attempt, { forMs: sendMaxMs }).catch((error: Error) => {
      throw new Violation(`the queue accepted no message for ${sendMaxMs / 1000} s: ${error.message}`);
    });
    onSent(messages.length);
  }

  const queueLength = () => queue.countWaiting().catch(() => 0);

  return {
    sent,
    attempts,
    oracle,
    /** The number of payments whose messages have been generated. */
    payments: () => payments,
    /** Publishes until `end` aborts. */
    async publishUntil(end: AbortSignal, pauseMs = 0) {
      while (!end.aborted) {
        while (pool.length < poolSize) {
          const { value: messages = [] } = generator.next();
          payments += 1;
          for (const message of messages) (random.chance(lateProbability) ? late : pool).push(message);
        }
        const drawn = Array.from({ length: random.integer(1, 60) }, () =>
          pool.splice(random.integer(0, pool.length - 1), 1),
        ).flat();
        await send(drawn);
        pool.push(...drawn.filter(() => random.chance(repeatProbability)));
        await sleep(pauseMs);
        while (!end.aborted && (await queueLength()) > queueLengthMax) await sleep(100);
      }
    },
    /** Sends the messages that are left. */
    async publishRest() {
      const rest = [...pool, ...late];
      for (let from = 0; from < rest.length; from += 100) await send(rest.slice(from, from + 100));
    },
    /** Sends some events again, with different details. Resolves with the ids of their resources. */
    async publishConflicts() {
      const events = oracle.events.filter(() => random.chance(0.05));
      const bodies = events.map((event) =>
        encode(random, { ...event, live: true, event_details: { amount: 1, reference: "conflict" } }),
      );
      await queue.send(bodies);
      return new Set(events.map(({ resource_external_id }) => resource_external_id));
    },
    isQueueEmpty: async () => (await queue.countWaiting()) === 0,
  };
}
