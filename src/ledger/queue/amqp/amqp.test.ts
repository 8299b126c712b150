import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import amqp, { type Channel, type ChannelModel, type Options } from "amqplib";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFailed, test } from "vitest";
import { openTcpProxy } from "../../../../simulation/tcp-proxy.ts";
import { startProcess } from "../../../../testing/child-process.ts";
import { describeIfAvailable } from "../../../../testing/describe-if-available.ts";
import { eventually } from "../../../../testing/eventually.ts";
import { run } from "../../../../testing/run.ts";
import { installedRabbitmq, rabbitmq4, startRabbitmq } from "../../../../testing/servers/rabbitmq.ts";
import type { TestServer } from "../../../../testing/servers/server.ts";
import { decodeContent } from "../../intake/content-encoding.ts";
import { drain, numbered, receiveCount } from "../drain.fixture.ts";
import type { Queue, ReceivedMessage } from "../queue.ts";
import { openQueue } from "../queues.ts";

const waitMs = 20_000;
const quorum = { "x-queue-type": "quorum" };

/** Each version is tested in a project of its own, so that both are tested at a time. */
const rabbitmq = process.env.TEST_RABBITMQ === "4" ? rabbitmq4() : installedRabbitmq();
const needed = "RabbitMQ, or RabbitMQ 4 (npm run servers -- --install, as root)";
describeIfAvailable(needed, rabbitmq !== undefined)(`RabbitMQ ${rabbitmq?.version ?? ""}`, () => {
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
    queue = await open();
  });
  afterEach(() => queue[Symbol.asyncDispose]());

  const open = (parameters = "") => openQueue(`${server.url}?queue=${name}${parameters}`);
  async function reopen(parameters = ""): Promise<void> {
    await queue[Symbol.asyncDispose]();
    queue = await open(parameters);
  }
  const receive = () => queue.receive(100, waitMs, AbortSignal.timeout(waitMs));
  const bodiesOf = (deliveries: ReceivedMessage[]) => deliveries.map(({ body }) => body).sort();
  /** Receives until there is a delivery, although calls can fail meanwhile. */
  const nextDelivery = () =>
    eventually(async () => {
      const [delivery] = await receive();
      expect(delivery).toBeDefined();
      return delivery as ReceivedMessage;
    });
  async function onConnection(work: (connection: ChannelModel) => Promise<unknown>) {
    const connection = await amqp.connect(server.url);
    await work(connection);
    await connection.close();
  }
  const onChannel = (work: (channel: Channel) => Promise<unknown>) =>
    onConnection(async (connection) => work(await connection.createChannel()));
  /** Publishes as a producer does. */
  const publish = (bodies: (string | Buffer)[], options: Options.Publish = {}) =>
    onConnection(async (connection) => {
      const channel = await connection.createConfirmChannel();
      for (const body of bodies) channel.sendToQueue(name, Buffer.from(body as string), options);
      await channel.waitForConfirms();
    });
  /** Resolves when a receiver waits for messages of the queue. */
  async function waitUntilConsumed(): Promise<void> {
    await queue.countWaiting();
    await onChannel((channel) =>
      eventually(async () => expect(await channel.checkQueue(name)).toMatchObject({ consumerCount: 1 })),
    );
  }

  test("delivers the in-flight messages again to the same receiver after it was killed", async () => {
    await queue.send(["1"]);
    const [first] = await receive();
    await server.kill();
    await expect(queue.countWaiting()).rejects.toThrow();
    await expect(queue.send(["2"])).rejects.toThrow();
    await expect(receive()).rejects.toThrow();
    await server.start();
    const again = await nextDelivery();
    expect(again).toMatchObject({ id: first?.id, body: "1" });
    expect(again.attempt).toBeGreaterThan(1);
    // The acknowledgement of an earlier connection is ignored, although the delivery tags of the new one start again at 1.
    await queue.acknowledge([first as ReceivedMessage]);
    await reopen();
    expect((await nextDelivery()).body).toBe("1");
  });

  test("keeps messages that are to be retried when it is killed immediately afterwards", async () => {
    await queue.send(numbered(5));
    await queue.retry(await receiveCount(queue, 5), 3000);
    await server.kill();
    await server.start();
    await drain(queue, numbered(5));
  });

  test("delivers and accepts messages after it was killed while it created a queue for retries", async () => {
    await queue.send(["1"]);
    const deliveries = await receive();
    const retrying = queue.retry(deliveries, 4000).catch(() => {});
    await sleep(300);
    await server.kill();
    await retrying;
    await server.start();
    const again = await nextDelivery();
    await Promise.allSettled([queue.retry([again], 4000)]);
    await eventually(() => queue.send(["2"]));
    expect(bodiesOf(await receiveCount(queue, 2))).toEqual(["1", "2"]);
  });

  test("ends the wait of a receiver when it stops, and delivers to it after a restart", async () => {
    const waiting = receive().catch((error: Error) => error.message);
    await waitUntilConsumed();
    await server.restart();
    expect(await waiting).toBe("the connection to the queue was lost");
    await eventually(() => queue.send(["hello"]));
    expect((await nextDelivery()).body).toBe("hello");
  });

  test("is used in the virtual host of the URL", async () => {
    await using ofUnknownHost = await openQueue(`${server.url}/no%2Fwhere`);
    await expect(ofUnknownHost.countWaiting()).rejects.toThrow("ConnectionClose");
  });

  test("accepts a message that was sent while it was suspended", async () => {
    await queue.send(["1"]);
    server.pause();
    const sending = queue.send(["2"]);
    await sleep(1000);
    server.resume();
    await sending;
    expect(bodiesOf(await receiveCount(queue, 2))).toEqual(["1", "2"]);
  });

  test("returns a retried message only to its own queue, whatever headers the producer set", async () => {
    const other = `other-${randomUUID()}`;
    await queue.countWaiting();
    await onChannel((channel) => channel.assertQueue(other));
    const headers = { CC: [name, other], BCC: [name, other], "x-delay": 5, traceparent: "00-1-2-01" };
    await publish(["1"], { messageId: "m", headers });
    await onChannel((channel) => channel.purgeQueue(other));
    const [published] = await receive();
    for (let again = published as ReceivedMessage, times = 1; times <= 4; times++) {
      await queue.retry([again], 100);
      again = await nextDelivery();
      expect(again).toMatchObject({ body: "1", id: published?.id, attempt: times + 1 });
      if (times === 4) await queue.acknowledge([again]);
    }
    // The same applies to messages that `receive` has not returned before the end.
    await publish(["2"], { headers: { BCC: [other] } });
    await onChannel((channel) => channel.purgeQueue(other));
    await eventually(async () => expect(await queue.countWaiting()).toBe(0));
    await reopen();
    expect(await receive()).toMatchObject([{ body: "2" }]);
    await queue.send(["3"]);
    expect(await receive()).toMatchObject([{ body: "3" }]);
    await onChannel(async (channel) =>
      expect(await channel.checkQueue(other)).toMatchObject({ messageCount: 0 }),
    );
  });

  test("delivers a message with a content encoding as its bytes, also after a retry", async () => {
    const content = gzipSync("é".repeat(1000));
    await queue.countWaiting();
    await publish([content], { contentEncoding: "GZIP", contentType: "application/json" });
    for (const attempt of [1, 2]) {
      const delivery = await nextDelivery();
      expect(delivery).toMatchObject({ contentEncoding: "gzip", size: 2000, attempt });
      expect(Buffer.from(delivery.bytes as Uint8Array)).toEqual(content);
      expect(await decodeContent(delivery)).toEqual({ body: "é".repeat(1000) });
      await queue.retry([delivery], 0);
    }
    await queue.acknowledge([await nextDelivery()]);
    // Some clients put the charset there.
    await publish(["é"], { contentEncoding: "utf-8" });
    const plain = await nextDelivery();
    expect(plain).toMatchObject({ body: "é", size: 2 });
    expect([plain.bytes, plain.contentEncoding]).toEqual([undefined, undefined]);
  });

  test("uses the classic queue of a producer as it is, and keeps its messages over a restart of the broker", async () => {
    await queue[Symbol.asyncDispose]();
    name = `classic-${randomUUID()}`;
    await onChannel((channel) => channel.assertQueue(name, { maxPriority: 3 }));
    await publish(["1", "2"], { persistent: true });
    const warnings: string[] = [];
    const openAgain = async () => {
      queue = await openQueue(`${server.url}?queue=${name}`, (warning) => warnings.push(warning));
    };
    await openAgain();
    await queue.send(["💷"]);
    await queue[Symbol.asyncDispose]();
    await server.restart();
    await openAgain();
    const first = await receiveCount(queue, 3);
    expect(bodiesOf(first)).toEqual(["1", "2", "💷"]);
    const find = (text: string) => first.find(({ body }) => body === text) as ReceivedMessage;
    await queue.acknowledge([find("1")]);
    await queue.retry([find("2")], 100);
    expect(await nextDelivery()).toMatchObject({ id: find("2").id, body: "2", attempt: 2 });
    // Nothing that is in flight is lost with its connection. A classic queue does not count these deliveries.
    await queue[Symbol.asyncDispose]();
    await openAgain();
    const again = await receiveCount(queue, 2);
    expect(again.map(({ body, attempt }) => `${body} ${attempt}`).sort()).toEqual(["2 2", "💷 1"]);
    await queue.acknowledge(again);
    await eventually(async () => expect(await queue.countWaiting()).toBe(0));
    expect(warnings).toEqual([]);
  });

  test("rejects a message if its queue was deleted, and declares the queue again for the next one", async () => {
    await queue.send(["1"]);
    await onChannel((channel) => channel.deleteQueue(name));
    await expect(queue.send(["2"])).rejects.toThrow(`there is no queue ${name}`);
    await expect(queue.countWaiting()).rejects.toThrow("404");
    await eventually(() => queue.send(["3"]));
    expect((await nextDelivery()).body).toBe("3");
  });

  test("ends the wait of a receiver if its queue was deleted, and delivers from the new queue", async () => {
    const waiting = receive().catch((error: Error) => error.message);
    await waitUntilConsumed();
    await onChannel((channel) => channel.deleteQueue(name));
    expect(await waiting).toBe("the connection to the queue was lost");
    await queue.send(["hello"]);
    expect((await nextDelivery()).body).toBe("hello");
  });

  test("delivers at most `prefetch` messages to a receiver, and the rest to the others", async () => {
    await reopen("&prefetch=3");
    await using other = await open("&prefetch=3");
    await queue.send(["1", "2", "3", "4", "5"]);
    const first = await receiveCount(queue, 3);
    const rest = await receiveCount(other, 2);
    expect(bodiesOf([...first, ...rest])).toEqual(["1", "2", "3", "4", "5"]);
  });

  test("has few messages in flight while they are large, and many when they are small", async () => {
    const inFlight = async (sent: number) => sent - (await queue.countWaiting());
    async function acknowledge(count: number, received: ReceivedMessage[] = []): Promise<void> {
      for (let left = count; left > 0; received = left > 0 ? await receive() : []) {
        await queue.acknowledge(received);
        left -= received.length;
      }
    }
    await queue.send(Array.from({ length: 150 }, (_, index) => `${index}`.padEnd(900_000, "x")));
    const large = await receive();
    await eventually(async () => expect(await inFlight(150)).toBeGreaterThanOrEqual(30));
    for (let times = 0; times < 5; times++) expect(await inFlight(150)).toBeLessThanOrEqual(40);
    await acknowledge(150, large);
    await queue.send(Array.from({ length: 2000 }, (_, index) => String(index)));
    await acknowledge(1000);
    await eventually(async () => expect(await queue.countWaiting()).toBeLessThanOrEqual(1000 - 350));
  });

  test("keeps messages that ended receivers did not return, without counting them as failed deliveries", async () => {
    await queue[Symbol.asyncDispose]();
    name = `limited-${randomUUID()}`;
    await onChannel((channel) => channel.assertQueue(name, limited(2)));
    queue = await open();
    await queue.send(numbered(50));
    const seen: string[] = [];
    for (let round = 0; round < 5; round++) {
      await using receiver = await open();
      const received = await receiver.receive(5, waitMs, AbortSignal.timeout(waitMs));
      await receiver.acknowledge(received);
      seen.push(...bodiesOf(received));
    }
    await drain(
      queue,
      numbered(50).filter((body) => !seen.includes(body)),
    );
  });

  test("gives a message without an id the same id at every attempt, and retries one copy of it", async () => {
    await queue.countWaiting();
    const bytes = Buffer.from([0x7b, 0xff, 0]);
    const headers = { "x-attempts": "abc", "x-delivery-count": -5 };
    await publish([bytes], { contentEncoding: "gzip", headers });
    const first = await nextDelivery();
    expect(first.bytes).toEqual(bytes);
    await queue.retry([first], 100);
    await queue.retry([first], 100);
    expect(await receive()).toEqual([{ ...first, attempt: 2, receipt: expect.any(String) }]);
    // Another copy would be before it in the queue for retried messages.
    await queue.send(["next"]);
    await queue.retry(await receive(), 100);
    expect(await receive()).toMatchObject([{ body: "next", attempt: 2 }]);
  });

  test("does not lose a message whose producer gives every message the same id", async () => {
    await queue.countWaiting();
    await publish(["1", "2"], { messageId: "same" });
    const ids = (await receiveCount(queue, 2)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^same [0-9a-f]{64}$/);
  });

  test("loses nothing although a receiver's connection breaks 25 times with every message in flight", async () => {
    await using proxy = await openTcpProxy(server.url);
    await using receiver = await openQueue(`${proxy.url}/?queue=${name}`);
    const bodies = numbered(30);
    await queue.send(bodies);
    const receiveAll = async () => {
      const deliveries = await eventually(() => receiveCount(receiver, bodies.length));
      expect(bodiesOf(deliveries)).toEqual(bodies.toSorted());
      return deliveries;
    };
    for (let times = 1; times <= 25; times++) {
      await receiveAll();
      proxy.resetConnections();
      await expect(receiver.receive(1, waitMs, AbortSignal.timeout(waitMs))).rejects.toThrow("was lost");
    }
    await receiver.acknowledge(await receiveAll());
    await eventually(async () => expect(await queue.countWaiting()).toBe(0));
  });

  const isVersion4 = Number.parseInt(rabbitmq?.version ?? "", 10) >= 4;
  const allArguments = {
    "x-delivery-limit": 5,
    "x-expires": 100_000,
    "x-message-ttl": 70_000,
    "x-max-length": 100,
    "x-max-length-bytes": 10_000_000_000,
    "x-overflow": "reject-publish",
    "x-single-active-consumer": true,
    "x-quorum-initial-group-size": 1,
    "x-queue-leader-locator": "client-local",
  };
  const limited = (limit: number) => ({ arguments: { ...quorum, "x-delivery-limit": limit } });
  const lazy = { maxPriority: 3, messageTtl: 60_000, arguments: { "x-queue-mode": "lazy" } };

  test.each<[string, Options.AssertQueue, number | undefined]>([
    ["with a delivery limit", limited(2), 2],
    ["with a large limit", limited(3_000_000_000), 3_000_000_000],
    ["with all other arguments of a queue", { arguments: { ...quorum, ...allArguments } }, 5],
    ["with the default limit of the broker's version", { arguments: quorum }, isVersion4 ? 20 : undefined],
    // It is the smallest for an older broker.
    ["with a limit of -1", limited(-1), isVersion4 ? undefined : -1],
    [
      "with a limit and a dead-letter exchange",
      { deadLetterExchange: "it's 'none'", ...limited(2) },
      undefined,
    ],
    ["with a dead-letter exchange alone", { deadLetterExchange: "", arguments: quorum }, undefined],
    ["that is a classic one", lazy, undefined],
    ["that is a classic one in memory", { durable: false }, undefined],
    ["that is a classic one and deleted with its last receiver", { autoDelete: true }, undefined],
  ])("warns of a queue %s if it drops messages", async (_title, options, limit) => {
    const warning = `^the queue ${name} has no dead-letter exchange and drops a message that was returned more than ${limit} times`;
    expect(await warningsOf(options)).toEqual(limit === undefined ? [] : [expect.stringMatching(warning)]);
  });

  test("warns of a queue whose arguments cannot be determined", async () => {
    name = `long-${"x".repeat(190)}`;
    expect(await warningsOf(limited(3))).toEqual([
      expect.stringMatching(`^it is unknown whether the queue ${name} drops`),
    ]);
  });

  test("does not warn of a queue that it has declared", async () => {
    await queue.countWaiting();
    expect(await warningsOf()).toEqual([]);
  });

  /** Declares a queue. Returns the warnings when it is opened, used, and used again on a new connection. */
  async function warningsOf(options?: Options.AssertQueue): Promise<string[]> {
    if (options) await onChannel((channel) => channel.assertQueue(name, options));
    const warnings: string[] = [];
    await using proxy = await openTcpProxy(server.url);
    await using opened = await openQueue(`${proxy.url}/?queue=${name}`, (warning) => warnings.push(warning));
    await opened.countWaiting();
    proxy.resetConnections();
    await eventually(() => opened.countWaiting());
    return warnings;
  }

  test("warns in the log of the ledger", async () => {
    await onChannel((channel) => channel.assertQueue(name, limited(2)));
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
    expect(JSON.parse(output)).toMatchObject({ level: 40 });
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
    await onChannel((channel) => channel.assertQueue(name, { arguments: full }));
    await queue.send(["1"]);
    await queue.retry([await nextDelivery()], 1500);
    await queue[Symbol.asyncDispose]();
    await onConnection(fault);
    // Twice as long as the retry delay.
    await sleep(3000);
    queue = await open();
    const seen: string[] = [];
    await eventually(async () => {
      const received = await queue.receive(100, 1000, AbortSignal.timeout(waitMs));
      await queue.acknowledge(received);
      seen.push(...received.map(({ body }) => body));
      expect(seen).toContain("1");
    });
    expect(seen.filter((body) => body !== "filling")).toEqual(["1"]);
  });

  test("declares a quorum queue, and one for its retried messages that does not expire", async () => {
    await queue.send(["1"]);
    await queue.retry([await nextDelivery()], 100);
    const ofRetries = { "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish" };
    await onChannel(async (channel) => {
      await channel.assertQueue(name, {
        arguments: { ...quorum, ...(isVersion4 && { "x-delivery-limit": -1 }) },
      });
      await channel.assertQueue(`${name}.retry.100`, {
        messageTtl: 100,
        deadLetterExchange: "",
        deadLetterRoutingKey: name,
        arguments: { ...quorum, ...ofRetries },
      });
    });
  });

  test("delivers the in-flight messages of a suspended receiver, which misses its heartbeats, to another one", async () => {
    await queue.send(["1"]);
    const program = `
      const { openQueue } = await import(${JSON.stringify(new URL("../queues.ts", import.meta.url))});
      const queue = await openQueue(${JSON.stringify(`${server.url}?queue=${name}`)});
      const [{ body }] = await queue.receive(1, ${waitMs}, AbortSignal.timeout(${waitMs}));
      console.log(body);`;
    await using receiver = startProcess([process.execPath, "--input-type=module", "--eval", program]);
    await eventually(() => expect(receiver.output()).toBe("1\n"));
    receiver.child.kill("SIGSTOP");
    // Shorter than with the default of the broker: it misses two heartbeats, of 60 seconds each.
    const [delivery] = await queue.receive(1, 100_000, AbortSignal.timeout(100_000));
    expect(delivery).toMatchObject({ body: "1" });
    receiver.child.kill("SIGKILL");
  });
});
