import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import amqp from "amqplib";
import { afterAll, describe, expect, test } from "vitest";
import { describeOnAdapters, type Fixtures, testFixtures } from "../../../testing/describe-adapters.ts";
import { describeNeeding } from "../../../testing/describe-needing.ts";
import { freePort } from "../../../testing/free-port.ts";
import { patienceMs } from "../../../testing/patience.ts";
import { clientUrl, type Delivery, openQueue, type Queue, queues } from "./queue.ts";

const folders: string[] = [];
function folder() {
  folders.push(mkdtempSync(join(tmpdir(), "queue-")));
  return folders.at(-1) as string;
}
afterAll(() => {
  for (const name of folders) rmSync(name, { recursive: true });
});

const waitMs = 20_000;
const soon = () => AbortSignal.timeout(patienceMs);

/** Receives until there are this many. */
async function take(queue: Queue, count: number): Promise<Delivery[]> {
  const taken: Delivery[] = [];
  const stop = soon();
  while (taken.length < count && !stop.aborted) taken.push(...(await queue.receive(100, waitMs, stop)));
  return taken;
}

const broker = process.env.TEST_AMQP_URL;

const fixtures: Fixtures<keyof typeof queues, string> = {
  "memory:": (title, tests) => describe(title, () => tests(async () => "memory:")),
  "sqs+embedded:": (title, tests) =>
    describe(title, () => tests(async () => `sqs+embedded:${folder()}?port=0`)),
  "sqs+http:": (title, tests) =>
    describe(title, () => {
      const servers = new AsyncDisposableStack();
      afterAll(() => servers.disposeAsync());
      tests(async () => {
        const server = `sqs+embedded:${folder()}?port=${await freePort()}`;
        servers.use(await openQueue(server));
        return clientUrl(server);
      });
    }),
  "sqs+https:": { sameAs: "sqs+http:" },
  "amqp:": (title, tests) =>
    describeNeeding("TEST_AMQP_URL", broker !== undefined)(title, () => {
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
};

describeOnAdapters("a queue", fixtures, promises);
describe("a scheme of queues", () => testFixtures(queues, fixtures));

function promises(makeUrl: () => Promise<string>): void {
  test("what is sent is delivered, unchanged", async () => {
    await using queue = await openQueue(await makeUrl());
    const body = JSON.stringify({ text: "Zoë 💷 \\u0000", spaces: "  " });
    await queue.send([body]);
    const [delivery] = await take(queue, 1);
    expect(JSON.parse(delivery?.body ?? "")).toEqual(JSON.parse(body));
    expect(delivery?.attempt).toBe(1);
    // Some brokers know it to the second.
    expect(Math.abs((delivery?.sentAt ?? 0) - Date.now())).toBeLessThan(patienceMs);
  });

  test("a delivery put back comes again, as the same message, after its pause", async () => {
    await using queue = await openQueue(await makeUrl());
    await queue.send(['"hello"']);
    const [first] = await take(queue, 1);
    await queue.retry([first as Delivery], 1000);
    const [second] = await take(queue, 1);
    expect(second).toMatchObject({ id: first?.id, body: '"hello"', attempt: 2, sentAt: first?.sentAt });
    await queue.retry([second as Delivery], 1000);
    expect((await take(queue, 1))[0]).toMatchObject({ id: first?.id, attempt: 3 });
  });

  test("a delivery acknowledged does not come again, its neighbours do", async () => {
    await using queue = await openQueue(await makeUrl());
    await queue.send(["1", "2"]);
    const [one, two] = await take(queue, 2);
    await queue.acknowledge([one as Delivery]);
    await queue.retry([two as Delivery], 0);
    expect((await take(queue, 1)).map(({ id }) => id)).toEqual([two?.id]);
  });

  test("a delivery acknowledged cannot be put back", async () => {
    await using queue = await openQueue(await makeUrl());
    await queue.send(["1"]);
    const taken = await take(queue, 1);
    await queue.acknowledge(taken);
    await queue.retry(taken, 0).catch(() => {});
    expect(await queue.receive(1, waitMs, AbortSignal.timeout(1500))).toEqual([]);
  });

  test("many messages are sent and received in few calls", async () => {
    await using queue = await openQueue(await makeUrl());
    const bodies = Array.from({ length: 95 }, (_, index) => String(index));
    await queue.send(bodies);
    const all: Delivery[] = [];
    let calls = 0;
    for (; all.length < 95; calls += 1) all.push(...(await queue.receive(100, waitMs, soon())));
    expect(calls).toBeLessThan(25);
    expect(all.map(({ body }) => body).sort()).toEqual(bodies.sort());
    await queue.acknowledge(all);
  });

  test("messages of 100 kB are sent side by side", async () => {
    await using queue = await openQueue(await makeUrl());
    const bodies = Array.from({ length: 7 }, (_, index) => JSON.stringify(`${index}`.repeat(100_000)));
    await queue.send(bodies);
    expect((await take(queue, 7)).map(({ body }) => body).sort()).toEqual(bodies);
  });

  test("a wait that is over ends with nothing, and many at a time warn of nothing", async () => {
    await using queue = await openQueue(await makeUrl());
    const warnings: Error[] = [];
    const keep = (warning: Error) => void warnings.push(warning);
    process.on("warning", keep);
    const waits = Array.from({ length: 20 }, () => queue.receive(10, 50, AbortSignal.timeout(patienceMs)));
    expect((await Promise.all(waits)).flat()).toEqual([]);
    process.off("warning", keep);
    expect(warnings).toEqual([]);
  });

  test("a stop ends the waiting with nothing", async () => {
    await using queue = await openQueue(await makeUrl());
    expect(await queue.receive(10, waitMs, AbortSignal.timeout(50))).toEqual([]);
  });

  test("a queue that is there is healthy, and tells how many messages wait", async () => {
    await using queue = await openQueue(await makeUrl());
    expect(await queue.check()).toEqual({ waiting: 0 });
    await queue.send(["1", "2"]);
    await expect.poll(() => queue.check()).toEqual({ waiting: 2 });
  });
}

test("the embedded queue keeps its messages when its process ends", async () => {
  const url = `sqs+embedded:${folder()}?port=0`;
  {
    await using queue = await openQueue(url);
    await queue.send(["1", "2", "3"]);
    await queue.acknowledge(await queue.receive(1, waitMs, soon()));
  }
  await using queue = await openQueue(url);
  expect(await take(queue, 2)).toHaveLength(2);
});

test("the embedded queue answers on the loopback address 127.0.0.1 and no other", async () => {
  const port = await freePort();
  await using _queue = await openQueue(`sqs+embedded:${folder()}?port=${port}`);
  const answers = (host: string) =>
    new Promise((resolve) => {
      const socket = connect(port, host, () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
  expect([await answers("127.0.0.1"), await answers("127.0.0.2")]).toEqual([true, false]);
});

test("the folder of an embedded queue has one owner", async () => {
  const url = `sqs+embedded:${folder()}?port=0`;
  await using _queue = await openQueue(url);
  await expect(openQueue(url)).rejects.toThrow("is in use by another process");
});

test("a queue that is not there is not healthy", async () => {
  await using queue = await openQueue("sqs+http://127.0.0.1:9/000000000000/none");
  await expect(queue.check()).rejects.toThrow();
});
