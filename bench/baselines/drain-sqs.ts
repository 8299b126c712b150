import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { DeleteMessageBatchCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { standInClient } from "../../src/ledger/queue/sqs/sqs.ts";
import { receiverLimits, settings } from "../../src/ledger/settings.ts";
import { readSettings } from "../../src/process/settings.ts";
import { handleCalls } from "../handle-calls.ts";
import { messagesOf, type Workload } from "../payments.ts";

/**
 * Receives and deletes with the SDK alone, with as many concurrent requests as the ledger, from a server that stores nothing,
 * in a thread of this process as the embedded one. Returns messages per second.
 */

/** The limit of SQS for the messages of a request. */
const messagesPerRequest = 10;
const { batchSize, concurrency } = receiverLimits(readSettings(process.env, settings));
const concurrentRequests = Math.ceil(batchSize / messagesPerRequest) * concurrency;
const server = new Worker(new URL("sqs-in-memory.ts", import.meta.url));
const [origin] = (await once(server, "message")) as [string];
const QueueUrl = `${origin}/000000000000/messages`;
const client = standInClient(origin);

/** Returns the number of messages. The server fills every request while it has enough messages. */
async function drain(count: number): Promise<number> {
  let [requested, received] = [0, 0];
  const input = { QueueUrl, MaxNumberOfMessages: messagesPerRequest };
  async function sendRequests() {
    while (requested < count) {
      requested += messagesPerRequest;
      const { Messages = [] } = await client.send(new ReceiveMessageCommand(input));
      const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
      const { Successful = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
      received += Successful.length;
    }
  }
  await Promise.all(Array.from({ length: concurrentRequests }, sendRequests));
  return received;
}

handleCalls(async (workload: Workload) => {
  const messages = messagesOf(workload);
  server.postMessage(messages);
  await once(server, "message");
  const start = performance.now();
  const received = await drain(messages.length);
  const seconds = (performance.now() - start) / 1000;
  if (received !== messages.length)
    throw new Error(`${received} of ${messages.length} messages were received`);
  return messages.length / seconds;
});
