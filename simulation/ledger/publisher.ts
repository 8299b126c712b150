import { setTimeout as sleep } from "node:timers/promises";
import type { Queue } from "../../src/ledger/queue/queue.ts";
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

/** Publishes messages on a queue in random order, some repeatedly and some late. */
export interface Publisher {
  /** In the order of sending, with repeats. */
  sent: Message[];
  /** The number of attempts to send each body, failed ones included. */
  attempts: Map<string, number>;
  /** An oracle with all sent events. */
  oracle: Oracle;
  /** The number of payments whose messages have been generated. */
  payments(): number;
  /** Publishes until `end` aborts. Default pause: none. */
  publishUntil(end: AbortSignal, pauseMs?: number): Promise<void>;
  /** Sends the messages that are left. */
  publishRest(): Promise<void>;
  /** Sends some events again, with different details. Resolves with the ids of their resources. */
  publishConflicts(): Promise<Set<string>>;
  isQueueEmpty(): Promise<boolean>;
}

/** Sends a list of events in a request. Resolves with true if the response confirms that all are stored. */
export type Post = (events: string) => Promise<boolean>;

/** `onSent` gets the number of messages of each send. Default of `post`: all messages are sent to the queue. */
export function openPublisher(
  queue: Queue,
  random: Random,
  onSent: (messages: number) => void,
  post?: Post,
): Publisher {
  const generator = generateMessages(random.fork());
  const oracle = new Oracle();
  const sent: Message[] = [];
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
    const deadline = AbortSignal.timeout(sendMaxMs);
    for (;;) {
      for (const body of bodies) attempts.set(body, (attempts.get(body) ?? 0) + 1);
      try {
        await queue.send(bodies);
        break;
      } catch (error) {
        if (deadline.aborted) {
          throw new Violation(
            `the queue accepted no message for ${sendMaxMs / 1000} s: ${(error as Error).message}`,
          );
        }
        await sleep(100);
      }
    }
    onSent(messages.length);
  }

  const queueLength = () =>
    queue.check().then(
      (check) => check.waiting,
      () => 0,
    );

  return {
    sent,
    attempts,
    oracle,
    payments: () => payments,
    async publishUntil(end, pauseMs = 0) {
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
    async publishRest() {
      const rest = [...pool, ...late];
      for (let from = 0; from < rest.length; from += 100) await send(rest.slice(from, from + 100));
    },
    async publishConflicts() {
      const events = oracle.events.filter(() => random.chance(0.05));
      const bodies = events.map((event) =>
        encode(random, { ...event, live: true, event_details: { amount: 1, reference: "conflict" } }),
      );
      await queue.send(bodies);
      return new Set(events.map(({ resource_external_id }) => resource_external_id));
    },
    isQueueEmpty: async () => (await queue.check()).waiting === 0,
  };
}
