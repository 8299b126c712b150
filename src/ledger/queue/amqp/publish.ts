import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Options } from "amqplib";
import { publishConfirmed } from "../../../rabbitmq/publish.ts";
import type { ReceivedMessage } from "../queue.ts";
import { type Connection, publicationHeader } from "./connection.ts";
import { durableWithinMs } from "./declaration.ts";

/** Number of failed attempts of a message. */
export const attemptsHeader = "x-attempts";

/**
 * Publishes a message to a queue, as soon as the queue is durable. Resolves when the broker has the message in the queue and
 * on disk. Rejects if that is not confirmed within 10 seconds: a quorum queue without a leader accepts messages and confirms
 * none.
 */
export async function publish(
  connection: Connection,
  queue: string,
  body: Buffer,
  properties: Options.Publish,
): Promise<void> {
  const waitMs = (connection.durableAt.get(queue) ?? 0) - performance.now();
  if (waitMs > 0) await sleep(waitMs);
  const { channel, forget } = await connection.sending.open();
  const publication = randomUUID();
  const headers = { ...properties.headers, [publicationHeader]: publication };
  const common = { persistent: true, mandatory: true, contentType: "application/json" };
  const options = { ...common, ...properties, headers };
  await publishConfirmed(channel, "", queue, body, options, unconfirmed).catch((error) => {
    // The broker may need a minute to close one that is blocked.
    if (error === unconfirmed && forget()) channel.close().catch(() => {});
    throw error;
  });
  if (connection.returned.delete(publication)) throw new Error(`there is no queue ${queue}`);
}

const unconfirmed = new Error("the broker does not confirm a message");

/**
 * Declares the queue from which messages return to the main queue after a delay, and resolves with its name. The queue does
 * not expire: an expired queue would take messages with it that the main queue does not accept. The broker does not
 * report whether the queue is new, so each connection treats it as new once.
 */
export async function assertRetryQueue({ channel, queue, durableAt }: Connection, delayMs: number) {
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

/**
 * Moves an in-flight message to a queue with its number of attempts, and acknowledges it when that is confirmed. The
 * producer's headers are dropped: the broker obeys some of them (`CC` and `BCC` route copies to other queues) and keeps
 * the history of a message in others.
 */
export async function forward(
  connection: Connection,
  queue: string,
  { receipt }: ReceivedMessage,
  attempts: number,
): Promise<void> {
  const message = connection.inFlight.get(receipt);
  connection.inFlight.delete(receipt);
  if (message === undefined) return;
  const { messageId, timestamp, contentType, contentEncoding } = message.properties;
  const headers = { [attemptsHeader]: attempts };
  try {
    const properties = { messageId, timestamp, contentType, contentEncoding, headers };
    await publish(connection, queue, message.content, properties);
    connection.channel.ack(message);
  } catch (error) {
    if (connection.phase !== "closed") connection.channel.nack(message);
    throw error;
  }
}
