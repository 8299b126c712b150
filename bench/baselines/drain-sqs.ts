import { DeleteMessageBatchCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import { embeddedQueueUrl, openQueue } from "../../src/ledger/queue/queue.ts";
import { standInClient } from "../../src/ledger/queue/sqs.ts";
import { receiverLimits, settings } from "../../src/ledger/settings.ts";
import { readSettings } from "../../src/process/settings.ts";
import { freePort } from "../../testing/free-port.ts";
import { answer } from "../answer.ts";
import { type Intake, messagesOf } from "../payments.ts";

/**
 * Receives and deletes with the SDK alone, as many requests side by side as the ledger has, beside the embedded server
 * in this process; answers messages a second.
 */
const requestMax = 10;
const { batchSize, concurrency } = receiverLimits(readSettings(process.env, settings));
const sideBySide = Math.ceil(batchSize / requestMax) * concurrency;
const port = await freePort();
const embedded = await openQueue(`sqs+embedded:./queue?port=${port}`);
const QueueUrl = embeddedQueueUrl(port);
const client = standInClient(new URL(QueueUrl).origin);

/** How many were taken: all that wait are seen, so a request gets as many as it may. */
async function takeSome(): Promise<number> {
  const asked = { QueueUrl, MaxNumberOfMessages: requestMax };
  const { Messages = [] } = await client.send(new ReceiveMessageCommand(asked));
  const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
  const { Successful = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  return Successful.length;
}

async function drain(count: number): Promise<number> {
  let [asked, taken] = [0, 0];
  async function takeAll() {
    while (asked < count) {
      asked += requestMax;
      const more = await takeSome();
      taken += more;
    }
  }
  await Promise.all(Array.from({ length: sideBySide }, takeAll));
  return taken;
}

answer(async (intake: Intake) => {
  const messages = messagesOf(intake);
  await embedded.send(messages);
  const begun = performance.now();
  const taken = await drain(messages.length);
  const seconds = (performance.now() - begun) / 1000;
  if (taken !== messages.length) throw new Error(`${taken} of ${messages.length} messages were taken`);
  return messages.length / seconds;
});
