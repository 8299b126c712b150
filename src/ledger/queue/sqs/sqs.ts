import { hash } from "node:crypto";
import {
  type BatchResultErrorEntry,
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { Address } from "../../../engines/adapter.ts";
import { inChunks } from "../../../values/chunks.ts";
import { parseJson } from "../../../values/json.ts";
import { eachInTurns } from "../../../waiting/turns.ts";
import { standInAddress, standInRegion } from "../address.ts";
import type { AmazonParameters } from "../parameters.ts";
import type { Queue, QueueAddress, ReceivedMessage } from "../queue.ts";

/** Limits of Amazon SQS. */
const requestMax = 10;
const requestBytesMax = 256 * 1024;
const waitSecondsMax = 20;
/** Limit for the bytes of large messages that one call receives, approximately. */
const receivedBytesMax = 8 * 2 ** 20;
const delaySecondsMax = 43_200;

/** The options of every client. The endpoint is that of the URL, not the one in the queue URL. */
const common = {
  useQueueUrlAsEndpoint: false,
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 5000,
    // Longer than the longest wait for a message.
    requestTimeout: 30_000,
    throwOnRequestTimeout: true,
    // A request that waits for one of the sockets, by default 50, counts as one that connects.
    httpAgent: { maxSockets: Number.POSITIVE_INFINITY },
    httpsAgent: { maxSockets: Number.POSITIVE_INFINITY },
  },
};

/** The region in a host name of Amazon SQS. For other hosts it comes from the URL parameter or from the SDK. */
export const regionOf = (host: string) => /(?:^|\.)sqs(?:-fips)?\.([a-z\d-]+)\./.exec(host)?.[1];

/** Connects to Amazon SQS, or over plain HTTP to a stand-in that requires no credentials. */
export async function open({ url, parameters }: Address<AmazonParameters>): Promise<Queue> {
  const { protocol, host, pathname } = url;
  if (protocol === "sqs+http:") return openStandIn(`http://${host}${pathname}`, parameters.region);
  const region = parameters.region ?? regionOf(host);
  const endpoint = `https://${host}`;
  const client = new SQSClient({ ...common, endpoint, ...(region && { region }) });
  const queueUrl = `${endpoint}${pathname}`;
  return openSqs(client, { kind: "amazon", url: queueUrl, endpoint, region: region ?? "REGION" });
}

export function openStandIn(queueUrl: string, region?: string): Queue {
  const address = standInAddress(queueUrl, region);
  return openSqs(standInClient(address.endpoint, address.region), address);
}

/** A client of a stand-in, which accepts any credentials. */
export const standInClient = (endpoint: string, region = standInRegion) =>
  new SQSClient({
    ...common,
    endpoint,
    region,
    credentials: { accessKeyId: "none", secretAccessKey: "none" },
  });

function openSqs(client: SQSClient, address: QueueAddress): Queue {
  const queue = { QueueUrl: address.url };
  const isFifo = address.url.endsWith(".fifo");
  return {
    address,
    receive: (max, waitMs, stop) =>
      receive(client, address.url, max, waitMs, stop).catch((error) => {
        if (stop.aborted) return [];
        throw error;
      }),
    acknowledge: (messages) =>
      inRequests(messages, (chunk) =>
        client.send(new DeleteMessageBatchCommand({ ...queue, Entries: entriesOf(chunk, {}) })),
      ),
    async retry(messages, delayMs) {
      const delay = { VisibilityTimeout: Math.min(Math.ceil(delayMs / 1000), delaySecondsMax) };
      await inRequests(messages, (chunk) =>
        client.send(new ChangeMessageVisibilityBatchCommand({ ...queue, Entries: entriesOf(chunk, delay) })),
      );
    },
    async send(bodies) {
      const send = (chunk: string[]) => {
        const Entries = chunk.map((body, index) => ({
          ...{ Id: String(index), MessageBody: body },
          ...(isFifo && { MessageGroupId: groupOf(body), MessageDeduplicationId: hash("sha256", body) }),
        }));
        return client.send(new SendMessageBatchCommand({ ...queue, Entries }));
      };
      // A FIFO queue keeps the order in which its requests arrive.
      await inRequests(bodies, send, isFifo ? 1 : requestsAtATime);
    },
    async countWaiting() {
      const request = { ...queue, AttributeNames: ["ApproximateNumberOfMessages" as const] };
      const { Attributes } = await client.send(new GetQueueAttributesCommand(request));
      return Number(Attributes?.ApproximateNumberOfMessages ?? 0);
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
    },
  };
}

/** Receives up to 10 messages. If there are as many, more may wait, and are received in parallel. */
async function receive(client: SQSClient, QueueUrl: string, max: number, waitMs: number, stop: AbortSignal) {
  async function receiveOnce(upTo: number, waitSeconds: number): Promise<ReceivedMessage[]> {
    const command = new ReceiveMessageCommand({
      QueueUrl,
      MaxNumberOfMessages: Math.min(upTo, requestMax),
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ["ApproximateReceiveCount", "SentTimestamp"],
    });
    const { Messages = [] } = await client.send(command, { abortSignal: stop });
    return Messages.map(readMessage);
  }

  const first = await receiveOnce(max, Math.min(Math.ceil(waitMs / 1000), waitSecondsMax));
  if (first.length < requestMax) return first;
  // As many as fit into memory if they are as large as the first ones.
  const size = first.reduce((sum, message) => sum + message.size, 0);
  const fitting = Math.floor(receivedBytesMax / size) * requestMax;
  const more: Promise<ReceivedMessage[]>[] = [];
  for (let left = Math.min(max, fitting) - first.length; left > 0; left -= requestMax) {
    more.push(receiveOnce(left, 0).catch(() => []));
  }
  return [first, ...(await Promise.all(more))].flat();
}

const readMessage = ({ MessageId = "", Body = "", ReceiptHandle = "", Attributes }: Message) => ({
  id: MessageId,
  body: Body,
  size: Buffer.byteLength(Body),
  attempt: Number(Attributes?.ApproximateReceiveCount ?? 1),
  receipt: ReceiptHandle,
  ...(Attributes?.SentTimestamp && { sentAt: Number(Attributes.SentTimestamp) }),
});

/** The entries of a request about these messages, each with `more`. */
const entriesOf = <More extends object>(messages: ReceivedMessage[], more: More) =>
  messages.map(({ receipt }, index) => ({ Id: String(index), ReceiptHandle: receipt, ...more }));

/** The messages of a resource are a group of a FIFO queue. Its name has up to 128 ASCII characters, and an id any. */
function groupOf(body: string): string {
  const { resource_type, resource_external_id } = (parseJson(body) ?? {}) as Record<string, unknown>;
  return hash("sha256", JSON.stringify([resource_type, resource_external_id]));
}

/** Number of requests of one call that are in flight at the same time. */
const requestsAtATime = 20;

/** Sends entries in as few requests as SQS allows, several in parallel. Rejects if any entry fails. */
async function inRequests<Entry extends ReceivedMessage | string>(
  entries: Entry[],
  request: (entries: Entry[]) => Promise<{ Failed?: BatchResultErrorEntry[] | undefined }>,
  atATime = requestsAtATime,
): Promise<void> {
  const chunks = inChunks(entries, sizeOf, requestBytesMax, requestMax);
  const failed: BatchResultErrorEntry[] = [];
  await eachInTurns(chunks, atATime, async (chunk) => {
    failed.push(...((await request(chunk)).Failed ?? []));
  });
  if (failed.length > 0) {
    const [{ Code, Message } = {}] = failed;
    throw new Error(`the queue rejected ${failed.length} of ${entries.length} entries: ${Message ?? Code}`);
  }
}

/** Bytes of an entry; a received message is sent as its short receipt. */
const sizeOf = (entry: ReceivedMessage | string) =>
  typeof entry === "string" ? Buffer.byteLength(entry) : 0;
