import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import amqp, { type ChannelModel } from "amqplib";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFailed, test } from "vitest";
import { openTcpProxy } from "../../../simulation/tcp-proxy.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { run } from "../../../testing/run.ts";
import {
  installedRabbitmq,
  type Rabbitmq,
  rabbitmq4,
  startRabbitmq,
} from "../../../testing/servers/rabbitmq.ts";
import type { TestServer } from "../../../testing/servers/server.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { type Delivery, openQueue, type Queue } from "./queue.ts";

const waitMs = 20_000;

/** Each version is tested once. A machine whose installed RabbitMQ is 4 or newer has no other. */
const installed = installedRabbitmq();
const version4 = rabbitmq4();
describeIfAvailable("RabbitMQ", installed !== undefined)(`RabbitMQ ${installed?.version ?? ""}`, () =>
  brokerTests(installed),
);
if (version4 === undefined || version4.version !== installed?.version) {
  const requirement = "RabbitMQ 4 (npm run servers -- --install, as root)";
  describeIfAvailable(requirement, version4 !== undefined)(`RabbitMQ ${version4?.version ?? "4"}`, () =>
    brokerTests(version4),
  );
}

function brokerTests(rabbitmq: Rabbitmq | undefined): void {
  let server: TestServer;
  beforeAll(async () => {
    server = await startRabbitmq(() => rabbitmq);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  let name: string;
  let queue: Queue;
  beforeEach(async () => {
    onTestFailed(() => void process.stderr.write(`${server.lastOutput()}\n`));
    name = `test-${randomUUID()}`;
    queue = await openQueue(`${server.url}?queue=${name}`);
  });
  afterEach(() => queue[Symbol.asyncDispose]());

  const receive = (max = 100) => queue.receive(max, waitMs, AbortSignal.timeout(waitMs));
  /** Receives until there is a delivery, although calls can fail meanwhile. */
  const nextDelivery = (work: () => Promise<Delivery[]>) =>
    eventually(async () => {
      const [delivery] = await work();
      expect(delivery).toBeDefined();
      return delivery as Delivery;
    });
  async function onConnection(work: (connection: ChannelModel) => Promise<unknown>) {
    const connection = await amqp.connect(server.url);
    await work(connection);
    await connection.close();
  }

  test("delivers the in-flight messages again to the same receiver after it was killed", async () => {
    await queue.send(["1"]);
    const [first] = await receive();
    await server.kill();
    await expect(queue.check()).rejects.toThrow();
    await expect(queue.send(["2"])).rejects.toThrow();
    await expect(receive()).rejects.toThrow();
    await server.start();
    const again = await nextDelivery(receive);
    expect(again).toMatchObject({ id: first?.id, body: "1" });
    expect(again.attempt).toBeGreaterThan(1);
    // The acknowledgement of an earlier connection is ignored, although the delivery tags of the new one start again at 1.
    await queue.acknowledge([first as Delivery]);
    expect(await queue.receive(1, 300, AbortSignal.timeout(testWaitMaxMs))).toEqual([]);
    await queue[Symbol.asyncDispose]();
    queue = await openQueue(`${server.url}?queue=${name}`);
    expect((await nextDelivery(receive)).body).toBe("1");
  });

  test("keeps messages that are to be retried when it is killed immediately afterwards", async () => {
    const bodies = ["1", "2", "3", "4", "5"];
    await queue.send(bodies);
    const deliveries: Delivery[] = [];
    while (deliveries.length < bodies.length) deliveries.push(...(await receive()));
    await queue.retry(deliveries, 3000);
    await server.kill();
    await server.start();
    const seen = new Set<string>();
    await eventually(async () => {
      const again = await receive();
      for (const { body } of again) seen.add(body);
      await queue.acknowledge(again);
      expect([...seen].sort()).toEqual(bodies);
    });
  });

  test("delivers and accepts messages after it was killed while it created a queue for retries", async () => {
    await queue.send(["1"]);
    const deliveries = await receive();
    const retrying = queue.retry(deliveries, 4000).catch(() => {});
    await sleep(300);
    await server.kill();
    await retrying;
    await server.start();
    const again = await nextDelivery(receive);
    await Promise.allSettled([queue.retry([again], 4000)]);
    await eventually(() => queue.send(["2"]));
    const seen: string[] = [];
    while (seen.length < 2) seen.push(...(await receive()).map(({ body }) => body));
    expect(seen.sort()).toEqual(["1", "2"]);
  });

  test("ends the wait of a receiver when it stops, and delivers to it after a restart", async () => {
    const durable = `durable-${randomUUID()}`;
    await onConnection(async (connection) => (await connection.createChannel()).assertQueue(durable));
    await using durableQueue = await openQueue(`${server.url}?queue=${durable}`);
    await durableQueue.send(["durable"]);
    const waiting = receive().then(
      () => undefined,
      (error: Error) => error.message,
    );
    await queue.check();
    await sleep(200);
    await server.restart();
    expect(await waiting).toBe("the connection to the queue was lost");
    await eventually(() => queue.send(["hello"]));
    expect((await nextDelivery(receive)).body).toBe("hello");
    expect((await durableQueue.check()).waiting).toBe(1);
  });

  test("is used in the virtual host of the URL", async () => {
    await using ofUnknownHost = await openQueue(`${server.url}/no%2Fwhere`);
    await expect(ofUnknownHost.check()).rejects.toThrow("ConnectionClose");
  });

  test("accepts a message that was sent while it was suspended", async () => {
    await queue.send(["1"]);
    server.pause();
    const sending = queue.send(["2"]);
    await sleep(1000);
    server.resume();
    await sending;
    expect([
      (await nextDelivery(() => receive(1))).body,
      (await nextDelivery(() => receive(1))).body,
    ]).toEqual(["1", "2"]);
  });

  test("returns a retried message only to its own queue, whatever headers the producer set", async () => {
    const other = `other-${randomUUID()}`;
    await queue.check();
    await onConnection(async (connection) => {
      const channel = await connection.createConfirmChannel();
      await channel.assertQueue(other);
      const headers = { CC: [name, other], BCC: [name, other], "x-delay": 5, traceparent: "00-1-2-01" };
      channel.sendToQueue(name, Buffer.from("1"), { messageId: "m", headers });
      await channel.waitForConfirms();
      await channel.purgeQueue(other);
    });
    const [published] = await receive();
    for (let again = published as Delivery, times = 1; times <= 4; times++) {
      await queue.retry([again], 100);
      again = await nextDelivery(receive);
      expect(again).toMatchObject({ body: "1", id: published?.id, attempt: times + 1 });
      if (times === 4) await queue.acknowledge([again]);
    }
    expect(await queue.receive(1, 500, AbortSignal.timeout(5000))).toEqual([]);
    // The same applies to messages that `receive` has not returned before the end.
    await onConnection(async (connection) => {
      const channel = await connection.createConfirmChannel();
      channel.sendToQueue(name, Buffer.from("2"), { headers: { BCC: [other] } });
      await channel.waitForConfirms();
      await channel.purgeQueue(other);
    });
    await eventually(async () => expect(await queue.check()).toEqual({ waiting: 0 }));
    await queue[Symbol.asyncDispose]();
    queue = await openQueue(`${server.url}?queue=${name}`);
    expect(await nextDelivery(receive)).toMatchObject({ body: "2" });
    expect(await queue.receive(1, 500, AbortSignal.timeout(5000))).toEqual([]);
    await onConnection(async (connection) => {
      const channel = await connection.createChannel();
      expect(await channel.checkQueue(other)).toMatchObject({ messageCount: 0 });
    });
  });

  test("uses an existing queue of another type as it is", async () => {
    await queue[Symbol.asyncDispose]();
    name = `classic-${randomUUID()}`;
    await onConnection(async (connection) => {
      const channel = await connection.createChannel();
      await channel.assertQueue(name, { durable: false, maxPriority: 3, autoDelete: false });
    });
    queue = await openQueue(`${server.url}?queue=${name}`);
    await queue.send(["hello"]);
    const delivery = await nextDelivery(receive);
    await queue.retry([delivery], 100);
    expect(await nextDelivery(receive)).toMatchObject({ id: delivery.id, body: "hello", attempt: 2 });
  });

  test("uses the durable classic queue of a producer, and keeps its messages over a restart of the broker", async () => {
    await queue[Symbol.asyncDispose]();
    name = `classic-${randomUUID()}`;
    await onConnection(async (connection) => {
      const channel = await connection.createConfirmChannel();
      await channel.assertQueue(name);
      for (const body of ["1", "2", "💷"]) channel.sendToQueue(name, Buffer.from(body), { persistent: true });
      await channel.waitForConfirms();
    });
    await server.restart();
    const warnings: string[] = [];
    const openAgain = async () => {
      queue = await openQueue(`${server.url}?queue=${name}`, (warning) => warnings.push(warning));
    };
    await openAgain();
    const bodies = new Map<string, Delivery>();
    while (bodies.size < 3) for (const delivery of await receive()) bodies.set(delivery.body, delivery);
    await queue.acknowledge([bodies.get("1") as Delivery]);
    await queue.retry([bodies.get("2") as Delivery], 100);
    expect(await nextDelivery(receive)).toMatchObject({ body: "2", attempt: 2 });
    // Nothing that is in flight is lost with its connection. A classic queue does not count these deliveries.
    await queue[Symbol.asyncDispose]();
    await openAgain();
    const again: Delivery[] = [];
    while (again.length < 2) again.push(...(await receive()));
    expect(again.map(({ body, attempt }) => `${body} ${attempt}`).sort()).toEqual(["2 2", "💷 1"]);
    await queue.acknowledge(again);
    await eventually(async () => expect(await queue.check()).toEqual({ waiting: 0 }));
    expect(warnings).toEqual([]);
  });

  test("a producer that declares the ledger's queue as a classic one is rejected, and can still publish", async () => {
    await queue.check();
    await onConnection(async (connection) => {
      const declaring = await connection.createChannel();
      declaring.on("error", () => {});
      await expect(declaring.assertQueue(name)).rejects.toThrow("PRECONDITION_FAILED");
      const channel = await connection.createConfirmChannel();
      await channel.checkQueue(name);
      channel.sendToQueue(name, Buffer.from("1"));
      await channel.waitForConfirms();
    });
    expect(await nextDelivery(receive)).toMatchObject({ body: "1", attempt: 1 });
  });

  test("declares a quorum queue if there is none", async () => {
    await queue.check();
    await expect(
      onConnection(async (connection) => {
        connection.on("error", () => {});
        const channel = await connection.createChannel();
        channel.on("error", () => {});
        await channel.assertQueue(name, { arguments: { "x-queue-type": "classic" } });
      }),
    ).rejects.toThrow("quorum");
  });

  test("rejects a message if its queue was deleted, and declares the queue again for the next one", async () => {
    await queue.send(["1"]);
    await onConnection(async (connection) => (await connection.createChannel()).deleteQueue(name));
    await expect(queue.send(["2"])).rejects.toThrow(`there is no queue ${name}`);
    await expect(queue.check()).rejects.toThrow("404");
    await eventually(() => queue.send(["3"]));
    expect((await nextDelivery(receive)).body).toBe("3");
  });

  test("ends the wait of a receiver if its queue was deleted, and delivers from the new queue", async () => {
    const waiting = receive().catch((error: Error) => error.message);
    await queue.check();
    await sleep(200);
    await onConnection(async (connection) => (await connection.createChannel()).deleteQueue(name));
    expect(await waiting).toBe("the connection to the queue was lost");
    await queue.send(["hello"]);
    expect((await nextDelivery(receive)).body).toBe("hello");
  });

  test("delivers at most `prefetch` messages to a receiver, and the rest to the others", async () => {
    await queue[Symbol.asyncDispose]();
    queue = await openQueue(`${server.url}?queue=${name}&prefetch=3`);
    await using other = await openQueue(`${server.url}?queue=${name}&prefetch=3`);
    await queue.send(["1", "2", "3", "4", "5"]);
    const first: Delivery[] = [];
    while (first.length < 3) first.push(...(await receive()));
    expect(await queue.receive(1, 300, AbortSignal.timeout(testWaitMaxMs))).toEqual([]);
    const rest: Delivery[] = [];
    while (rest.length < 2) rest.push(...(await other.receive(100, waitMs, AbortSignal.timeout(waitMs))));
    expect([...first, ...rest].map(({ body }) => body).sort()).toEqual(["1", "2", "3", "4", "5"]);
  });

  test("has few messages in flight while they are large, and many when they are small", async () => {
    const inFlight = async (sent: number) => sent - (await queue.check()).waiting;
    await queue.send(Array.from({ length: 150 }, (_, index) => `${index}`.padEnd(900_000, "x")));
    const large = await receive();
    await eventually(async () => expect(await inFlight(150)).toBeGreaterThanOrEqual(30));
    await sleep(500);
    expect(await inFlight(150)).toBeLessThanOrEqual(40);
    await queue.acknowledge(large);
    for (let count = large.length; count < 150; ) {
      const received = await receive();
      await queue.acknowledge(received);
      count += received.length;
    }
    await queue.send(Array.from({ length: 2000 }, (_, index) => String(index)));
    for (let count = 0; count < 1000; ) {
      const received = await receive();
      await queue.acknowledge(received);
      count += received.length;
    }
    await eventually(async () => expect((await queue.check()).waiting).toBeLessThanOrEqual(1000 - 350));
  });

  test("keeps messages that ended receivers did not return, without counting them as failed deliveries", async () => {
    await queue[Symbol.asyncDispose]();
    name = `limited-${randomUUID()}`;
    await onConnection(async (connection) => {
      const channel = await connection.createChannel();
      await channel.assertQueue(name, { arguments: { "x-queue-type": "quorum", "x-delivery-limit": 2 } });
    });
    queue = await openQueue(`${server.url}?queue=${name}`);
    await queue.send(Array.from({ length: 50 }, (_, index) => String(index)));
    const seen: string[] = [];
    for (let round = 0; round < 5; round++) {
      await using receiver = await openQueue(`${server.url}?queue=${name}`);
      const received = await receiver.receive(5, waitMs, AbortSignal.timeout(waitMs));
      await receiver.acknowledge(received);
      seen.push(...received.map(({ body }) => body));
    }
    while (seen.length < 50) {
      const received = await receive();
      await queue.acknowledge(received);
      seen.push(...received.map(({ body }) => body));
    }
    expect(new Set(seen).size).toBe(50);
  });

  test("gives a message without an id the same id at every attempt, and retries one copy of it", async () => {
    await queue.check();
    await onConnection(async (connection) => {
      const channel = await connection.createConfirmChannel();
      channel.sendToQueue(name, Buffer.from([0x7b, 0xff, 0]), {
        messageId: undefined,
        contentEncoding: "gzip",
        headers: { "x-attempts": "abc", "x-delivery-count": -5 },
      });
      await channel.waitForConfirms();
    });
    const first = await nextDelivery(receive);
    await queue.retry([first], 100);
    await queue.retry([first], 100);
    expect(first.bytes).toEqual(Buffer.from([0x7b, 0xff, 0]));
    expect(await nextDelivery(receive)).toEqual({ ...first, attempt: 2, receipt: expect.any(String) });
    expect(await queue.receive(1, 300, AbortSignal.timeout(testWaitMaxMs))).toEqual([]);
  });

  test("does not lose a message whose producer gives every message the same id", async () => {
    await onConnection(async (connection) => {
      const channel = await connection.createConfirmChannel();
      await queue.check();
      for (const body of ["1", "2"]) channel.sendToQueue(name, Buffer.from(body), { messageId: "same" });
      await channel.waitForConfirms();
    });
    const ids = [(await nextDelivery(() => receive(1))).id, (await nextDelivery(() => receive(1))).id];
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^same [0-9a-f]{64}$/);
  });

  test("loses nothing although a receiver's connection breaks 25 times with every message in flight", async () => {
    await using proxy = await openTcpProxy(server.url);
    await using receiver = await openQueue(`${proxy.url}/?queue=${name}`);
    const bodies = Array.from({ length: 30 }, (_, index) => String(index));
    await queue.send(bodies);
    /** Receives until there are this many deliveries, although calls can fail meanwhile. */
    const receiveAll = async (count: number) => {
      const deliveries: Delivery[] = [];
      const deadline = AbortSignal.timeout(waitMs);
      while (deliveries.length < count && !deadline.aborted) {
        deliveries.push(...(await eventually(() => receiver.receive(100, 1000, deadline))));
      }
      return deliveries;
    };
    for (let times = 1; times <= 25; times++) {
      expect((await receiveAll(bodies.length)).map(({ body }) => body).sort()).toEqual(bodies.toSorted());
      proxy.resetConnections();
      await expect(receiver.receive(1, waitMs, AbortSignal.timeout(waitMs))).rejects.toThrow("was lost");
    }
    const last = await receiveAll(bodies.length);
    expect(last.map(({ body }) => body).sort()).toEqual(bodies.toSorted());
    await receiver.acknowledge(last);
    await eventually(async () => expect(await queue.check()).toEqual({ waiting: 0 }));
  });

  const quorum = { "x-queue-type": "quorum" };
  const isVersion4 = () => Number.parseInt(rabbitmq?.version ?? "", 10) >= 4;
  /** Declares a queue. Returns the warnings when it is opened, used, and used again on a new connection. */
  async function warningsOf(options: amqp.Options.AssertQueue): Promise<string[]> {
    await onConnection(async (connection) => (await connection.createChannel()).assertQueue(name, options));
    const warnings: string[] = [];
    await using proxy = await openTcpProxy(server.url);
    await using opened = await openQueue(`${proxy.url}/?queue=${name}`, (warning) => warnings.push(warning));
    await opened.check();
    proxy.resetConnections();
    await eventually(() => opened.check());
    return warnings;
  }
  const limitOf = (limit: number) => [
    expect.stringMatching(
      `^the queue ${name} has no dead-letter exchange and drops a message that was returned more than ${limit} times`,
    ),
  ];

  test.each([
    ["a delivery limit", { "x-delivery-limit": 2 }, 2],
    ["a large delivery limit", { "x-delivery-limit": 3_000_000_000 }, 3_000_000_000],
    [
      "a delivery limit and all other arguments of a queue",
      {
        "x-delivery-limit": 5,
        "x-expires": 100_000,
        "x-message-ttl": 70_000,
        "x-max-length": 100,
        "x-max-length-bytes": 10_000_000_000,
        "x-overflow": "reject-publish",
        "x-single-active-consumer": true,
        "x-quorum-initial-group-size": 1,
        "x-queue-leader-locator": "client-local",
      },
      5,
    ],
  ])("warns of a queue with %s", async (_title, queueArguments, limit) => {
    expect(await warningsOf({ arguments: { ...quorum, ...queueArguments } })).toEqual(limitOf(limit));
  });

  test("warns of a queue with the default limit of the broker's version", async () => {
    expect(await warningsOf({ arguments: quorum })).toEqual(isVersion4() ? limitOf(20) : []);
  });

  test("warns of a queue with a limit of -1, which is the smallest for an older broker", async () => {
    const options = { arguments: { ...quorum, "x-delivery-limit": -1 } };
    expect(await warningsOf(options)).toEqual(isVersion4() ? [] : limitOf(-1));
  });

  test("warns of a queue whose arguments cannot be determined", async () => {
    name = `long-${"x".repeat(190)}`;
    const options = { arguments: { ...quorum, "x-delivery-limit": 3 } };
    expect(await warningsOf(options)).toEqual([
      expect.stringMatching(`^it is unknown whether the queue ${name} drops`),
    ]);
  });

  test.each([
    [
      "quorum queue with a delivery limit and a dead-letter exchange",
      { deadLetterExchange: "it's 'none'", arguments: { ...quorum, "x-delivery-limit": 2 } },
    ],
    [
      "quorum queue with a dead-letter exchange and no limit of its own",
      { deadLetterExchange: "", arguments: quorum },
    ],
    ["classic queue", { maxPriority: 3, messageTtl: 60_000, arguments: { "x-queue-mode": "lazy" } }],
    ["classic queue in memory", { durable: false }],
    ["classic queue that is deleted with its last receiver", { autoDelete: true }],
  ])("does not warn of a %s", async (_title, options) => {
    expect(await warningsOf(options)).toEqual([]);
  });

  test("does not warn of a queue that it has declared", async () => {
    await queue.check();
    const warnings: string[] = [];
    await using again = await openQueue(`${server.url}?queue=${name}`, (warning) => warnings.push(warning));
    await again.check();
    expect(warnings).toEqual([]);
  });

  test("warns in the log of the ledger", async () => {
    const options = { arguments: { ...quorum, "x-delivery-limit": 2 } };
    await onConnection(async (connection) => (await connection.createChannel()).assertQueue(name, options));
    const env = {
      DATABASE_URL: "pglite:memory",
      LEDGER_PORT: "0",
      QUEUE_URL: `${server.url}?queue=${name}`,
      LOG_LEVEL: "warn",
    };
    const ledger = run("src/main.ts", { args: ["ledger"], env });
    await ledger.waitForOutput("more than 2 times");
    ledger.child.kill("SIGTERM");
    const { output } = await ledger.exit;
    expect(
      output
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).level),
    ).toEqual([40]);
  });

  test.each([
    [
      "accepts no more messages for now",
      async (connection: ChannelModel) => {
        const channel = await connection.createConfirmChannel();
        const filling = async () => {
          for (;;) {
            channel.sendToQueue(name, Buffer.from("filling"));
            await channel.waitForConfirms();
          }
        };
        await expect(filling()).rejects.toThrow("nack");
      },
    ],
    [
      "is deleted for now",
      async (connection: ChannelModel) => void (await (await connection.createChannel()).deleteQueue(name)),
    ],
  ])("keeps a message that is to be retried in a queue that %s", async (_title, fault) => {
    const full = { ...quorum, "x-max-length": 1, "x-overflow": "reject-publish" };
    await onConnection(async (connection) =>
      (await connection.createChannel()).assertQueue(name, { arguments: full }),
    );
    await queue.send(["1"]);
    await queue.retry([await nextDelivery(receive)], 1500);
    await queue[Symbol.asyncDispose]();
    await onConnection(fault);
    // Twice as long as the retry delay.
    await sleep(3000);
    queue = await openQueue(`${server.url}?queue=${name}`);
    const seen: string[] = [];
    await eventually(async () => {
      const received = await queue.receive(100, 1000, AbortSignal.timeout(waitMs));
      await queue.acknowledge(received);
      seen.push(...received.map(({ body }) => body));
      expect(seen).toContain("1");
    });
    expect(seen.filter((body) => body !== "filling")).toEqual(["1"]);
  });

  test("declares a queue for retried messages that does not expire", async () => {
    await queue.send(["1"]);
    await queue.retry([await nextDelivery(receive)], 100);
    await onConnection(async (connection) => {
      const channel = await connection.createChannel();
      await channel.assertQueue(`${name}.retry.100`, {
        messageTtl: 100,
        deadLetterExchange: "",
        deadLetterRoutingKey: name,
        arguments: { ...quorum, "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" },
      });
    });
  });

  test("delivers the in-flight messages of a suspended receiver to another one within 20 seconds", async () => {
    await queue.send(["1"]);
    const program = `
      const { openQueue } = await import(${JSON.stringify(new URL("queue.ts", import.meta.url))});
      const queue = await openQueue(${JSON.stringify(`${server.url}?queue=${name}`)});
      const [{ body }] = await queue.receive(1, ${waitMs}, AbortSignal.timeout(${waitMs}));
      console.log(body);`;
    const receiver = spawn(process.execPath, ["--input-type=module", "--eval", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await once(receiver.stdout, "data");
      receiver.kill("SIGSTOP");
      const [delivery] = await queue.receive(1, 20_000, AbortSignal.timeout(20_000));
      expect(delivery).toMatchObject({ body: "1" });
    } finally {
      receiver.kill("SIGKILL");
    }
  });
}
