import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import amqp, { type ChannelModel } from "amqplib";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openLine } from "../../../simulation/line.ts";
import { describeNeeding } from "../../../testing/describe-needing.ts";
import { eventually } from "../../../testing/eventually.ts";
import { patienceMs } from "../../../testing/patience.ts";
import { run } from "../../../testing/run.ts";
import {
  machinesRabbitmq,
  type Rabbitmq,
  rabbitmq4,
  startRabbitmq,
} from "../../../testing/servers/rabbitmq.ts";
import type { TestServer } from "../../../testing/servers/server.ts";
import { type Delivery, openQueue, type Queue } from "./queue.ts";

const waitMs = 20_000;

/** Each version once: a machine whose own RabbitMQ is 4 or newer has no other. */
const own = machinesRabbitmq();
const newer = rabbitmq4();
describeNeeding("RabbitMQ", own !== undefined)(`RabbitMQ ${own?.version ?? ""}`, () => promises(own));
if (newer === undefined || newer.version !== own?.version) {
  const needed = "RabbitMQ 4 (npm run servers -- --install, as root)";
  describeNeeding(needed, newer !== undefined)(`RabbitMQ ${newer?.version ?? "4"}`, () => promises(newer));
}

function promises(rabbitmq: Rabbitmq | undefined): void {
  let server: TestServer;
  beforeAll(async () => {
    server = await startRabbitmq(() => rabbitmq);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  let name: string;
  let queue: Queue;
  beforeEach(async () => {
    name = `test-${randomUUID()}`;
    queue = await openQueue(`${server.url}?queue=${name}`);
  });
  afterEach(() => queue[Symbol.asyncDispose]());

  const receive = (max = 100) => queue.receive(max, waitMs, AbortSignal.timeout(waitMs));
  /** The next delivery, through whatever the queue goes through meanwhile. */
  const delivered = (work: () => Promise<Delivery[]>) =>
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

  test("delivers again what was in hand when it was killed, to the same receiver", async () => {
    await queue.send(["1"]);
    const [first] = await receive();
    await server.kill();
    await expect(queue.check()).rejects.toThrow();
    await expect(queue.send(["2"])).rejects.toThrow();
    await expect(receive()).rejects.toThrow();
    await server.start();
    const again = await delivered(receive);
    expect(again).toMatchObject({ id: first?.id, body: "1" });
    expect(again.attempt).toBeGreaterThan(1);
    // What was in hand before is nothing to the new connection, although it counts its deliveries anew.
    await queue.acknowledge([first as Delivery]);
    expect(await queue.receive(1, 300, AbortSignal.timeout(patienceMs))).toEqual([]);
    await queue[Symbol.asyncDispose]();
    queue = await openQueue(`${server.url}?queue=${name}`);
    expect((await delivered(receive)).body).toBe("1");
  });

  test("keeps messages that are to be retried when it is killed immediately afterwards", async () => {
    const bodies = ["1", "2", "3", "4", "5"];
    await queue.send(bodies);
    const taken: Delivery[] = [];
    while (taken.length < bodies.length) taken.push(...(await receive()));
    await queue.retry(taken, 3000);
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

  test("holds nobody up by a queue for pauses that it was making when it was killed", async () => {
    await queue.send(["1"]);
    const taken = await receive();
    const puttingBack = queue.retry(taken, 4000).catch(() => {});
    await sleep(300);
    await server.kill();
    await puttingBack;
    await server.start();
    const again = await delivered(receive);
    await Promise.allSettled([queue.retry([again], 4000)]);
    await eventually(() => queue.send(["2"]));
    const seen: string[] = [];
    while (seen.length < 2) seen.push(...(await receive()).map(({ body }) => body));
    expect(seen.sort()).toEqual(["1", "2"]);
  });

  test("ends the wait of a receiver when it stops, and serves it when it is back", async () => {
    const durable = `durable-${randomUUID()}`;
    await onConnection(async (connection) => (await connection.createChannel()).assertQueue(durable));
    await using kept = await openQueue(`${server.url}?queue=${durable}`);
    await kept.send(["kept"]);
    const waiting = receive().then(
      () => undefined,
      (error: Error) => error.message,
    );
    await queue.check();
    await sleep(200);
    await server.restart();
    expect(await waiting).toBe("the connection to the queue was lost");
    await eventually(() => queue.send(["hello"]));
    expect((await delivered(receive)).body).toBe("hello");
    expect((await kept.check()).waiting).toBe(1);
  });

  test("is asked in the virtual host of the URL", async () => {
    await using elsewhere = await openQueue(`${server.url}/no%2Fwhere`);
    await expect(elsewhere.check()).rejects.toThrow("ConnectionClose");
  });

  test("takes what it is sent when it hangs for a while", async () => {
    await queue.send(["1"]);
    server.pause();
    const sending = queue.send(["2"]);
    await sleep(1000);
    server.resume();
    await sending;
    expect([(await delivered(() => receive(1))).body, (await delivered(() => receive(1))).body]).toEqual([
      "1",
      "2",
    ]);
  });

  test("sends a message that it puts back to its own queue alone, whatever headers a producer gave it", async () => {
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
      again = await delivered(receive);
      expect(again).toMatchObject({ body: "1", id: published?.id, attempt: times + 1 });
      if (times === 4) await queue.acknowledge([again]);
    }
    expect(await queue.receive(1, 500, AbortSignal.timeout(5000))).toEqual([]);
    // And when a stop returns what nobody took.
    await onConnection(async (connection) => {
      const channel = await connection.createConfirmChannel();
      channel.sendToQueue(name, Buffer.from("2"), { headers: { BCC: [other] } });
      await channel.waitForConfirms();
      await channel.purgeQueue(other);
    });
    await eventually(async () => expect(await queue.check()).toEqual({ waiting: 0 }));
    await queue[Symbol.asyncDispose]();
    queue = await openQueue(`${server.url}?queue=${name}`);
    expect(await delivered(receive)).toMatchObject({ body: "2" });
    expect(await queue.receive(1, 500, AbortSignal.timeout(5000))).toEqual([]);
    await onConnection(async (connection) => {
      const channel = await connection.createChannel();
      expect(await channel.checkQueue(other)).toMatchObject({ messageCount: 0 });
    });
  });

  test("keeps a queue as it is that was made otherwise", async () => {
    await queue[Symbol.asyncDispose]();
    name = `classic-${randomUUID()}`;
    await onConnection(async (connection) => {
      const channel = await connection.createChannel();
      await channel.assertQueue(name, { durable: false, maxPriority: 3, autoDelete: false });
    });
    queue = await openQueue(`${server.url}?queue=${name}`);
    await queue.send(["hello"]);
    const delivery = await delivered(receive);
    await queue.retry([delivery], 100);
    expect(await delivered(receive)).toMatchObject({ id: delivery.id, body: "hello", attempt: 2 });
  });

  test("makes a quorum queue when there is none", async () => {
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

  test("tells a sender that its queue is gone, and makes it anew for the next", async () => {
    await queue.send(["1"]);
    await onConnection(async (connection) => (await connection.createChannel()).deleteQueue(name));
    await expect(queue.send(["2"])).rejects.toThrow(`there is no queue ${name}`);
    await expect(queue.check()).rejects.toThrow("404");
    await eventually(() => queue.send(["3"]));
    expect((await delivered(receive)).body).toBe("3");
  });

  test("tells a receiver that its queue is gone, which finds the new one", async () => {
    const waiting = receive().catch((error: Error) => error.message);
    await queue.check();
    await sleep(200);
    await onConnection(async (connection) => (await connection.createChannel()).deleteQueue(name));
    expect(await waiting).toBe("the connection to the queue was lost");
    await queue.send(["hello"]);
    expect((await delivered(receive)).body).toBe("hello");
  });

  test("gives no receiver more than it may have in hand, and the rest to the others", async () => {
    await queue[Symbol.asyncDispose]();
    queue = await openQueue(`${server.url}?queue=${name}&prefetch=3`);
    await using other = await openQueue(`${server.url}?queue=${name}&prefetch=3`);
    await queue.send(["1", "2", "3", "4", "5"]);
    const mine: Delivery[] = [];
    while (mine.length < 3) mine.push(...(await receive()));
    expect(await queue.receive(1, 300, AbortSignal.timeout(patienceMs))).toEqual([]);
    const theirs: Delivery[] = [];
    while (theirs.length < 2) theirs.push(...(await other.receive(100, waitMs, AbortSignal.timeout(waitMs))));
    expect([...mine, ...theirs].map(({ body }) => body).sort()).toEqual(["1", "2", "3", "4", "5"]);
  });

  test("gives a receiver few messages at a time while they are large, and many once they are small", async () => {
    const held = async (sent: number) => sent - (await queue.check()).waiting;
    await queue.send(Array.from({ length: 150 }, (_, index) => `${index}`.padEnd(900_000, "x")));
    const large = await receive();
    await eventually(async () => expect(await held(150)).toBeGreaterThanOrEqual(30));
    await sleep(500);
    expect(await held(150)).toBeLessThanOrEqual(40);
    await queue.acknowledge(large);
    for (let count = large.length; count < 150; ) {
      const some = await receive();
      await queue.acknowledge(some);
      count += some.length;
    }
    await queue.send(Array.from({ length: 2000 }, (_, index) => String(index)));
    for (let count = 0; count < 1000; ) {
      const some = await receive();
      await queue.acknowledge(some);
      count += some.length;
    }
    await eventually(async () => expect((await queue.check()).waiting).toBeLessThanOrEqual(1000 - 350));
  });

  test("is left with all that nobody took, as often as that may be, and without what was acknowledged", async () => {
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
      const some = await receiver.receive(5, waitMs, AbortSignal.timeout(waitMs));
      await receiver.acknowledge(some);
      seen.push(...some.map(({ body }) => body));
    }
    while (seen.length < 50) {
      const some = await receive();
      await queue.acknowledge(some);
      seen.push(...some.map(({ body }) => body));
    }
    expect(new Set(seen).size).toBe(50);
  });

  test("gives a message that nobody named one name at every attempt, and one copy", async () => {
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
    const first = await delivered(receive);
    await queue.retry([first], 100);
    await queue.retry([first], 100);
    expect(first.bytes).toEqual(Buffer.from([0x7b, 0xff, 0]));
    expect(await delivered(receive)).toEqual({ ...first, attempt: 2, receipt: expect.any(String) });
    expect(await queue.receive(1, 300, AbortSignal.timeout(patienceMs))).toEqual([]);
  });

  test("does not lose a message whose producer gives every message the same id", async () => {
    await onConnection(async (connection) => {
      const channel = await connection.createConfirmChannel();
      await queue.check();
      for (const body of ["1", "2"]) channel.sendToQueue(name, Buffer.from(body), { messageId: "same" });
      await channel.waitForConfirms();
    });
    const ids = [(await delivered(() => receive(1))).id, (await delivered(() => receive(1))).id];
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^same [0-9a-f]{64}$/);
  });

  test("loses nothing although a receiver's connection breaks 25 times with every message in flight", async () => {
    await using line = await openLine(server.url);
    await using receiver = await openQueue(`${line.url}/?queue=${name}`);
    const bodies = Array.from({ length: 30 }, (_, index) => String(index));
    await queue.send(bodies);
    /** All that the receiver is given until it has this many, whatever its connection goes through. */
    const takeAll = async (count: number) => {
      const taken: Delivery[] = [];
      const late = AbortSignal.timeout(waitMs);
      while (taken.length < count && !late.aborted) {
        taken.push(...(await eventually(() => receiver.receive(100, 1000, late))));
      }
      return taken;
    };
    for (let times = 1; times <= 25; times++) {
      expect((await takeAll(bodies.length)).map(({ body }) => body).sort()).toEqual(bodies.toSorted());
      line.cut();
      await expect(receiver.receive(1, waitMs, AbortSignal.timeout(waitMs))).rejects.toThrow("was lost");
    }
    const left = await takeAll(bodies.length);
    expect(left.map(({ body }) => body).sort()).toEqual(bodies.toSorted());
    await receiver.acknowledge(left);
    await eventually(async () => expect(await queue.check()).toEqual({ waiting: 0 }));
  });

  const quorum = { "x-queue-type": "quorum" };
  const isVersion4 = () => Number.parseInt(rabbitmq?.version ?? "", 10) >= 4;
  /** Makes a queue, and tells what is warned of when it is opened, used, and used again on a new connection. */
  async function warningsOf(options: amqp.Options.AssertQueue): Promise<string[]> {
    await onConnection(async (connection) => (await connection.createChannel()).assertQueue(name, options));
    const warnings: string[] = [];
    await using line = await openLine(server.url);
    await using opened = await openQueue(`${line.url}/?queue=${name}`, (warning) => warnings.push(warning));
    await opened.check();
    line.cut();
    await eventually(() => opened.check());
    return warnings;
  }
  const limitOf = (limit: number) => [
    expect.stringMatching(
      `^the queue ${name} has no dead-letter exchange, and drops a message that was returned to it more than ${limit} times`,
    ),
  ];

  test.each([
    ["a delivery limit", { "x-delivery-limit": 2 }, 2],
    ["a large one", { "x-delivery-limit": 3_000_000_000 }, 3_000_000_000],
    [
      "a delivery limit, and whatever else a queue can have",
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
  ])("is warned of with a queue that has %s", async (_title, others, limit) => {
    expect(await warningsOf({ arguments: { ...quorum, ...others } })).toEqual(limitOf(limit));
  });

  test("is warned of with a queue that has the limit of the broker's version", async () => {
    expect(await warningsOf({ arguments: quorum })).toEqual(isVersion4() ? limitOf(20) : []);
  });

  test("is warned of with a queue whose limit of -1 an older broker takes for the smallest", async () => {
    const options = { arguments: { ...quorum, "x-delivery-limit": -1 } };
    expect(await warningsOf(options)).toEqual(isVersion4() ? [] : limitOf(-1));
  });

  test("is warned of when nothing can be learnt of a queue", async () => {
    name = `long-${"x".repeat(190)}`;
    const options = { arguments: { ...quorum, "x-delivery-limit": 3 } };
    expect(await warningsOf(options)).toEqual([
      expect.stringMatching(`^it is not known whether the queue ${name} drops`),
    ]);
  });

  test.each([
    [
      "with a dead-letter exchange, for what has reached its limit",
      { deadLetterExchange: "it's 'none'", arguments: { ...quorum, "x-delivery-limit": 2 } },
    ],
    ["with a dead-letter exchange and no limit of its own", { deadLetterExchange: "", arguments: quorum }],
    ["that is a classic one", { maxPriority: 3, messageTtl: 60_000, arguments: { "x-queue-mode": "lazy" } }],
    ["that is a classic one, and in memory", { durable: false }],
    ["that is a classic one, and goes with its last receiver", { autoDelete: true }],
  ])("is not warned of with a queue %s", async (_title, options) => {
    expect(await warningsOf(options)).toEqual([]);
  });

  test("is not warned of with a queue that we made", async () => {
    await queue.check();
    const warnings: string[] = [];
    await using again = await openQueue(`${server.url}?queue=${name}`, (warning) => warnings.push(warning));
    await again.check();
    expect(warnings).toEqual([]);
  });

  test("is warned of in the log of a ledger", async () => {
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
      "takes no more for now",
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
      "is gone for now",
      async (connection: ChannelModel) => void (await (await connection.createChannel()).deleteQueue(name)),
    ],
  ])("keeps a message that is to be retried in a queue that %s", async (_title, trouble) => {
    const few = { ...quorum, "x-max-length": 1, "x-overflow": "reject-publish" };
    await onConnection(async (connection) =>
      (await connection.createChannel()).assertQueue(name, { arguments: few }),
    );
    await queue.send(["1"]);
    await queue.retry([await delivered(receive)], 1500);
    await queue[Symbol.asyncDispose]();
    await onConnection(trouble);
    // Twice as long as the retry delay.
    await sleep(3000);
    queue = await openQueue(`${server.url}?queue=${name}`);
    const seen: string[] = [];
    await eventually(async () => {
      const some = await queue.receive(100, 1000, AbortSignal.timeout(waitMs));
      await queue.acknowledge(some);
      seen.push(...some.map(({ body }) => body));
      expect(seen).toContain("1");
    });
    expect(seen.filter((body) => body !== "filling")).toEqual(["1"]);
  });

  test("makes a queue of messages to be retried that stays, whoever uses it", async () => {
    await queue.send(["1"]);
    await queue.retry([await delivered(receive)], 100);
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
