import { expect } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import type { Queue, ReceivedMessage } from "./queue.ts";

const stop = () => AbortSignal.timeout(testWaitMaxMs);

/** Receives until there are this many messages. */
export async function receiveCount(queue: Queue, count: number): Promise<ReceivedMessage[]> {
  const messages: ReceivedMessage[] = [];
  for (const end = stop(); messages.length < count && !end.aborted; )
    messages.push(...(await queue.receive(100, 20_000, end)));
  return messages;
}

/** Acknowledges what the queue delivers until it has delivered these bodies, although calls can fail meanwhile. */
export async function drain(queue: Queue, bodies: string[]): Promise<ReceivedMessage[]> {
  const messages: ReceivedMessage[] = [];
  await eventually(async () => {
    const received = await queue.receive(100, 500, stop());
    messages.push(...received);
    await queue.acknowledge(received);
    expect([...new Set(messages.map(({ body }) => body))].sort()).toEqual(bodies.toSorted());
  });
  return messages;
}

/** Bodies of messages. */
export const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `m${from + index}`);
