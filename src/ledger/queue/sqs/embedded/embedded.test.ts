import {
  CreateQueueCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  SendMessageCommand,
  SQSClient,
  type SQSClientConfig,
} from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../../../../../testing/free-port.ts";
import { newFolder } from "../../../../../testing/run.ts";
import { testWaitMaxMs } from "../../../../../testing/test-wait-max.ts";
import type { Queue } from "../../queue.ts";
import { openQueue } from "../../queues.ts";

const QueueName = "payment-events";

let folder: string;
let port: number;
let queue: Queue;
async function restart(): Promise<void> {
  port = await freePort();
  queue = await openQueue(`sqs+embedded:${folder}?port=${port}`);
}
beforeAll(async () => {
  folder = newFolder();
  await restart();
});
afterAll(() => queue[Symbol.asyncDispose]());

/** Receives a message and acknowledges it. */
async function nextBody(): Promise<string | undefined> {
  const deliveries = await queue.receive(1, 20_000, AbortSignal.timeout(testWaitMaxMs));
  await queue.acknowledge(deliveries);
  return deliveries[0]?.body;
}

/** A client with the default options of the SDK. */
const clientIn = (region: string, options: SQSClientConfig = {}) =>
  new SQSClient({
    ...options,
    endpoint: `http://127.0.0.1:${port}`,
    region,
    credentials: { accessKeyId: "any", secretAccessKey: "any" },
  });

/** Sends a form of the query protocol, as an SDK before 2024 does. */
async function query(parameters: Record<string, string>, path = "/"): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: {
      authorization:
        "AWS4-HMAC-SHA256 Credential=any/20240305/eu-west-1/sqs/aws4_request, SignedHeaders=host, Signature=0",
      "content-type": "application/x-www-form-urlencoded; charset=utf-8",
    },
    body: new URLSearchParams({ ...parameters, Version: "2012-11-05" }),
  });
  expect(response.headers.get("content-type")).toMatch("text/xml");
  return `${response.status} ${await response.text()}`;
}
const valueIn = (xml: string, element: string) =>
  new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1];

const mebibyte = 2 ** 20;
const allowed = [
  // Characters beyond U+FFFF, also escaped, and combining ones.
  '{"text": "💷 👩‍💻 \u{10ffff}"} "\\ud83d\\udcb7" Zoe\u0308 e\u0301',
  // The last allowed characters of a range.
  "\t\n\r \ud7ff\ue000\ufffd",
  // Characters that XML and forms escape.
  "<&>\"' + %20 ]]>",
  "x".repeat(mebibyte),
  "💷".repeat(mebibyte / 4),
];
const rejected: [body: string, code: string][] = [
  ["\ufffe", "InvalidMessageContents"],
  ["💷\uffff", "InvalidMessageContents"],
  ["\u0001", "InvalidMessageContents"],
  ["\0", "InvalidMessageContents"],
  [`${"💷".repeat(mebibyte / 4)}x`, "InvalidParameterValue"],
];

describe("a client in another region", () => {
  let client: SQSClient;
  beforeEach(() => {
    client = clientIn("eu-west-1");
  });
  afterEach(() => client.destroy());

  const queueUrl = async () => (await client.send(new GetQueueUrlCommand({ QueueName }))).QueueUrl;
  const send = async (MessageBody: string) =>
    client.send(new SendMessageCommand({ QueueUrl: await queueUrl(), MessageBody }));

  test("finds the queue by its name, at the address that it uses itself", async () => {
    const url = `http://127.0.0.1:${port}/000000000000/${QueueName}`;
    expect(await queueUrl()).toBe(url);
    expect((await client.send(new ListQueuesCommand())).QueueUrls).toEqual([url]);
    await expect(client.send(new GetQueueUrlCommand({ QueueName: "none" }))).rejects.toThrow(
      expect.objectContaining({ name: "QueueDoesNotExist" }),
    );
  });

  test("that creates the queue gets the one that there is, with its messages, also under the name of a region", async () => {
    const named = `http://sqs.eu-west-1.localhost:${port}/000000000000/${QueueName}`;
    const message = { QueueUrl: named, MessageBody: "1" };
    const ofRegion = clientIn("eu-west-1", { useQueueUrlAsEndpoint: false });
    await ofRegion.send(new SendMessageCommand(message));
    ofRegion.destroy();
    expect((await client.send(new CreateQueueCommand({ QueueName }))).QueueUrl).toBe(await queueUrl());
    expect(await nextBody()).toBe("1");
  });

  test("finds the queue after a restart on another port", async () => {
    await queue[Symbol.asyncDispose]();
    await restart();
    client = clientIn("ap-southeast-2");
    expect(await queueUrl()).toBe(`http://127.0.0.1:${port}/000000000000/${QueueName}`);
    await send("1");
    expect(await nextBody()).toBe("1");
  });

  test("sends what SQS allows, and nothing else", async () => {
    for (const body of allowed) {
      await send(body);
      expect(await nextBody()).toBe(body);
    }
    const surrogate: [string, string] = ["\ud83d", "InvalidMessageContents"];
    for (const [body, code] of [...rejected, surrogate])
      await expect(send(body), body.slice(0, 10)).rejects.toThrow(
        expect.objectContaining({ name: expect.stringContaining(code) }),
      );
  });
});

describe("a client of the query protocol", () => {
  test("finds the queue by its name, at the address that it uses itself", async () => {
    const url = `http://127.0.0.1:${port}/000000000000/${QueueName}`;
    const response = await query({ Action: "GetQueueUrl", QueueName });
    expect(response).toMatch(
      /^200 <GetQueueUrlResponse><GetQueueUrlResult>.*<ResponseMetadata><RequestId>[\w-]+<\/RequestId><\/ResponseMetadata><\/GetQueueUrlResponse>$/,
    );
    expect(valueIn(response, "QueueUrl")).toBe(url);
    expect(valueIn(await query({ Action: "ListQueues" }), "QueueUrl")).toBe(url);
    expect(await query({ Action: "GetQueueUrl", QueueName: "none" })).toMatch(
      /^400 <ErrorResponse><Error><Type>Sender<\/Type><Code>AWS.SimpleQueueService.NonExistentQueue<\/Code><Message>/,
    );
    expect(await query({ Action: "Nothing" })).toMatch("<Code>InvalidAction</Code>");
  });

  test.each(["body", "path"])("sends a message to the queue that its %s names", async (place) => {
    const path = `/000000000000/${QueueName}`;
    const parameters = { Action: "SendMessage", MessageBody: "1", DelaySeconds: "0" };
    const response = await (place === "path"
      ? query(parameters, path)
      : query({ ...parameters, QueueUrl: `http://127.0.0.1:${port}${path}` }));
    expect(valueIn(response, "MD5OfMessageBody")).toBe("c4ca4238a0b923820dcc509a6f75849b");
    expect(await nextBody()).toBe("1");
  });

  const path = `/000000000000/${QueueName}`;
  test("sends what SQS allows, and nothing else", async () => {
    for (const body of allowed) {
      await query({ Action: "SendMessage", MessageBody: body }, path);
      expect(await nextBody()).toBe(body);
    }
    for (const [body, code] of rejected)
      expect(valueIn(await query({ Action: "SendMessage", MessageBody: body }, path), "Code")).toMatch(code);
  });

  test("sends a batch, and receives messages with their attributes", async () => {
    const members = {
      "1.Id": "first",
      "1.MessageBody": "💷 <&>\r\n",
      "1.DelaySeconds": "0",
      "1.MessageAttribute.1.Name": "source",
      "1.MessageAttribute.1.Value.DataType": "String",
      "1.MessageAttribute.1.Value.StringValue": "test",
      "2.Id": "second",
      "2.MessageBody": "\uffff",
    };
    const entries = Object.entries(members).map(([name, value]) => [
      `SendMessageBatchRequestEntry.${name}`,
      value,
    ]);
    const response = await query({ Action: "SendMessageBatch", ...Object.fromEntries(entries) }, path);
    expect(response).toMatch(/<SendMessageBatchResultEntry><Id>first<.*<BatchResultErrorEntry><Id>second</);
    const limits = { WaitTimeSeconds: "1", MaxNumberOfMessages: "10" };
    const names = { "AttributeName.1": "SentTimestamp", "MessageAttributeName.1": "All" };
    const received = await query({ Action: "ReceiveMessage", ...limits, ...names }, path);
    expect(valueIn(received, "Body")).toBe("💷 &#60;&#38;&#62;&#13;\n");
    expect(received).toMatch(/<Attribute><Name>SentTimestamp<\/Name><Value>\d+<\/Value><\/Attribute>/);
    expect(received).toMatch(
      /<MessageAttribute><Name>source<\/Name><Value>(?=.*<DataType>String<)(?=.*<StringValue>test<)/,
    );
    const ReceiptHandle = valueIn(received, "ReceiptHandle") ?? "";
    expect(await query({ Action: "DeleteMessage", ReceiptHandle }, path)).toMatch(/^200 /);
    const attribute = "ApproximateNumberOfMessagesNotVisible";
    const attributes = await query({ Action: "GetQueueAttributes", "AttributeName.1": attribute }, path);
    expect(attributes).toMatch(`<Attribute><Name>${attribute}</Name><Value>0</Value></Attribute>`);
  });
});
