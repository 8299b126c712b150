import { DeleteMessageBatchCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { embeddedQueueUrl } from "../../src/ledger/queue/address.ts";
import { openQueue } from "../../src/ledger/queue/queues.ts";
import { standInClient } from "../../src/ledger/queue/sqs/sqs.ts";
import { receiverLimits, settings } from "../../src/ledger/settings.ts";
import { readSettings } from "../../src/process/settings.ts";
import { freePort } from "../../testing/free-port.ts";
import { handleCalls } from "../handle-calls.ts";
import { messagesOf, type Workload } from "../payments.ts";

/**
 * Receives and deletes with the SDK alone, with as many concurrent requests as the ledger. The embedded server is in this
 * process. Returns messages per second.
 */

/** The limit of SQS for the messages of a request. */
const messagesPerRequest = 10;
const { batchSize, concurrency } = receiverLimits(readSettings(process.env, settings));
const concurrentRequests = Math.ceil(batchSize / messagesPerRequest) * concurrency;
const port = await freePort();
const embedded = await openQueue(`sqs+embedded:./queue?port=${port}`);
const QueueUrl = embeddedQueueUrl(port);
const client = standInClient(new URL(QueueUrl).origin);

/** Returns the number of messages. The embedded server fills every request while it has enough messages. */
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
  await embedded.send(messages);
  const start = performance.now();
  const received = await drain(messages.length);
  const seconds = (performance.now() - start) / 1000;
  if (received !== messages.length)
    throw new Error(`${received} of ${messages.length} messages were received`);
  return messages.length / seconds;
});
