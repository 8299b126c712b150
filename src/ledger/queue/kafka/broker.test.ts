import { randomBytes, randomUUID } from "node:crypto";
import { closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { Admin, ProduceAcks, Producer } from "@platformatic/kafka";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isOpensslInstalled, makeCertificate } from "../../../../testing/certificate.ts";
import { describeIfAvailable } from "../../../../testing/describe-if-available.ts";
import { eventually } from "../../../../testing/eventually.ts";
import { freePort } from "../../../../testing/free-port.ts";
import { newFolder, run } from "../../../../testing/run.ts";
import {
  isKafkaInstalled,
  kafkaUser,
  startKafka,
  type TestKafka,
} from "../../../../testing/servers/kafka.ts";
import { testWaitMaxMs } from "../../../../testing/test-wait-max.ts";
import { drain, numbered, receiveCount } from "../drain.fixture.ts";
import type { Queue, ReceivedMessage } from "../queue.ts";
import { openQueue } from "../queues.ts";
import { compressions, headerBytes, newBatch, publishBatch, zstdOfLargeWindow } from "./batch.fixture.ts";
import { lagOf } from "./lag.fixture.ts";

const waitMs = 20_000;
const stop = () => AbortSignal.timeout(testWaitMaxMs);

/** The broker has too little memory for one block, and accepts no such request without compression. */
const isSent = (name: string) => !["none", "snappy in one block"].includes(name);

describeIfAvailable("Kafka", isKafkaInstalled())("Kafka", () => {
  let server: TestKafka;
  let admin: Admin;
  let producer: Producer;
  beforeAll(async () => {
    server = await startKafka({ settings: ["log.cleaner.backoff.ms=100"] });
    admin = new Admin(options());
    producer = new Producer(options());
  });
  const options = () => ({ clientId: "test", bootstrapBrokers: [new URL(server.url).host] });
  afterAll(async () => {
    await Promise.all([admin.close(), producer.close()]);
    await server[Symbol.asyncDispose]();
  });

  let topic: string;
  let queue: Queue;
  const open = () => openQueue(`${server.url}/${topic}?group=ledger`);
  beforeEach(async () => {
    topic = `test-${randomUUID()}`;
    queue = await open();
  });
  afterEach(() => queue[Symbol.asyncDispose]());
  const receive = () => queue.receive(100, waitMs, stop());

  test("messages that wait for a retry take no room of others", async () => {
    await admin.createTopics({ topics: [topic], partitions: 1 });
    const large = Array.from({ length: 40 }, (_, index) => `${index}`.padEnd(900_000, "x"));
    await queue.send(large);
    for (let retried = 0; retried < large.length; ) {
      const deliveries = await receive();
      await queue.retry(deliveries, 600_000);
      retried += deliveries.length;
    }
    await queue.send(["small"]);
    expect((await receive()).map(({ body }) => body)).toEqual(["small"]);
  });

  test("holds a bounded part of the messages of a topic in memory", async () => {
    await queue.send(Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(900_000, "x")));
    const deliveries: ReceivedMessage[] = [];
    for (let empty = false; !empty || deliveries.length <= 5; ) {
      const received = await queue.receive(100, 2000, stop());
      deliveries.push(...received);
      empty = received.length === 0;
    }
    expect(deliveries.length).toBeLessThan(30);
    for (let count = deliveries.length; count < 100; ) {
      await queue.acknowledge(deliveries.splice(0));
      deliveries.push(...(await receive()));
      count += deliveries.length;
    }
  });

  test.each(Object.keys(compressions).filter(isSent))(
    "reads 400 messages of 0.9 MB from one batch in steps, with compression %s",
    async (name) => {
      const configs = [{ name: "max.message.bytes", value: "100000000" }];
      await admin.createTopics({ topics: [topic], partitions: 1, configs });
      const messages = Array.from({ length: 400 }, (_, index) => ({
        value: Buffer.alloc(900_000, "x").fill(`${index} `, 0, 4),
      }));
      const batch = newBatch(messages, compressions[name as keyof typeof compressions]);
      await eventually(() => publishBatch(admin, topic, batch));
      const args = [`${server.url}/${topic}?group=ledger`, "400"];
      const { exit, output } = run("src/ledger/queue/kafka/receive.fixture.ts", { args });
      expect(await exit).toMatchObject({ code: 0, errors: "" });
      const { held, numbers, waiting, grownBy } = JSON.parse(output());
      expect({ numbers, waiting }).toEqual({ numbers: messages.map((_, index) => index), waiting: 0 });
      // 4 MiB and a message.
      expect(held).toBeLessThanOrEqual(6);
      // All at once they take more than 700 MiB.
      expect(grownBy).toBeLessThan(300);
    },
  );

  describe("a batch that cannot be read", () => {
    const gzipped = (body: string) => newBatch([{ value: Buffer.from(body) }], compressions.gzip);

    /** Overwrites the records of a batch of partition 0 in the file of the broker, which does not look at them again. */
    function overwrite(batch: Buffer, records: Buffer): void {
      const file = join(server.brokers[0]?.folder ?? "", "data", `${topic}-0`, "00000000000000000000.log");
      const at = readFileSync(file).indexOf(batch.subarray(headerBytes));
      expect(at).toBeGreaterThan(0);
      const open = openSync(file, "r+");
      writeSync(open, records, 0, records.length, at);
      closeSync(open);
    }

    test.each([
      {
        name: "damaged gzip",
        batch: gzipped("bad"),
        damage: (records: Buffer) => records.fill(0),
        reason: "(gzip) cannot be read, and all behind it waits: incorrect header check.",
      },
      {
        name: "gzip without its end",
        batch: gzipped("bad".repeat(1000)),
        damage: (records: Buffer) => gzipSync(randomBytes(10_000)).copy(records),
        reason: "(gzip) cannot be read",
      },
      {
        name: "zstd with a large window",
        batch: newBatch([{ value: Buffer.alloc(9 * 2 ** 20) }], zstdOfLargeWindow),
        reason: "(zstd) cannot be read, and all behind it waits: its window is larger than 8 MiB",
      },
    ])("stops its partition, and no other: $name", async ({ batch, damage, reason }) => {
      const { warnings, publish } = await openStopped(batch, damage);
      expect(warnings).toEqual([
        expect.stringContaining(`topic ${topic}, partition 0: the batch at offset 1 ${reason}`),
      ]);
      await publish("after");
      await drain(queue, ["after"]);
    });

    test("is tried again until it is deleted, while the other partitions go on as before", async () => {
      const { warnings, publish } = await openStopped(gzipped("bad"), (records) => records.fill(0));
      await publish("held");
      const held = await receive();
      expect(held).toMatchObject([{ body: "held" }]);
      // Errors of brokers open all connections again after a shorter time.
      for (let index = 0; index < 10; index += 1) {
        expect(await queue.receive(100, 1500, stop())).toEqual([]);
        await publish(`${index}`);
        const deliveries = await receive();
        expect(deliveries).toMatchObject([{ body: `${index}` }]);
        await queue.acknowledge(deliveries);
      }
      await admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition: 0, offset: 2n }] }] });
      const [behind] = await receiveCount(queue, 1);
      expect(behind).toMatchObject({ body: "behind" });
      expect(queue.problem?.()).toBe(undefined);
      expect(warnings).toHaveLength(1);
      // The first receipt is still valid.
      await queue.acknowledge([...held, behind as ReceivedMessage]);
      await committed();
    });

    /**
     * Publishes messages before and behind a batch, damages the batch, receives the first message and waits until the
     * partition has stopped.
     */
    async function openStopped(batch: Buffer, damage?: (records: Buffer) => void) {
      await admin.createTopics({ topics: [topic], partitions: 2 });
      await queue[Symbol.asyncDispose]();
      const warnings: string[] = [];
      queue = await openQueue(`${server.url}/${topic}?group=ledger`, (text) => warnings.push(text));
      await eventually(() => publishBatch(admin, topic, gzipped("before")));
      await publishBatch(admin, topic, batch);
      await publishBatch(admin, topic, gzipped("behind"));
      const records = Buffer.from(batch.subarray(headerBytes));
      damage?.(records);
      overwrite(batch, records);
      await drain(queue, ["before"]);
      await eventually(async () => {
        expect(await queue.receive(1, 100, stop())).toEqual([]);
        expect(queue.problem?.()).toContain(topic);
      });
      return {
        warnings,
        /** Publishes a message to the other partition. */
        async publish(body: string) {
          const message = { topic, partition: 1, value: Buffer.from(body) };
          await producer.send({ messages: [message], acks: ProduceAcks.ALL });
        },
      };
    }
  });

  test("creates its topics again if they were deleted", async () => {
    await queue.send(["1"]);
    await drain(queue, ["1"]);
    const names = (await admin.listTopics()).filter((name) => name.startsWith(topic));
    expect(names).toHaveLength(5);
    await admin.deleteTopics({ topics: names });
    await eventually(async () => {
      await queue.receive(1, 500, stop()).catch(() => {});
      await queue.send(["2"]);
    });
    await drain(queue, ["2"]);
  });

  /** Nothing waits, for the ledger and for other tools. */
  const committed = () =>
    eventually(async () => {
      await queue.acknowledge(await queue.receive(100, 300, stop()));
      expect(await queue.countWaiting()).toBe(0);
      expect(await lagOf(admin, topic, "ledger")).toBe(0);
    });

  test("no message waits in the gaps that compaction leaves, also at the end", async () => {
    const configs = [
      { name: "cleanup.policy", value: "compact" },
      { name: "min.cleanable.dirty.ratio", value: "0.001" },
      { name: "segment.ms", value: "100" },
    ];
    await admin.createTopics({ topics: [topic], partitions: 1, configs });
    await using closing = new AsyncDisposableStack();
    const transactional = {
      ...options(),
      ...{ transactionalId: topic, idempotent: true, timeout: 5 * testWaitMaxMs },
    };
    const own = closing.adopt(new Producer(transactional), (each) => each.close());
    /** In a segment of its own. */
    const publish = async (body: string, isCommitted: boolean) => {
      await sleep(200);
      const transaction = await own.beginTransaction();
      const message = { topic, partition: 0, key: Buffer.from("key"), value: Buffer.from(body) };
      await transaction.send({ messages: [message] });
      await (isCommitted ? transaction.commit() : transaction.abort());
    };
    for (const body of numbered(5)) await publish(body, true);
    for (const body of numbered(3, 5)) await publish(body, false);
    await eventually(async () => {
      await using other = await openQueue(`${server.url}/${topic}?group=${randomUUID()}`);
      expect((await other.receive(100, 1000, stop())).map(({ body }) => body)).toEqual(["m4"]);
    });
    await drain(queue, ["m4"]);
    await committed();
  });

  test("delivers all messages although the broker has lost the former ones", async () => {
    await admin.createTopics({ topics: [topic], partitions: 1 });
    await queue.send(numbered(60));
    await drain(queue, numbered(60));
    await committed();
    const [broker] = server.brokers;
    await broker?.kill();
    rmSync(join(broker?.folder ?? "", "data", `${topic}-0`), { recursive: true });
    await broker?.start();
    await eventually(() => queue.send(numbered(20, 100)));
    await drain(queue, numbered(20, 100));
    await committed();
  });

  test("shares the messages with members that join and leave all the time, and loses none", async () => {
    await queue.send(numbered(300));
    const seen = new Set<string>();
    let sent = 300;
    let isSending = true;
    async function member(round: number): Promise<void> {
      await using own = await open();
      for (let times = 0; times < 5 + round; times += 1) {
        const deliveries = await own.receive(20, 300, stop()).catch(() => []);
        await sleep(10);
        await own.acknowledge(deliveries);
        for (const { body } of deliveries) seen.add(body);
      }
    }
    const members = [1, 2, 3].map(async (first) => {
      for (let round = first; isSending; round = (round + 1) % 7) await member(round);
    });
    for (; sent < 1500; sent += 50) {
      await queue.send(numbered(50, sent));
      await sleep(400);
    }
    isSending = false;
    await Promise.all(members);
    await eventually(async () => {
      const deliveries = await receive();
      for (const { body } of deliveries) seen.add(body);
      await queue.acknowledge(deliveries);
      expect(seen.size).toBe(sent);
    });
    await committed();
  });
});

describeIfAvailable("Kafka and openssl", isKafkaInstalled() && isOpensslInstalled())(
  "a Kafka with TLS and passwords",
  () => {
    test("is used if its certificate is trusted and the password is right", async () => {
      using certificate = makeCertificate("127.0.0.1");
      const port = await freePort();
      const keystore = join(newFolder(), "keystore.pem");
      const pem = [certificate.key, certificate.certificate].map((file) => readFileSync(file, "utf8"));
      writeFileSync(keystore, pem.join(""));
      const modules = "org.apache.kafka.common.security";
      await using _server = await startKafka({
        listeners: [`SECURE://127.0.0.1:${port}`],
        settings: [
          "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL",
          "listener.name.secure.ssl.keystore.type=PEM",
          `listener.name.secure.ssl.keystore.location=${keystore}`,
          "listener.name.secure.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512",
          `listener.name.secure.scram-sha-512.sasl.jaas.config=${modules}.scram.ScramLoginModule required;`,
          `listener.name.secure.plain.sasl.jaas.config=${modules}.plain.PlainLoginModule required user_plain="secret";`,
        ],
      });
      const send = async (credentials: string, parameters = "", env = {}) => {
        const QUEUE_URL = `kafkas://${credentials}@127.0.0.1:${port}/payment-events${parameters}`;
        const file = join(newFolder(), "events");
        writeFileSync(file, "{}\n");
        const sent = run("src/ledger/commands/send-events.ts", { args: [file], env: { QUEUE_URL, ...env } });
        const { code, errors } = await sent.exit;
        return code === 0 ? "sent" : errors;
      };
      const trusting = { NODE_EXTRA_CA_CERTS: certificate.certificate };
      const { username, password } = kafkaUser;
      expect(await send(`${username}:${encodeURIComponent(password)}`, "", trusting)).toBe("sent");
      expect(await send("plain:secret", "?sasl=PLAIN", trusting)).toBe("sent");
      for (const failed of [
        await send(`${username}:planted`, "", trusting),
        await send("plain:planted", "?sasl=PLAIN", trusting),
        await send(`${username}:planted`),
      ]) {
        expect(failed).toContain(
          `send-events: no queue responds at kafkas://127.0.0.1:${port}/payment-events`,
        );
        expect(failed).not.toContain("planted");
      }
    });
  },
);

describeIfAvailable("Kafka", isKafkaInstalled())("a Kafka at an IPv6 address", () => {
  test("accepts and delivers messages", async () => {
    const port = await freePort();
    await using _server = await startKafka({
      listeners: [`SIX://[::1]:${port}`],
      settings: ["listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SIX:PLAINTEXT"],
    });
    await using queue = await openQueue(`kafka://[::1]:${port}/six`);
    expect(queue.address).toEqual({ kind: "kafka", url: `[::1]:${port}`, topic: "six" });
    await queue.send(["one"]);
    await eventually(async () => {
      const [delivery] = await queue.receive(1, 1000, AbortSignal.timeout(testWaitMaxMs));
      expect(delivery?.body).toBe("one");
    });
  });
});

describeIfAvailable("Kafka", isKafkaInstalled())("three brokers of Kafka", () => {
  let cluster: TestKafka;
  beforeAll(async () => {
    cluster = await startKafka({ count: 3 });
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  test.each([
    ["killed", 0],
    ["killed", 1],
    ["killed", 2],
    ["suspended", 0],
  ])("deliver and accept messages while one is %s (%i)", async (fault, index) => {
    const broker = cluster.brokers[index];
    await using queue = await openQueue(`${cluster.url}/test-${randomUUID()}`);
    await queue.send(numbered(100));
    await drain(queue, numbered(100));
    await (fault === "killed" ? broker?.kill() : broker?.pause());
    await eventually(() => queue.send(["without"]));
    await drain(queue, ["without"]);
    await eventually(async () => {
      // A repeated send can have sent the message twice.
      await queue.acknowledge(await queue.receive(100, 500, stop()));
      expect(await queue.countWaiting()).toBe(0);
    });
    await (fault === "killed" ? broker?.start() : broker?.resume());
    await eventually(() => queue.send(["with"]));
    await drain(queue, ["with"]);
  });
});
