import { randomUUID } from "node:crypto";
import amqp from "amqplib";
import { openQueue, rabbitmqParameters } from "../../src/ledger/queue/queue.ts";
import { answer } from "../answer.ts";
import { type Intake, messagesOf } from "../payments.ts";

/** Consumes and acknowledges with amqplib alone, from a queue that the ledger made and filled; answers messages a second. */
const url = process.env.AMQP_URL as string;

async function fill(queue: string, messages: string[]): Promise<void> {
  await using filled = await openQueue(`${url}?queue=${queue}`);
  await filled.send(messages);
}

/** Answers the consumer, for which nothing is left. */
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

answer(async (intake: Intake) => {
  const queue = randomUUID();
  const messages = messagesOf(intake);
  await fill(queue, messages);
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  await channel.prefetch(rabbitmqParameters.prefetch.default);
  const begun = performance.now();
  const consumerTag = await drain(channel, queue, messages.length);
  const seconds = (performance.now() - begun) / 1000;
  await channel.cancel(consumerTag);
  await channel.deleteQueue(queue);
  await connection.close();
  return messages.length / seconds;
});
