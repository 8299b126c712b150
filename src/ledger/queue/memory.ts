import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import type { Delivery, Queue } from "./queue.ts";

/** In this process, for tests: what is not acknowledged when it is disposed of is gone. */
export async function open(): Promise<Queue> {
  const waiting: Delivery[] = [];
  const inHand = new Set<string>();
  const pauses = new Set<NodeJS.Timeout>();
  const arrivals = new EventEmitter().setMaxListeners(0);
  const add = (deliveries: Delivery[]) => {
    waiting.push(...deliveries);
    arrivals.emit("arrival");
  };

  return {
    async receive(max, waitMs, stop) {
      const signal = AbortSignal.any([stop, AbortSignal.timeout(waitMs)]);
      while (waiting.length === 0 && !signal.aborted) {
        await once(arrivals, "arrival", { signal }).catch(() => {});
      }
      const taken = stop.aborted ? [] : waiting.splice(0, max);
      for (const { receipt } of taken) inHand.add(receipt);
      return taken;
    },
    async acknowledge(deliveries) {
      for (const { receipt } of deliveries) inHand.delete(receipt);
    },
    async putBack(deliveries, pauseMs) {
      const again = deliveries
        .filter(({ receipt }) => inHand.delete(receipt))
        .map((delivery) => ({ ...delivery, attempt: delivery.attempt + 1 }));
      const pause = setTimeout(() => {
        pauses.delete(pause);
        add(again);
      }, pauseMs);
      pauses.add(pause);
    },
    async send(bodies) {
      add(
        bodies.map((body) => {
          const id = randomUUID();
          return { id, body, size: Buffer.byteLength(body), attempt: 1, receipt: id, sentAt: Date.now() };
        }),
      );
    },
    async check() {
      return { waiting: waiting.length };
    },
    async [Symbol.asyncDispose]() {
      pauses.forEach(clearTimeout);
    },
  };
}
