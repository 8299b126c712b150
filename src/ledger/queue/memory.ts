import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import type { Queue, ReceivedMessage } from "./queue.ts";

/** A queue in the memory of this process, for tests. Messages that are not acknowledged are lost on disposal. */
export async function open(): Promise<Queue> {
  const waiting: ReceivedMessage[] = [];
  const inFlight = new Set<string>();
  const delays = new Set<NodeJS.Timeout>();
  const arrivals = new EventEmitter().setMaxListeners(0);
  const add = (messages: ReceivedMessage[]) => {
    waiting.push(...messages);
    arrivals.emit("arrival");
  };

  return {
    async receive(max, waitMs, stop) {
      const signal = AbortSignal.any([stop, AbortSignal.timeout(waitMs)]);
      while (waiting.length === 0 && !signal.aborted) {
        await once(arrivals, "arrival", { signal }).catch(() => {});
      }
      const received = stop.aborted ? [] : waiting.splice(0, max);
      for (const { receipt } of received) inFlight.add(receipt);
      return received;
    },
    async acknowledge(messages) {
      for (const { receipt } of messages) inFlight.delete(receipt);
    },
    async retry(messages, delayMs) {
      const retried = messages
        .filter(({ receipt }) => inFlight.delete(receipt))
        .map((message) => ({ ...message, attempt: message.attempt + 1 }));
      const delay = setTimeout(() => {
        delays.delete(delay);
        add(retried);
      }, delayMs);
      delays.add(delay);
    },
    async send(bodies) {
      add(
        bodies.map((body) => {
          const id = randomUUID();
          return { id, body, size: Buffer.byteLength(body), attempt: 1, receipt: id, sentAt: Date.now() };
        }),
      );
    },
    async countWaiting() {
      return waiting.length;
    },
    async [Symbol.asyncDispose]() {
      delays.forEach(clearTimeout);
    },
  };
}
