import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, readFileSync, renameSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { CreateTopicCommand, SNSClient, SubscribeCommand } from "@aws-sdk/client-sns";
import {
  CreateQueueCommand,
  type CreateQueueCommandInput,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import amqp, { type ConsumeMessage } from "amqplib";
import { buildApp } from "fauxqs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { exchangeViolation, fileViolation, sentViolation } from "../../../testing/delivery-check.ts";
import { describeOnAdapters, type Fixtures, testFixtures } from "../../../testing/describe-adapters.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { freePort } from "../../../testing/free-port.ts";
import { newFolder } from "../../../testing/run.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { openWebhook, type Reply } from "../../../testing/webhook.ts";
import { findUrlError } from "../../engines/url-error.ts";
import { openQueue } from "../queue/queues.ts";
import { standInClient } from "../queue/sqs/sqs.ts";
import { isKnownReason } from "./reason.ts";
import type { Failure, PublishedEvent, Target } from "./target.ts";
import { shownTargetName } from "./target-name.ts";
import { fileName } from "./targets/file.ts";
import { retryAfterMsOf } from "./targets/webhook.ts";
import { openTarget, targetSettingOf, targets } from "./targets.ts";

/** A place where events arrive. What arrives is held against the contract when it is read. */
interface Place extends AsyncDisposable {
  url: string;
  /** The bodies that have arrived so far, in order of arrival. */
  bodies(): Promise<string[]>;
}

async function openFolder(): Promise<Place & { folder: string }> {
  const folder = join(newFolder(), "published");
  return {
    folder,
    url: `file:${encodeURI(folder)}`,
    async bodies() {
      const text = readFileSync(join(folder, fileName), "utf8");
      expect(fileViolation(text)).toBeUndefined();
      return text.split("\n").slice(0, -1);
    },
    async [Symbol.asyncDispose]() {},
  };
}

const credentials = { accessKeyId: "none", secretAccessKey: "none" };

/** A topic of a server that speaks the protocols of Amazon SNS and SQS, with a queue that is subscribed to it. */
async function openTopic(): Promise<Place> {
  const server = buildApp({ logger: false });
  const endpoint = await server.listen({ host: "127.0.0.1", port: 0 });
  await createQueue(endpoint, { QueueName: "events" });
  const queue = await openQueue(`sqs+${endpoint}/000000000000/events`);
  const bodies: string[] = [];
  return {
    url: `sns+${endpoint}/${await createTopic(endpoint, "events", "events")}`,
    async bodies() {
      const deliveries = await queue.receive(100, 100, AbortSignal.timeout(testWaitMaxMs));
      await queue.acknowledge(deliveries);
      for (const { body } of deliveries) expect(sentViolation("publishToTopic", { body })).toBeUndefined();
      bodies.push(...deliveries.map(({ body }) => body));
      return bodies;
    },
    async [Symbol.asyncDispose]() {
      await queue[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

async function createQueue(endpoint: string, queue: CreateQueueCommandInput): Promise<void> {
  const client = standInClient(endpoint);
  await client.send(new CreateQueueCommand(queue));
  client.destroy();
}

/** Creates a topic to which a queue is subscribed. Resolves with its ARN. */
async function createTopic(endpoint: string, Name: string, queue: string): Promise<string | undefined> {
  const client = new SNSClient({ endpoint, region: "eu-west-2", credentials });
  const { TopicArn } = await client.send(new CreateTopicCommand({ Name }));
  await client.send(
    new SubscribeCommand({
      TopicArn,
      Protocol: "sqs",
      Endpoint: `arn:aws:sqs:us-east-1:000000000000:${queue}`,
      Attributes: { RawMessageDelivery: "true" },
    }),
  );
  client.destroy();
  return TopicArn;
}

const broker = process.env.TEST_AMQP_URL;

/** An exchange with a queue that is bound to it. */
async function openExchange() {
  const connection = await amqp.connect(broker ?? "");
  const channel = await connection.createChannel();
  const exchange = `test-${randomUUID()}`;
  await channel.assertExchange(exchange, "topic", { durable: true });
  const { queue } = await channel.assertQueue("", { exclusive: true });
  await channel.bindQueue(queue, exchange, "payment.*");
  const messages: ConsumeMessage[] = [];
  await channel.consume(queue, (message) => message && messages.push(message), { noAck: true });
  return {
    url: `${broker}?exchange=${exchange}`,
    messages,
    async bodies() {
      for (const message of messages) expect(exchangeViolation(message)).toBeUndefined();
      return messages.map(({ content }) => content.toString());
    },
    async [Symbol.asyncDispose]() {
      await channel.deleteExchange(exchange);
      await connection.close();
    },
  };
}

const fixtures: Fixtures<keyof typeof targets, Place> = {
  "file:": (title, tests) => describe(title, () => tests(openFolder)),
  "http:": (title, tests) => describe(title, () => tests(() => openWebhook())),
  "https:": { sameAs: "http:" },
  "sns+http:": (title, tests) => describe(title, () => tests(openTopic)),
  "sns+https:": { sameAs: "sns+http:" },
  "amqp:": (title, tests) =>
    describeIfAvailable("TEST_AMQP_URL", broker !== undefined)(title, () => tests(openExchange)),
  "amqps:": { sameAs: "amqp:" },
};

/** An event whose details are this text of JSON. */
const bodyOf = (number: number, details: string) =>
  `{"event_type":"PAYMENT_CREATED","resource_type":"payment","resource_external_id":"pay${number}",` +
  `"timestamp":"2024-03-05T09:14:22.018000Z","event_details":${details}}`;

const deliveryOf = (number: number, body = bodyOf(number, "{}")): PublishedEvent => ({
  id: String(number),
  key: `payment/pay${number}`,
  routingKey: "payment.PAYMENT_CREATED",
  timestamp: "2024-03-05T09:14:22.018000Z",
  body,
  contentType: "application/json",
});
const deliveries = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => deliveryOf(from + index));
const never = new AbortController().signal;

/** Sends events in as many calls as the target requires. */
async function sendAll(target: Target, all: PublishedEvent[]): Promise<(Failure | undefined)[]> {
  const failures: (Failure | undefined)[] = [];
  for (let from = 0; from < all.length; from += target.eventsAtATime)
    failures.push(...(await target.send(all.slice(from, from + target.eventsAtATime), never)));
  return failures;
}

describe("a scheme of targets", () => testFixtures(targets, fixtures));

describeOnAdapters("a target", fixtures, (make) => {
  test("gets every event, with its body as it is, of any size, in the order of the calls", async () => {
    await using place = await make();
    await using target = await openTarget(place.url);
    const odd = ['{"text":"Zoë 💷 \\u0000"}', '{"a": 1.10}', `{"long":"${"x".repeat(200_000)}"}`];
    const old = { ...deliveryOf(200), timestamp: "0001-01-01T00:00:00.000000Z" };
    const sent = [
      ...deliveries(0, 45),
      ...odd.map((details, index) => deliveryOf(100 + index, bodyOf(100 + index, details))),
      old,
    ];
    expect(await sendAll(target, sent)).toEqual(sent.map(() => undefined));
    const later = deliveries(300, 20);
    for (const delivery of later) await target.send([delivery], never);
    const bodiesOf = (all: PublishedEvent[]) => all.map(({ body }) => body);
    await eventually(async () =>
      expect((await place.bodies()).toSorted()).toEqual(bodiesOf([...sent, ...later]).toSorted()),
    );
    expect((await place.bodies()).slice(-20)).toEqual(bodiesOf(later));
  });
});

describe.each([
  ["a webhook", async () => `http://127.0.0.1:${await freePort()}/`],
  ["a topic", async () => `sns+http://127.0.0.1:${await freePort()}/arn:aws:sns:us-east-1:1:events`],
  ["an exchange", async () => `amqp://127.0.0.1:${await freePort()}/`],
])("%s that does not respond", (_title, makeUrl) => {
  test("rejects nothing, and fails with the reason", async () => {
    await using target = await openTarget(await makeUrl());
    const failures = await sendAll(target, deliveries(0, 2));
    expect(failures).toHaveLength(2);
    for (const failure of failures)
      expect(failure).toEqual({ cause: "unknown", reason: "there is no response (ECONNREFUSED)" });
  });
});

/** A server that responds to each request with a status and a text that quotes it. */
async function openQuoting(status: number, responseTo: (body: string) => string) {
  const server = createServer(async (request, response) => {
    const body = responseTo(await text(request));
    response.writeHead(status, { "content-type": "text/xml" }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A server that closes each connection of AMQP with this text. */
async function openClosingBroker(replyText: string) {
  const text = Buffer.from(replyText).subarray(0, 255);
  const method = Buffer.from([0, 10, 0, 50, 0x01, 0x40, text.length, ...text, 0, 0, 0, 0]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(method.length);
  const frame = Buffer.concat([Buffer.from([1, 0, 0]), size, method, Buffer.from([0xce])]);
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(frame));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describe("a target that quotes the event in its errors, at any length", () => {
  const person = "Planted Name planted@example.org 4242424242424242";
  const long = `${person} `.repeat(2000);
  const sent = [1, 2].map((number) => deliveryOf(number, JSON.stringify({ person })));
  const topic = "arn:aws:sns:us-east-1:1:events";
  const error = (code: string, message: string) =>
    `<ErrorResponse><Error><Code>${code}</Code><code>${message}</code><Message>${message}</Message></Error></ErrorResponse>`;
  const failed = (code: string) =>
    [0, 1]
      .map(
        (id) =>
          `<member><Id>${id}</Id><Code>${code}</Code><Message>${long}</Message><SenderFault>true</SenderFault></member>`,
      )
      .join("");
  const batch = (code: string) =>
    `<PublishBatchResponse><PublishBatchResult><Successful/><Failed>${failed(code)}</Failed></PublishBatchResult></PublishBatchResponse>`;
  const http = (status: number, response: string) => () => openQuoting(status, (body) => response + body);

  test.each<[string, string, () => Promise<{ address: string } & AsyncDisposable>, string]>([
    ["a webhook with 400", "http://ADDRESS/hook", http(400, long), "the target responded with 400"],
    ["a webhook with 500", "http://ADDRESS/hook", http(500, long), "the target responded with 500"],
    [
      "a topic that rejects events",
      `sns+http://ADDRESS/${topic}`,
      http(200, batch("InvalidParameter")),
      "the target responded with InvalidParameter",
    ],
    [
      "a topic whose codes quote",
      `sns+http://ADDRESS/${topic}`,
      http(200, batch(long)),
      "the target responded with an error",
    ],
    [
      "a topic whose codes have the number of a card",
      `sns+http://ADDRESS/${topic}`,
      http(200, batch("Card4242424242424242")),
      "the target responded with an error",
    ],
    [
      "a topic that rejects the request",
      `sns+http://ADDRESS/${topic}`,
      http(403, error("AuthorizationError", long)),
      "the target responded with 403 (AuthorizationErrorException)",
    ],
    [
      "a topic whose code for the request quotes",
      `sns+http://ADDRESS/${topic}`,
      http(400, error(long, long)),
      "the target responded with 400",
    ],
    [
      "a topic that does not speak the protocol",
      `sns+http://ADDRESS/${topic}`,
      http(404, long),
      "the target responded with 404",
    ],
    [
      "a broker that closes connections",
      "amqp://ADDRESS",
      () => openClosingBroker(person.repeat(9)),
      "there is no response",
    ],
  ])("%s: the reason has a status or a code, and nothing else of it", async (_title, url, open, reason) => {
    await using server = await open();
    await using target = await openTarget(url.replace("ADDRESS", server.address));
    const failures = await sendAll(target, sent);
    expect(failures).toHaveLength(2);
    for (const failure of failures) {
      expect(failure?.reason).toBe(reason);
      expect(isKnownReason(failure?.reason ?? "")).toBe(true);
      expect(Object.keys(failure ?? {}).toSorted()).toEqual(["cause", "reason"]);
    }
  });
});

describe("a webhook", () => {
  const [delivery] = deliveries(7, 1) as [PublishedEvent];

  /** The failure of an attempt that gets this reply. */
  async function failureOf(reply: Reply): Promise<Failure | undefined> {
    await using place = await openWebhook(() => reply);
    await using target = await openTarget(place.url);
    const [failure] = await target.send([delivery], never);
    return failure;
  }

  test("is signed as Standard Webhooks has it, with the same id in each attempt", async () => {
    let status = 500;
    await using place = await openWebhook(() => status);
    await using target = await openTarget(`${place.url}?shop=7&format=event&name=hook`);
    expect(await target.send([delivery], never)).toHaveLength(1);
    status = 202;
    expect(await target.send([delivery], never)).toEqual([undefined]);
    const attempt = { id: "7", body: delivery.body, contentType: "application/json", path: "/hook?shop=7" };
    expect(place.attempts).toEqual([attempt, attempt]);
    expect(place.received).toEqual([attempt]);
  });

  test("is not signed without a secret, or with that of another one, which a warning says", async () => {
    await using place = await openWebhook();
    const unsigned = place.url.replace(/:[^/]*@/, "");
    const other = `http://:whsec_${"b".repeat(32)}@${unsigned.slice("http://".length)}`;
    for (const url of [unsigned, other]) {
      const warn = vi.fn();
      await using target = await openTarget(url, warn);
      expect(await target.send([delivery], never)).toEqual([
        { cause: "unknown", reason: "the target responded with 401" },
      ]);
      expect(warn.mock.calls).toEqual(
        url === unsigned ? [["its events are not signed, since its URL has no secret"]] : [],
      );
    }
    expect(place.attempts).toEqual([]);
  });

  test.each([200, 201, 202, 204, 299])("confirms an event with the status %i", async (status) => {
    expect(await failureOf(status)).toBeUndefined();
  });

  const causes: Record<Failure["cause"], number[]> = {
    event: [400, 406, 409, 413, 415, 422, 501],
    target: [429, 503],
    unknown: [300, 301, 302, 307, 308, 401, 402, 403, 404, 405, 408, 410, 418, 421, 425, 500, 502, 504, 507],
  };
  const rows = Object.entries(causes).flatMap(([cause, all]) => all.map((status) => ({ status, cause })));

  test.each(rows)(
    "has a failure with the status $status, whose cause is: $cause",
    async ({ status, cause }) => {
      expect(await failureOf(status)).toEqual({ cause, reason: `the target responded with ${status}` });
    },
  );

  test("does not follow a redirect", async () => {
    await using place = await openWebhook(() => 308);
    await using target = await openTarget(place.url);
    await target.send([delivery], never);
    expect(place.attempts.map(({ path }) => path)).toEqual(["/hook"]);
  });

  test("says when it takes events again", async () => {
    for (const status of [429, 503])
      expect(await failureOf({ status, retryAfter: "7" })).toMatchObject({
        cause: "target",
        retryAfterMs: 7000,
      });
    expect(await failureOf({ status: 500, retryAfter: "7" })).not.toHaveProperty("retryAfterMs");
  });

  test.each([
    ["0", 0],
    ["120", 120_000],
    ["301", 300_000],
    ["99999999999999999999", 300_000],
    ["Fri, 05 Jan 2024 10:00:10 GMT", 10_000],
    ["Friday, 05-Jan-24 10:00:10 GMT", 10_000],
    ["Fri, 05 Jan 2024 11:00:00 GMT", 300_000],
    ["Fri, 05 Jan 2024 09:00:00 GMT", 0],
    ["", undefined],
    ["soon", undefined],
    ["-1", undefined],
    ["1.5", undefined],
  ])("says %j, which is %s milliseconds", (retryAfter, milliseconds) => {
    expect(retryAfterMsOf(retryAfter, Date.UTC(2024, 0, 5, 10))).toBe(milliseconds);
  });

  test("that closes the connection, or whose attempt is aborted, has not said whose failure it is", async () => {
    expect(await failureOf("closed")).toMatchObject({ cause: "unknown" });
    await using place = await openWebhook(() => "hangs");
    await using target = await openTarget(place.url);
    const stop = new AbortController();
    const sending = target.send([delivery], stop.signal);
    await eventually(() => expect(place.attempts).toHaveLength(1));
    stop.abort();
    expect(await sending).toEqual([{ cause: "unknown", reason: expect.any(String) }]);
  });
});

/** The target rejects the second of three events, and takes the others. */
async function rejectsSecond(place: Place, second: PublishedEvent, reason: string): Promise<void> {
  await using target = await openTarget(place.url);
  const [first, third] = [deliveryOf(1), deliveryOf(3)];
  const rejected = { cause: "event", reason };
  expect(await sendAll(target, [first, second, third])).toEqual([undefined, rejected, undefined]);
  await eventually(async () => expect((await place.bodies()).toSorted()).toEqual([first.body, third.body]));
}

describeIfAvailable("TEST_AMQP_URL", broker !== undefined)("an exchange", () => {
  test("gets no event whose type is too long for a routing key, and all others", async () => {
    await using place = await openExchange();
    const long = { ...deliveryOf(2), routingKey: `payment.${"Ä".repeat(200)}` };
    const reason = "the routing key is longer than 255 bytes, since the type of the event is";
    await rejectsSecond(place, long, reason);
  });

  test("gets persistent messages with the id, the type, the time and the routing key of the event", async () => {
    await using place = await openExchange();
    await using target = await openTarget(place.url);
    const body = JSON.stringify({
      ...{ specversion: "1.0", id: "1", source: "/s", type: "PAYMENT_CREATED", subject: "payment/pay1" },
      ...{ time: "2024-03-05T09:14:22.018000Z", datacontenttype: "application/json" },
      data: JSON.parse(bodyOf(1, "{}")),
    });
    const cloudEvent = { ...deliveryOf(1, body), contentType: "application/cloudevents+json" };
    const old = { ...deliveryOf(2), timestamp: "1066-10-14T09:00:00.000000Z" };
    expect(await target.send([cloudEvent, old], never)).toEqual([undefined, undefined]);
    await eventually(async () => expect(await place.bodies()).toHaveLength(2));
    expect(
      place.messages.map(({ content, fields: { routingKey }, properties }) => ({
        body: content.toString(),
        routingKey,
        deliveryMode: properties.deliveryMode,
        messageId: properties.messageId,
        contentType: properties.contentType,
        timestamp: properties.timestamp,
      })),
    ).toEqual([
      {
        body: cloudEvent.body,
        routingKey: "payment.PAYMENT_CREATED",
        deliveryMode: 2,
        messageId: "1",
        contentType: "application/cloudevents+json",
        timestamp: Date.parse("2024-03-05T09:14:22Z") / 1000,
      },
      {
        body: old.body,
        routingKey: "payment.PAYMENT_CREATED",
        deliveryMode: 2,
        messageId: "2",
        contentType: "application/json",
        timestamp: 0,
      },
    ]);
  });

  test("that is missing is declared, durable and of the type topic; an event that no queue accepts is confirmed", async () => {
    const exchange = `test-${randomUUID()}`;
    await using target = await openTarget(`${broker}?exchange=${exchange}`);
    expect(await target.send(deliveries(0, 1), never)).toEqual([undefined]);
    const connection = await amqp.connect(broker ?? "");
    const declare = async (type: string, options: { durable: boolean; autoDelete: boolean }) => {
      const channel = await connection.createChannel();
      channel.on("error", () => {});
      await channel.assertExchange(exchange, type, options);
      await channel.close();
    };
    // Another declaration than that of the exchange is an error.
    await declare("topic", { durable: true, autoDelete: false });
    await expect(declare("topic", { durable: false, autoDelete: false })).rejects.toThrow("durable");
    await expect(declare("direct", { durable: true, autoDelete: false })).rejects.toThrow("type");
    const channel = await connection.createChannel();
    await channel.deleteExchange(exchange);
    await connection.close();
  });

  test.each([
    [
      "a password that it rejects",
      (url: URL) => Object.assign(url, { password: "planted" }),
      "the target responded with 403",
    ],
    [
      "a virtual host that it does not have",
      (url: URL) => Object.assign(url, { pathname: "/planted" }),
      "there is no response",
    ],
    [
      "an exchange with a reserved name",
      (url: URL) => url.searchParams.set("exchange", "amq.planted"),
      "the target responded with 403",
    ],
  ])("of a broker with %s fails without its text", async (_title, change, reason) => {
    const url = new URL(broker ?? "");
    change(url);
    await using target = await openTarget(url.href);
    const [failure] = await target.send(deliveries(0, 1), never);
    expect(failure).toEqual({ cause: "unknown", reason });
  });

  test("that is gone meanwhile fails without a reason of the event, and gets events again when it is back", async () => {
    await using place = await openExchange();
    const exchange = new URL(place.url).searchParams.get("exchange") as string;
    await using target = await openTarget(place.url);
    await target.send(deliveries(0, 1), never);
    const connection = await amqp.connect(broker ?? "");
    const channel = await connection.createChannel();
    await channel.deleteExchange(exchange);
    await connection.close();
    const failures = await target.send(deliveries(1, 2), never);
    for (const failure of failures) {
      expect(failure).toEqual({ cause: "unknown", reason: expect.any(String) });
      expect(isKnownReason(failure?.reason ?? "")).toBe(true);
    }
    expect(failures).toHaveLength(2);
    // The closed connection is replaced, and the exchange declared again.
    await eventually(async () => expect(await target.send(deliveries(3, 1), never)).toEqual([undefined]));
  });
});

test("a FIFO topic has a group for each resource, and a deduplication id for each event", async () => {
  const server = buildApp({ logger: false });
  onTestFinished(() => server.close());
  const endpoint = await server.listen({ host: "127.0.0.1", port: 0 });
  const queues = new SQSClient({ endpoint, region: "us-east-1", credentials });
  const { QueueUrl } = await queues.send(
    new CreateQueueCommand({ QueueName: "events.fifo", Attributes: { FifoQueue: "true" } }),
  );
  await using target = await openTarget(
    `sns+${endpoint}/${await createTopic(endpoint, "events.fifo", "events.fifo")}`,
  );
  const ofResource = (number: number, key: string) => ({ ...deliveryOf(number), key });
  const zoe = "payment/Zoë 💷".padEnd(300, "x");
  for (const one of [ofResource(1, "payment/a"), ofResource(2, zoe), ofResource(3, "payment/a")])
    expect(await target.send([one], never)).toEqual([undefined]);
  // The event arrives once, although it is sent again.
  expect(await target.send([ofResource(3, "payment/a")], never)).toEqual([undefined]);
  const messages: Message[] = [];
  // Of a group, no message is received before the one in flight is deleted.
  const receive = async () => {
    const { Messages = [] } = await queues.send(
      new ReceiveMessageCommand({
        ...{ QueueUrl, MaxNumberOfMessages: 10 },
        MessageSystemAttributeNames: ["MessageGroupId", "MessageDeduplicationId"],
      }),
    );
    messages.push(...Messages);
    for (const { ReceiptHandle } of Messages)
      await queues.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    return Messages.length;
  };
  while ((await receive()) > 0);
  queues.destroy();
  for (const { Body: body = "", Attributes: headers = {} } of messages)
    expect(sentViolation("publishToTopic", { headers, body })).toBeUndefined();
  const arrived = messages
    .map(({ Body, Attributes }) => ({
      body: Body,
      id: Attributes?.MessageDeduplicationId,
      group: Attributes?.MessageGroupId ?? "",
    }))
    .toSorted((one, other) => ((one.id ?? "") < (other.id ?? "") ? -1 : 1));
  expect(arrived.map(({ body, id }) => [body, id])).toEqual(
    deliveries(1, 3).map(({ body, id }) => [body, id]),
  );
  const [first, second, third] = arrived.map(({ group }) => group);
  expect(third).toBe(first);
  expect(second).not.toBe(first);
  for (const { group } of arrived) expect(group).toMatch(/^[\x21-\x7e]{1,128}$/);
});

describe("a topic that does not take some events", () => {
  const sender = (id: number, code: string, isSenderFault: boolean) =>
    `<member><Id>${id}</Id><Code>${code}</Code><Message>text</Message><SenderFault>${isSenderFault}</SenderFault></member>`;

  /** The failures of three events if the topic responds with this. */
  async function failuresOf(status: number, body: string): Promise<(Failure | undefined)[]> {
    const server = createServer(async (request, response) => {
      await text(request);
      response.writeHead(status, { "content-type": "text/xml" }).end(body);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using target = await openTarget(`sns+http://127.0.0.1:${port}/arn:aws:sns:us-east-1:1:events`);
    const failures = await target.send(deliveries(0, 3), never);
    server.closeAllConnections();
    await server[Symbol.asyncDispose]();
    return failures;
  }

  test("says whose failure each is", async () => {
    const members = [
      sender(0, "InvalidParameter", true),
      sender(1, "InternalError", false),
      sender(2, "Throttled", true),
    ];
    const result = `<PublishBatchResult><Successful/><Failed>${members.join("")}</Failed></PublishBatchResult>`;
    expect(await failuresOf(200, `<PublishBatchResponse>${result}</PublishBatchResponse>`)).toEqual([
      { cause: "event", reason: "the target responded with InvalidParameter" },
      { cause: "unknown", reason: "the target responded with InternalError" },
      { cause: "target", reason: "the target responded with Throttled" },
    ]);
  });

  test.each([
    [400, "Throttling", "target"],
    [400, "InvalidParameterValue", "event"],
    [403, "AuthorizationError", "unknown"],
    [404, "NotFound", "unknown"],
  ])(
    "with the status %i and the code %s, all are failures whose cause is: %s",
    async (status, code, cause) => {
      const error = `<ErrorResponse><Error><Code>${code}</Code><Message>text</Message></Error></ErrorResponse>`;
      const failures = await failuresOf(status, error);
      expect(failures.map((failure) => failure?.cause)).toEqual([cause, cause, cause]);
    },
  );
});

test("a topic gets no event that is larger than 256 KiB, and all others", async () => {
  await using place = await openTopic();
  await rejectsSecond(place, deliveryOf(2, `"${"x".repeat(300_000)}"`), "the event is larger than 256 KiB");
});

describe("a file", () => {
  const append = async (url: string, from: number, count: number) => {
    await using target = await openTarget(url);
    return sendAll(target, deliveries(from, count));
  };

  test("whose last line is not complete gets the event again", async () => {
    await using place = await openFolder();
    await append(place.url, 0, 2);
    appendFileSync(join(place.folder, fileName), `{"number":2,"x":"${"y".repeat(200_000)}`);
    await append(place.url, 2, 1);
    expect(await place.bodies()).toEqual(deliveries(0, 3).map(({ body }) => body));
  });

  test("can be moved away while the target is open", async () => {
    await using place = await openFolder();
    await using target = await openTarget(place.url);
    await target.send(deliveries(0, 1), never);
    renameSync(join(place.folder, fileName), join(place.folder, "old.ndjson"));
    await target.send(deliveries(1, 1), never);
    expect(await place.bodies()).toEqual([deliveryOf(1).body]);
  });

  test("has an event on the disk, on a line of its own, before it is confirmed", async () => {
    await using place = await openFolder();
    await append(place.url, 0, 1);
    const path = join(place.folder, fileName);
    await using handle = await openFile(path);
    const linesAtSync: string[] = [];
    const prototype = Object.getPrototypeOf(handle) as { datasync(): Promise<void> };
    const datasync = prototype.datasync;
    using _spy = vi.spyOn(prototype, "datasync").mockImplementation(async function (this: typeof handle) {
      linesAtSync.push(readFileSync(path, "utf8"));
      await datasync.call(this);
      linesAtSync.push("on the disk");
    });
    await append(place.url, 1, 2);
    const lines = deliveries(0, 3)
      .map(({ body }) => `${body}\n`)
      .join("");
    expect(linesAtSync).toEqual([lines, "on the disk"]);
  });

  test("in a folder that cannot be made takes nothing", async () => {
    expect(await append("file:/dev/null/published", 0, 1)).toEqual([
      { cause: "unknown", reason: "the file cannot be written (ENOTDIR)" },
    ]);
  });

  test("is in a folder relative to the working directory", async () => {
    const folder = newFolder();
    await append(`file:${encodeURI(relative(process.cwd(), folder))}`, 0, 1);
    expect(readFileSync(join(folder, fileName), "utf8")).toBe(`${deliveryOf(0).body}\n`);
  });

  test.each([
    ["file:", "has no folder; it must be file:FOLDER"],
    ["file://?format=event", "has no folder; it must be file:FOLDER"],
    ["file://published/events", "has a host; it must be file:FOLDER"],
  ])("cannot have the URL %s", (url, error) => {
    expect(findUrlError(targets, url)).toBe(error);
  });
});

test("the name of a target has no credentials", () => {
  expect(targetSettingOf("https://:whsec_a@shop.test/hook?format=cloudevents")).toEqual({
    url: "https://:whsec_a@shop.test/hook?format=cloudevents",
    name: "https://shop.test/hook",
    format: "cloudevents",
    from: "newest",
    resource_types: undefined,
  });
  expect(
    targetSettingOf("file:/tmp/a?name=trial&from=beginning&resource_types=payment,refund"),
  ).toMatchObject({
    name: "trial",
    from: "beginning",
    resource_types: ["payment", "refund"],
  });
});

test.each([
  ["https://shop.test/services/T0/B0/SECRET", /^https:\/\/shop\.test \([\da-f]{6}\)$/],
  ["https://:secret@shop.test:8443/SECRET#SECRET", /^https:\/\/shop\.test:8443 \([\da-f]{6}\)$/],
  ["https://shop.test/", /^https:\/\/shop\.test$/],
  ["https://shop.test", /^https:\/\/shop\.test$/],
  [
    "sns+https://sns.eu-west-2.amazonaws.com/arn:aws:sns:eu-west-2:123456789012:card-payments.fifo",
    /^sns\+https:\/\/sns\.eu-west-2\.amazonaws\.com\/card-payments\.fifo \([\da-f]{6}\)$/,
  ],
  [
    "sns+http://[::1]:4566/arn%3Aaws%3Asns%3A%3A1%3Aevents",
    /^sns\+http:\/\/\[::1\]:4566\/events \([\da-f]{6}\)$/,
  ],
  ["amqp://broker:5672/vhost", /^amqp:\/\/broker:5672 \([\da-f]{6}\)$/],
  ["file:/var/lib/SECRET/published/", /^file:published \([\da-f]{6}\)$/],
  ["file:///var/published", /^file:published \([\da-f]{6}\)$/],
  ["file:published", /^file:published \([\da-f]{6}\)$/],
  ["payments", /^payments$/],
  ["orders: eu/west", /^orders: eu\/west$/],
])("the name %s is shown without the path of a URL", (name, shown) => {
  expect(shownTargetName(name)).toMatch(shown);
});

test("two webhooks of one host have different names where they are shown, and one has the same in every process", () => {
  const names = ["a", "b", "a"].map((path) => shownTargetName(`https://hooks.test/services/${path}`));
  expect(names[2]).toBe(names[0]);
  expect(names[1]).not.toBe(names[0]);
});

test.each([
  [23, false],
  [24, true],
  [64, true],
  [65, false],
])("a secret of %i bytes can be that of a webhook: %s", (bytes, isAccepted) => {
  const secret = encodeURIComponent(Buffer.alloc(bytes, 0xfe).toString("base64"));
  const error = findUrlError(targets, `https://:whsec_${secret}@shop.test/hook`);
  expect(error).toEqual(isAccepted ? undefined : expect.stringContaining("24 to 64 bytes as base64"));
});
