import { expect } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import type { Queue, ReceivedMessage } from "./queue.ts";

const stop = () => AbortSignal.timeout(testWaitMaxMs);

/** Receives until there are this many deliveries. */
export async function receiveCount(queue: Queue, count: number): Promise<ReceivedMessage[]> {
  const deliveries: ReceivedMessage[] = [];
  for (const end = stop(); deliveries.length < count && !end.aborted; )
    deliveries.push(...(await queue.receive(100, 20_000, end)));
  return deliveries;
}

/** Acknowledges what the queue delivers until it has delivered these bodies, although calls can fail meanwhile. */
export async function drain(queue: Queue, bodies: string[]): Promise<ReceivedMessage[]> {
  const deliveries: ReceivedMessage[] = [];
  await eventually(async () => {
    const received = await queue.receive(100, 500, stop());
    deliveries.push(...received);
    await queue.acknowledge(received);
    expect([...new Set(deliveries.map(({ body }) => body))].sort()).toEqual(bodies.toSorted());
  });
  return deliveries;
}

/** Bodies of messages. */
export const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `m${from + index}`);
