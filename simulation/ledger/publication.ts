import { setTimeout as sleep } from "node:timers/promises";
import type { Queue } from "../../src/ledger/queue/queue.ts";
import type { Random } from "../random.ts";
import { Astray } from "../replies.ts";
import { type Message, messagesOf, write } from "./lives.ts";
import { Oracle } from "./oracle.ts";

/** How many messages wait for their turn, from which the next are drawn: so they come shuffled. */
const poolSize = 400;
const repeated = 0.15;
const lateShare = 0.02;
const sendMaxMs = 90_000;
/** More than this in the queue, and publishing waits. */
const backlogMax = 1500;

/** What is published, and what is known of it. */
export interface Publication {
  /** In the order in which they were sent, repeats included. */
  sent: Message[];
  /** What was ever handed to the queue, also by attempts that failed. */
  attempts: Map<string, number>;
  oracle: Oracle;
  /** How many lives have begun. */
  lives(): number;
  /** Publishes until it is over, with pauses of so many milliseconds. */
  until(over: AbortSignal, pauseMs?: number): Promise<void>;
  /** Sends all that was kept for late. */
  rest(): Promise<void>;
  /** Tells some events again, with other details. */
  contradict(): Promise<void>;
  /** Whether nothing of it waits in the queue. */
  isTaken(): Promise<boolean>;
}

/** Publishes lives on a queue, shuffled, some messages repeated and some late; tells how many messages were taken. */
export function openPublication(
  queue: Queue,
  random: Random,
  advance: (messages: number) => void,
): Publication {
  const lives = messagesOf(random.fork());
  const oracle = new Oracle();
  const sent: Message[] = [];
  const attempts = new Map<string, number>();
  const pool: Message[] = [];
  const late: Message[] = [];
  let begun = 0;

  async function send(messages: Message[]): Promise<void> {
    sent.push(...messages);
    for (const message of messages) if (message.kind === "event") oracle.accept(message.event);
    const bodies = messages.map(({ body }) => body);
    const tooLate = AbortSignal.timeout(sendMaxMs);
    for (;;) {
      for (const body of bodies) attempts.set(body, (attempts.get(body) ?? 0) + 1);
      try {
        await queue.send(bodies);
        break;
      } catch (error) {
        if (tooLate.aborted)
          throw new Astray(`the queue takes nothing any more: ${(error as Error).message}`);
        await sleep(100);
      }
    }
    advance(messages.length);
  }

  const waiting = () =>
    queue.check().then(
      (check) => check.waiting,
      () => 0,
    );

  return {
    sent,
    attempts,
    oracle,
    lives: () => begun,
    async until(over, pauseMs = 0) {
      while (!over.aborted) {
        while (pool.length < poolSize) {
          const { value: messages = [] } = lives.next();
          begun += 1;
          for (const message of messages) (random.chance(lateShare) ? late : pool).push(message);
        }
        const drawn = Array.from({ length: random.whole(1, 60) }, () =>
          pool.splice(random.whole(0, pool.length - 1), 1),
        ).flat();
        await send(drawn);
        pool.push(...drawn.filter(() => random.chance(repeated)));
        await sleep(pauseMs);
        while (!over.aborted && (await waiting()) > backlogMax) await sleep(100);
      }
    },
    async rest() {
      const all = [...pool, ...late];
      for (let from = 0; from < all.length; from += 100) await send(all.slice(from, from + 100));
    },
    async contradict() {
      const told = oracle.events.filter(() => random.chance(0.05));
      const bodies = told.map((event) =>
        write(random, { ...event, live: true, event_details: { amount: 1, reference: "contradicted" } }),
      );
      // Waits until what was told is in, since the first telling is what stays.
      await queue.send(bodies);
      await sleep(2000);
      while ((await waiting()) > 0) await sleep(100);
      await sleep(2000);
    },
    isTaken: async () => (await queue.check()).waiting === 0,
  };
}
