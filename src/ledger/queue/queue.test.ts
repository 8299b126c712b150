import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import amqp from "amqplib";
import { afterAll, describe, expect, test } from "vitest";
import { describeOnAdapters, type Fixtures, testFixtures } from "../../../testing/describe-adapters.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { freePort } from "../../../testing/free-port.ts";
import { newFolder } from "../../../testing/run.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { clientUrl } from "./address.ts";
import { receiveCount } from "./drain.fixture.ts";
import type { ReceivedMessage } from "./queue.ts";
import { openQueue, queues } from "./queues.ts";

const waitMs = 20_000;
const testTimeout = () => AbortSignal.timeout(testWaitMaxMs);

const broker = process.env.TEST_AMQP_URL;
const kafka = process.env.TEST_KAFKA_URL;

const fixtures: Fixtures<keyof typeof queues, string> = {
  "memory:": (title, tests) => describe(title, () => tests(async () => "memory:")),
  "sqs+embedded:": (title, tests) =>
    describe(title, () => tests(async () => `sqs+embedded:${newFolder()}?port=0`)),
  "sqs+http:": (title, tests) =>
    describe(title, () => {
      const servers = new AsyncDisposableStack();
      afterAll(() => servers.disposeAsync());
      tests(async () => {
        const server = `sqs+embedded:${newFolder()}?port=${await freePort()}`;
        servers.use(await openQueue(server));
        return clientUrl(server);
      });
    }),
  "sqs+https:": { sameAs: "sqs+http:" },
  "amqp:": (title, tests) =>
    describeIfAvailable("TEST_AMQP_URL", broker !== undefined)(title, () => {
      const names: string[] = [];
      tests(async () => {
        names.push(`test-${randomUUID()}`);
        return `${broker}?queue=${names.at(-1)}`;
      });
      afterAll(async () => {
        const connection = await amqp.connect(broker ?? "");
        const channel = await connection.createChannel();
        for (const name of names) await channel.deleteQueue(name);
        await connection.close();
      });
    }),
  "amqps:": { sameAs: "amqp:" },
  "kafka:": (title, tests) =>
    describeIfAvailable("TEST_KAFKA_URL", kafka !== undefined)(title, () =>
      tests(async () => `${kafka}/test-${randomUUID()}?group=test-${randomUUID()}`),
    ),
  "kafkas:": { sameAs: "kafka:" },
};

describeOnAdapters("a queue", fixtures, queueTests);
describe("a scheme of queues", () => testFixtures(queues, fixtures));

function queueTests(makeUrl: () => Promise<string>): void {
  test("messages are delivered unchanged, again after a delay if they are retried, and not again if they are acknowledged", async () => {
    await using queue = await openQueue(await makeUrl());
    expect(await queue.countWaiting()).toBe(0);
    const body = JSON.stringify({ text: "Zoë 💷 \\u0000", spaces: "  " });
    await queue.send([body, '"acknowledged"', '"long delay"']);
    await expect.poll(() => queue.countWaiting()).toBe(3);
    const deliveries = await receiveCount(queue, 3);
    const find = (text: string) => deliveries.find((one) => one.body === text) as ReceivedMessage;
    const [first, acknowledged] = [find(body), find('"acknowledged"')];
    expect(first).toMatchObject({ attempt: 1, size: Buffer.byteLength(body) });
    // Some brokers store it in seconds.
    expect(Math.abs((first.sentAt ?? 0) - Date.now())).toBeLessThan(testWaitMaxMs);

    await queue.acknowledge([acknowledged]);
    await queue.retry([acknowledged], 0).catch(() => {});
    await queue.retry([find('"long delay"')], 600_000);
    const retriedAt = Date.now();
    await queue.retry([first], 1000);
    const { id, sentAt } = first;
    const again = await receiveCount(queue, 1);
    expect(again).toMatchObject([{ id, sentAt, body, attempt: 2 }]);
    // A timer can end slightly early.
    expect(Date.now() - retriedAt).toBeGreaterThan(950);
    await queue.retry(again, 0);
    expect(await receiveCount(queue, 1)).toMatchObject([{ id, body, attempt: 3 }]);
  });

  test("many messages, some of them of 100 kB, are sent in one call and received in few", async () => {
    await using queue = await openQueue(await makeUrl());
    const small = Array.from({ length: 95 }, (_, index) => String(index));
    const large = Array.from({ length: 7 }, (_, index) => JSON.stringify(`${index}`.repeat(100_000)));
    const bodies = [...small, ...large];
    await queue.send(bodies);
    const all: ReceivedMessage[] = [];
    let calls = 0;
    for (; all.length < bodies.length; calls += 1)
      all.push(...(await queue.receive(100, waitMs, testTimeout())));
    expect(calls).toBeLessThan(32);
    expect(all.map(({ body }) => body).sort()).toEqual(bodies.sort());
    await queue.acknowledge(all);
  });

  test("a wait that times out or is aborted resolves with no delivery; many at a time cause no warning", async () => {
    await using queue = await openQueue(await makeUrl());
    const warnings: Error[] = [];
    const collect = (warning: Error) => void warnings.push(warning);
    process.on("warning", collect);
    const waits = Array.from({ length: 20 }, () => queue.receive(10, 50, testTimeout()));
    expect((await Promise.all(waits)).flat()).toEqual([]);
    process.off("warning", collect);
    expect(warnings).toEqual([]);
    expect(await queue.receive(10, waitMs, AbortSignal.timeout(50))).toEqual([]);
  });
}

test("the embedded queue keeps its messages when its process ends", async () => {
  const url = `sqs+embedded:${newFolder()}?port=0`;
  {
    await using queue = await openQueue(url);
    await queue.send(["1", "2", "3"]);
    await queue.acknowledge(await queue.receive(1, waitMs, testTimeout()));
  }
  await using queue = await openQueue(url);
  expect(await receiveCount(queue, 2)).toHaveLength(2);
});

test("the embedded queue listens on 127.0.0.1 and no other address", async () => {
  const port = await freePort();
  await using _queue = await openQueue(`sqs+embedded:${newFolder()}?port=${port}`);
  const accepts = (host: string) =>
    new Promise((resolve) => {
      const socket = connect(port, host, () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
  expect([await accepts("127.0.0.1"), await accepts("127.0.0.2")]).toEqual([true, false]);
});

test("the folder of an embedded queue can be opened by one process at a time", async () => {
  const url = `sqs+embedded:${newFolder()}?port=0`;
  await using _queue = await openQueue(url);
  await expect(openQueue(url)).rejects.toThrow("is in use by process");
});

test("the check of a queue that cannot be reached rejects", async () => {
  await using queue = await openQueue("sqs+http://127.0.0.1:9/000000000000/none");
  await expect(queue.countWaiting()).rejects.toThrow();
});
