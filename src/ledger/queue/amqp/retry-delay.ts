import type { Connection } from "./connection.ts";
import { durableWithinMs } from "./declaration.ts";

/**
 * Declares the queue from which messages return to the main queue after a delay, and resolves with its name. The queue does
 * not expire: an expired queue would take messages with it that the main queue does not accept. The broker does not
 * report whether the queue is new, so each connection treats it as new once.
 */
export async function assertRetryQueue(
  { channel, queue, durableAt }: Connection,
  delayMs: number,
): Promise<string> {
  const name = `${queue}.retry.${delayMs}`;
  await channel.assertQueue(name, {
    messageTtl: delayMs,
    deadLetterExchange: "",
    deadLetterRoutingKey: queue,
    arguments: {
      "x-queue-type": "quorum",
      "x-dead-letter-strategy": "at-least-once",
      "x-overflow": "reject-publish",
    },
  });
  if (!durableAt.has(name)) durableAt.set(name, performance.now() + durableWithinMs);
  return name;
}
