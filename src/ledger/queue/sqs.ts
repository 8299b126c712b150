import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { inChunks } from "../../values/chunks.ts";
import type { Delivery, Queue } from "./queue.ts";

/** Bounds that Amazon SQS sets. */
const requestMax = 10;
const requestBytesMax = 256 * 1024;
const waitSecondsMax = 20;
/** About what one call takes of messages that are large. */
const receivedBytesMax = 8 * 2 ** 20;
const pauseSecondsMax = 43_200;
/** The embedded server loses sight, until its next start, of a message that is put back for 0 seconds. */
const pauseSecondsMin = 1;

/** Every client asks the address it is told, whatever a queue says of its own. */
const common = {
  useQueueUrlAsEndpoint: false,
  maxAttempts: 3,
  // Longer than the longest wait for a message: a server that says nothing by then is not there.
  requestHandler: { connectionTimeout: 5000, requestTimeout: 30_000, throwOnRequestTimeout: true },
};

/** Amazon's own addresses name their region; another, of a gateway say, can be told it, or leave it to the SDK. */
export const regionOf = (host: string) => /(?:^|\.)sqs(?:-fips)?\.([a-z\d-]+)\./.exec(host)?.[1];

/** Opens Amazon SQS, or over plain HTTP a stand-in for it that asks for no credentials. */
export async function open(url: URL): Promise<Queue> {
  const { protocol, host, pathname } = url;
  if (protocol === "sqs+http:") return openStandIn(`http://${host}${pathname}`);
  const region = url.searchParams.get("region") ?? regionOf(host);
  const client = new SQSClient({ ...common, endpoint: `https://${host}`, ...(region && { region }) });
  return openSqs(client, `https://${host}${pathname}`);
}

export const openStandIn = (queueUrl: string) => openSqs(standInClient(new URL(queueUrl).origin), queueUrl);

/** A client of a stand-in, which takes any region and any credentials. */
export const standInClient = (endpoint: string) =>
  new SQSClient({
    ...common,
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "none", secretAccessKey: "none" },
  });

function openSqs(client: SQSClient, queueUrl: string): Queue {
  const queue = { QueueUrl: queueUrl };

  async function receiveOnce(max: number, wait: number, stop: AbortSignal): Promise<Delivery[]> {
    const command = new ReceiveMessageCommand({
      ...queue,
      MaxNumberOfMessages: Math.min(max, requestMax),
      WaitTimeSeconds: wait,
      MessageSystemAttributeNames: ["ApproximateReceiveCount", "SentTimestamp"],
    });
    const { Messages = [] } = await client.send(command, { abortSignal: stop });
    return Messages.map(({ MessageId = "", Body = "", ReceiptHandle = "", Attributes }) => ({
      id: MessageId,
      body: Body,
      size: Buffer.byteLength(Body),
      attempt: Number(Attributes?.ApproximateReceiveCount ?? 1),
      receipt: ReceiptHandle,
      ...(Attributes?.SentTimestamp && { sentAt: Number(Attributes.SentTimestamp) }),
    }));
  }

  return {
    async receive(max, waitMs, stop) {
      try {
        const first = await receiveOnce(max, Math.min(Math.ceil(waitMs / 1000), waitSecondsMax), stop);
        if (first.length < requestMax) return first;
        // A full answer tells of more: they are fetched side by side, without waiting for any to arrive; as many as fit
        // into memory when they are as large as these.
        const size = first.reduce((sum, delivery) => sum + delivery.size, 0);
        const fitting = Math.floor(receivedBytesMax / size) * requestMax;
        const more: Promise<Delivery[]>[] = [];
        for (let left = Math.min(max, fitting) - first.length; left > 0; left -= requestMax) {
          more.push(receiveOnce(left, 0, stop).catch(() => []));
        }
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
      const asked = { ...queue, AttributeNames: ["ApproximateNumberOfMessages" as const] };
      const { Attributes } = await client.send(new GetQueueAttributesCommand(asked));
      return { waiting: Number(Attributes?.ApproximateNumberOfMessages ?? 0) };
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
  const chunks = inChunks(entries, sizeOf, requestBytesMax, requestMax);
  const answers = await Promise.all(chunks.map(request));
  const failed = answers.flatMap(({ Failed = [] }) => Failed);
  if (failed.length > 0) {
    const [{ Code, Message } = {}] = failed;
    throw new Error(`the queue did not take ${failed.length} of ${entries.length}: ${Message ?? Code}`);
  }
}

/** Of a delivery only the receipt is sent. */
const sizeOf = (entry: Delivery | string) => (typeof entry === "string" ? Buffer.byteLength(entry) : 0);

/** Stand-ins refuse characters beyond the basic plane, which in JSON can be written as escapes as well. */
const escapeAstral = (body: string) =>
  body.replaceAll(/[\u{10000}-\u{10FFFF}]/gu, (character) =>
    [...character.split("")].map((unit) => `\\u${unit.charCodeAt(0).toString(16)}`).join(""),
  );
