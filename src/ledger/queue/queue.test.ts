import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import amqp from "amqplib";
import { afterAll, describe, expect, test } from "vitest";
import { describeOnAdapters, type Fixtures, testFixtures } from "../../../testing/describe-adapters.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { freePort } from "../../../testing/free-port.ts";
import { newFolder } from "../../../testing/run.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { clientUrl, type Delivery, openQueue, type Queue, queues } from "./queue.ts";

const waitMs = 20_000;
const testTimeout = () => AbortSignal.timeout(testWaitMaxMs);

/** Receives until there are this many deliveries. */
async function receive(queue: Queue, count: number): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  const stop = testTimeout();
  while (deliveries.length < count && !stop.aborted) {
    deliveries.push(...(await queue.receive(100, waitMs, stop)));
  }
  return deliveries;
}

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
      tests(async () => `${kafka}/test-${randomUUID()}`),
    ),
  "kafkas:": { sameAs: "kafka:" },
};

describeOnAdapters("a queue", fixtures, queueTests);
describe("a scheme of queues", () => testFixtures(queues, fixtures));

function queueTests(makeUrl: () => Promise<string>): void {
  test("a message is delivered unchanged", async () => {
    await using queue = await openQueue(await makeUrl());
    const body = JSON.stringify({ text: "Zoë 💷 \\u0000", spaces: "  " });
    await queue.send([body]);
    const [delivery] = await receive(queue, 1);
    expect(delivery?.body).toBe(body);
    expect(delivery?.attempt).toBe(1);
    // Some brokers store it in seconds.
    expect(Math.abs((delivery?.sentAt ?? 0) - Date.now())).toBeLessThan(testWaitMaxMs);
  });

  test("a retried message is delivered again with the same id after its delay", async () => {
    await using queue = await openQueue(await makeUrl());
    await queue.send(['"hello"']);
    const [first] = await receive(queue, 1);
    await queue.retry([first as Delivery], 1000);
    const [second] = await receive(queue, 1);
    expect(second).toMatchObject({ id: first?.id, body: '"hello"', attempt: 2, sentAt: first?.sentAt });
    await queue.retry([second as Delivery], 1000);
    expect((await receive(queue, 1))[0]).toMatchObject({ id: first?.id, attempt: 3 });
  });

  test("an acknowledged message is not delivered again, and others are", async () => {
    await using queue = await openQueue(await makeUrl());
    await queue.send(["1", "2"]);
    const [one, two] = await receive(queue, 2);
    await queue.acknowledge([one as Delivery]);
    await queue.retry([two as Delivery], 0);
    expect((await receive(queue, 1)).map(({ id }) => id)).toEqual([two?.id]);
  });

  test("an acknowledged message cannot be retried", async () => {
    await using queue = await openQueue(await makeUrl());
    await queue.send(["1"]);
    const deliveries = await receive(queue, 1);
    await queue.acknowledge(deliveries);
    await queue.retry(deliveries, 0).catch(() => {});
    expect(await queue.receive(1, waitMs, AbortSignal.timeout(1500))).toEqual([]);
  });

  test("many messages are sent and received in few calls", async () => {
    await using queue = await openQueue(await makeUrl());
    const bodies = Array.from({ length: 95 }, (_, index) => String(index));
    await queue.send(bodies);
    const all: Delivery[] = [];
    let calls = 0;
    for (; all.length < 95; calls += 1) all.push(...(await queue.receive(100, waitMs, testTimeout())));
    expect(calls).toBeLessThan(25);
    expect(all.map(({ body }) => body).sort()).toEqual(bodies.sort());
    await queue.acknowledge(all);
  });

  test("messages of 100 kB are sent in one call", async () => {
    await using queue = await openQueue(await makeUrl());
    const bodies = Array.from({ length: 7 }, (_, index) => JSON.stringify(`${index}`.repeat(100_000)));
    await queue.send(bodies);
    expect((await receive(queue, 7)).map(({ body }) => body).sort()).toEqual(bodies);
  });

  test("a wait that times out resolves with no delivery, and many concurrent waits cause no warning", async () => {
    await using queue = await openQueue(await makeUrl());
    const warnings: Error[] = [];
    const collect = (warning: Error) => void warnings.push(warning);
    process.on("warning", collect);
    const waits = Array.from({ length: 20 }, () => queue.receive(10, 50, AbortSignal.timeout(testWaitMaxMs)));
    expect((await Promise.all(waits)).flat()).toEqual([]);
    process.off("warning", collect);
    expect(warnings).toEqual([]);
  });

  test("an aborted wait resolves with no delivery", async () => {
    await using queue = await openQueue(await makeUrl());
    expect(await queue.receive(10, waitMs, AbortSignal.timeout(50))).toEqual([]);
  });

  test("the check returns the number of messages that wait", async () => {
    await using queue = await openQueue(await makeUrl());
    expect(await queue.check()).toEqual({ waiting: 0 });
    await queue.send(["1", "2"]);
    await expect.poll(() => queue.check()).toEqual({ waiting: 2 });
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
  expect(await receive(queue, 2)).toHaveLength(2);
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
  await expect(queue.check()).rejects.toThrow();
});
