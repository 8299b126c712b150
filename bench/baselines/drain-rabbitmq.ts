import { randomUUID } from "node:crypto";
import amqp from "amqplib";
import { rabbitmqParameters } from "../../src/ledger/queue/parameters.ts";
import { openQueue } from "../../src/ledger/queue/queues.ts";
import { handleCalls } from "../handle-calls.ts";
import { messagesOf, type Workload } from "../payments.ts";

/**
 * Consumes and acknowledges with amqplib alone, from a queue that the ledger has declared and filled. Returns messages per
 * second.
 */
const url = process.env.AMQP_URL as string;

/** Resolves with the tag of the consumer when `count` messages are acknowledged. */
async function drain(channel: amqp.Channel, queue: string, count: number): Promise<string> {
  const { promise: allAcknowledged, resolve } = Promise.withResolvers<void>();
  let left = count;
  const { consumerTag } = await channel.consume(queue, (message) => {
    channel.ack(message as amqp.ConsumeMessage);
    left -= 1;
    if (left === 0) resolve();
  });
  await allAcknowledged;
  return consumerTag;
}

handleCalls(async (workload: Workload) => {
  const queue = randomUUID();
  const messages = messagesOf(workload);
  await using opened = await openQueue(`${url}?queue=${queue}`);
  await opened.send(messages);
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  await channel.prefetch(rabbitmqParameters.prefetch.default);
  const start = performance.now();
  const consumerTag = await drain(channel, queue, messages.length);
  const seconds = (performance.now() - start) / 1000;
  await channel.cancel(consumerTag);
  await channel.deleteQueue(queue);
  await connection.close();
  return messages.length / seconds;
});
