import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync, renameSync } from "node:fs";
import { join, relative } from "node:path";
import { CreateTopicCommand, SNSClient, SubscribeCommand } from "@aws-sdk/client-sns";
import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import amqp from "amqplib";
import { buildApp } from "fauxqs";
import { describe, expect, test } from "vitest";
import { describeOnAdapters, type Fixtures, testFixtures } from "../../../testing/describe-adapters.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { freePort } from "../../../testing/free-port.ts";
import { newFolder } from "../../../testing/run.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { openWebhook } from "../../../testing/webhook.ts";
import { findUrlError } from "../../process/adapter.ts";
import { openQueue } from "../queue/queue.ts";
import { standInClient } from "../queue/sqs.ts";
import { type Delivery, openTarget, targetSettingOf, targets } from "./target.ts";
import { fileName } from "./targets/file.ts";

/** A place where events arrive. */
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
    bodies: async () => readFileSync(join(folder, fileName), "utf8").split("\n").slice(0, -1),
    async [Symbol.asyncDispose]() {},
  };
}

/** A topic of a server that speaks the protocols of Amazon SNS and SQS, with a queue that is subscribed to it. */
async function openTopic(): Promise<Place> {
  const server = buildApp({ logger: false });
  const endpoint = await server.listen({ host: "127.0.0.1", port: 0 });
  const QueueName = "events";
  const sqs = standInClient(endpoint);
  await sqs.send(new CreateQueueCommand({ QueueName }));
  sqs.destroy();
  const queue = await openQueue(`sqs+${endpoint}/000000000000/${QueueName}`);
  const credentials = { accessKeyId: "none", secretAccessKey: "none" };
  const client = new SNSClient({ endpoint, region: "us-east-1", credentials });
  const { TopicArn } = await client.send(new CreateTopicCommand({ Name: "events" }));
  await client.send(
    new SubscribeCommand({
      TopicArn,
      Protocol: "sqs",
      Endpoint: "arn:aws:sqs:us-east-1:000000000000:events",
      Attributes: { RawMessageDelivery: "true" },
    }),
  );
  client.destroy();
  const bodies: string[] = [];
  return {
    url: `sns+${endpoint}/${TopicArn}`,
    async bodies() {
      const deliveries = await queue.receive(100, 100, AbortSignal.timeout(testWaitMaxMs));
      await queue.acknowledge(deliveries);
      bodies.push(...deliveries.map(({ body }) => body));
      return bodies;
    },
    async [Symbol.asyncDispose]() {
      await queue[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

const broker = process.env.TEST_AMQP_URL;

/** An exchange with a queue that is bound to it. */
async function openExchange(): Promise<Place> {
  const connection = await amqp.connect(broker ?? "");
  const channel = await connection.createChannel();
  const exchange = `test-${randomUUID()}`;
  await channel.assertExchange(exchange, "topic", { durable: true });
  const { queue } = await channel.assertQueue("", { exclusive: true });
  await channel.bindQueue(queue, exchange, "payment.*");
  const bodies: string[] = [];
  await channel.consume(queue, (message) => message && bodies.push(message.content.toString()), {
    noAck: true,
  });
  return {
    url: `${broker}?exchange=${exchange}`,
    bodies: async () => bodies,
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

const deliveryOf = (number: number, body = `{"number":${number}}`): Delivery => ({
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

describe("a scheme of targets", () => testFixtures(targets, fixtures));

describeOnAdapters("a target", fixtures, (make) => {
  test("gets every event, with its body as it is, of any size, in the order of the calls", async () => {
    await using place = await make();
    await using target = await openTarget(place.url);
    const odd = ['{"text":"Zoë 💷 \\u0000"}', '{"a": 1.10}', `{"long":"${"x".repeat(200_000)}"}`];
    const old = { ...deliveryOf(200), timestamp: "0001-01-01T00:00:00.000000Z" };
    const sent = [...deliveries(0, 45), ...odd.map((body, index) => deliveryOf(100 + index, body)), old];
    expect(await target.send(sent, never)).toEqual(sent.map(() => undefined));
    const later = deliveries(300, 20);
    for (const delivery of later) await target.send([delivery], never);
    const bodiesOf = (all: Delivery[]) => all.map(({ body }) => body);
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
    const failures = await target.send(deliveries(0, 2), never);
    expect(failures).toHaveLength(2);
    for (const failure of failures)
      expect(failure).toEqual({ isRejected: false, reason: expect.stringMatching(/ECONNREFUSED|connect/) });
  });
});

describe("a webhook", () => {
  test("is signed as Standard Webhooks has it, with the same id in each attempt", async () => {
    let status = 500;
    await using place = await openWebhook(() => status);
    await using target = await openTarget(place.url);
    const [delivery] = deliveries(7, 1) as [Delivery];
    expect(await target.send([delivery], never)).toEqual([
      { isRejected: true, reason: "the target responded with 500" },
    ]);
    status = 202;
    expect(await target.send([delivery], never)).toEqual([undefined]);
    expect(place.received).toEqual([{ id: "7", body: delivery.body, contentType: "application/json" }]);
  });

  test("rejects the event with some statuses; with others, it takes nothing", async () => {
    let status = 0;
    await using place = await openWebhook(() => status);
    await using target = await openTarget(place.url);
    const rejecting = [400, 409, 422, 500];
    for (status of [...rejecting, 301, 401, 403, 404, 410, 429, 502, 503, 504])
      expect(await target.send(deliveries(0, 1), never)).toEqual([
        { isRejected: rejecting.includes(status), reason: `the target responded with ${status}` },
      ]);
  });

  test("that takes nothing gets no request for each event", async () => {
    await using place = await openWebhook(() => 0);
    await using target = await openTarget(place.url);
    const failures = await target.send(deliveries(0, 200), never);
    expect(failures).toHaveLength(200);
    expect(failures.every((failure) => failure?.isRejected === false)).toBe(true);
    expect(place.attempts.length).toBeLessThanOrEqual(20);
  });
});

/** The target rejects the second of three events, and takes the others. */
async function rejectsSecond(place: Place, second: Delivery, reason: string): Promise<void> {
  await using target = await openTarget(place.url);
  const [first, third] = [deliveryOf(1), deliveryOf(3)];
  const rejected = { isRejected: true, reason };
  expect(await target.send([first, second, third], never)).toEqual([undefined, rejected, undefined]);
  await eventually(async () => expect((await place.bodies()).toSorted()).toEqual([first.body, third.body]));
}

describeIfAvailable("TEST_AMQP_URL", broker !== undefined)("an exchange", () => {
  test("gets no event whose type is too long for a routing key, and all others", async () => {
    await using place = await openExchange();
    const long = { ...deliveryOf(2), routingKey: `payment.${"Ä".repeat(200)}` };
    const reason = "the routing key is longer than 255 bytes, since the type of the event is";
    await rejectsSecond(place, long, reason);
  });
});

test("a topic gets no event that is larger than 256 KiB, and all others", async () => {
  await using place = await openTopic();
  await rejectsSecond(place, deliveryOf(2, `"${"x".repeat(300_000)}"`), "the event is larger than 256 KiB");
});

describe("a file", () => {
  const append = async (url: string, from: number, count: number) => {
    await using target = await openTarget(url);
    return target.send(deliveries(from, count), never);
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

  test("in a folder that cannot be made takes nothing", async () => {
    expect(await append("file:/dev/null/published", 0, 1)).toEqual([
      { isRejected: false, reason: expect.stringContaining("ENOTDIR") },
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
  [23, false],
  [24, true],
  [64, true],
  [65, false],
])("a secret of %i bytes can be that of a webhook: %s", (bytes, isAccepted) => {
  const secret = encodeURIComponent(Buffer.alloc(bytes, 0xfe).toString("base64"));
  const error = findUrlError(targets, `https://:whsec_${secret}@shop.test/hook`);
  expect(error).toEqual(isAccepted ? undefined : expect.stringContaining("24 to 64 bytes as base64"));
});
