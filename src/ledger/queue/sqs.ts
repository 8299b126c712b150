import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { Delivery, Queue } from "./queue.ts";

/** Bounds that Amazon SQS sets. */
const requestMax = 10;
const requestBytesMax = 256 * 1024;
const waitSeconds = 20;
const pauseSecondsMax = 43_200;
/** The embedded server loses sight, until its next start, of a message that is put back for 0 seconds. */
const pauseSecondsMin = 1;

/** Opens a stand-in for Amazon SQS that asks for no credentials, over plain HTTP. */
export async function open(url: URL): Promise<Queue> {
  const { host, pathname } = url;
  return openSqs(`http://${host}${pathname}`);
}

/** A client of a stand-in, which takes any region and any credentials. */
export const openClient = (endpoint: string) =>
  new SQSClient({
    endpoint,
    useQueueUrlAsEndpoint: false,
    region: "us-east-1",
    credentials: { accessKeyId: "none", secretAccessKey: "none" },
    maxAttempts: 3,
  });

export function openSqs(queueUrl: string): Queue {
  const client = openClient(new URL(queueUrl).origin);
  const queue = { QueueUrl: queueUrl };

  async function receiveOnce(max: number, wait: number, stop: AbortSignal): Promise<Delivery[]> {
    const command = new ReceiveMessageCommand({
      ...queue,
      MaxNumberOfMessages: Math.min(max, requestMax),
      WaitTimeSeconds: wait,
      MessageSystemAttributeNames: ["ApproximateReceiveCount"],
    });
    const { Messages = [] } = await client.send(command, { abortSignal: stop });
    return Messages.map(({ MessageId = "", Body = "", ReceiptHandle = "", Attributes }) => ({
      id: MessageId,
      body: Body,
      attempt: Number(Attributes?.ApproximateReceiveCount ?? 1),
      receipt: ReceiptHandle,
    }));
  }

  return {
    async receive(max, stop) {
      try {
        const first = await receiveOnce(max, waitSeconds, stop);
        if (first.length < requestMax) return first;
        // A full answer tells of more: they are fetched side by side, without waiting for any to arrive.
        const requests = Math.ceil((max - first.length) / requestMax);
        const more = Array.from({ length: requests }, () => receiveOnce(requestMax, 0, stop).catch(() => []));
        return [first, ...(await Promise.all(more))].flat();
      } catch (error) {
        if (stop.aborted) return [];
        throw error;
      }
    },
    async acknowledge(deliveries) {
      await inRequests(deliveries, (entries) => {
        const Entries = entries.map(({ receipt }, index) => ({ Id: String(index), ReceiptHandle: receipt }));
        return client.send(new DeleteMessageBatchCommand({ ...queue, Entries }));
      });
    },
    async putBack(deliveries, pauseMs) {
      const VisibilityTimeout = Math.min(
        Math.max(Math.ceil(pauseMs / 1000), pauseSecondsMin),
        pauseSecondsMax,
      );
      await inRequests(deliveries, (entries) => {
        const Entries = entries.map(({ receipt }, index) => ({
          Id: String(index),
          ReceiptHandle: receipt,
          VisibilityTimeout,
        }));
        return client.send(new ChangeMessageVisibilityBatchCommand({ ...queue, Entries }));
      });
    },
    async send(bodies) {
      await inRequests(bodies.map(escapeAstral), (entries) => {
        const Entries = entries.map((body, index) => ({ Id: String(index), MessageBody: body }));
        return client.send(new SendMessageBatchCommand({ ...queue, Entries }));
      });
    },
    async check() {
      await client.send(new GetQueueAttributesCommand(queue));
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
    },
  };
}

interface BatchAnswer {
  Failed?: { Code?: string | undefined; Message?: string | undefined }[] | undefined;
}

/** Sends entries in as few requests as SQS allows, side by side; rejects when any entry is not taken. */
async function inRequests<Entry extends Delivery | string>(
  entries: Entry[],
  request: (entries: Entry[]) => Promise<BatchAnswer>,
): Promise<void> {
  const answers = await Promise.all(inChunks(entries).map(request));
  const failed = answers.flatMap(({ Failed = [] }) => Failed);
  if (failed.length > 0) {
    const [{ Code, Message } = {}] = failed;
    throw new Error(`the queue did not take ${failed.length} of ${entries.length}: ${Message ?? Code}`);
  }
}

function inChunks<Entry extends Delivery | string>(entries: Entry[]): Entry[][] {
  const chunks: Entry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = typeof entry === "string" ? Buffer.byteLength(entry) : 0;
    const chunk = chunks.at(-1);
    if (chunk && chunk.length < requestMax && bytes + size <= requestBytesMax) {
      chunk.push(entry);
      bytes += size;
    } else {
      chunks.push([entry]);
      bytes = size;
    }
  }
  return chunks;
}

/** Stand-ins refuse characters beyond the basic plane, which in JSON can be written as escapes as well. */
const escapeAstral = (body: string) =>
  body.replaceAll(/[\u{10000}-\u{10FFFF}]/gu, (character) =>
    [...character.split("")].map((unit) => `\\u${unit.charCodeAt(0).toString(16)}`).join(""),
  );
