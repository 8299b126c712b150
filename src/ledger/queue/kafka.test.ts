import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Admin, Producer, type ProducerOptions } from "@platformatic/kafka";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { isOpensslInstalled, makeCertificate } from "../../../testing/certificate.ts";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { freePort } from "../../../testing/free-port.ts";
import { newFolder, run } from "../../../testing/run.ts";
import { isKafkaInstalled, kafkaUser, startKafka, type TestKafka } from "../../../testing/servers/kafka.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { type Delivery, openQueue, type Queue } from "./queue.ts";

const waitMs = 20_000;
const stop = () => AbortSignal.timeout(testWaitMaxMs);

/** Acknowledges what the queue delivers until it has delivered these bodies, although calls can fail meanwhile. */
async function drain(queue: Queue, bodies: string[]): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  await eventually(async () => {
    const received = await queue.receive(100, 500, stop());
    deliveries.push(...received);
    await queue.acknowledge(received);
    expect([...new Set(deliveries.map(({ body }) => body))].sort()).toEqual(bodies.toSorted());
  });
  return deliveries;
}

const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `m${from + index}`);

describeIfAvailable("Kafka", isKafkaInstalled())("Kafka", () => {
  let server: TestKafka;
  let admin: Admin;
  let producer: Producer;
  const clientOptions = () => ({ clientId: "test", bootstrapBrokers: [new URL(server.url).host] });
  beforeAll(async () => {
    server = await startKafka();
    admin = new Admin(clientOptions());
    producer = new Producer(clientOptions());
  });
  afterAll(async () => {
    await Promise.all([admin.close(), producer.close()]);
    await server[Symbol.asyncDispose]();
  });

  let topic: string;
  let queue: Queue;
  const open = (name = topic, group = "ledger") => openQueue(`${server.url}/${name}?group=${group}`);
  beforeEach(async () => {
    topic = `test-${randomUUID()}`;
    queue = await open();
  });
  afterEach(() => queue[Symbol.asyncDispose]());
  const receive = (max = 100) => queue.receive(max, waitMs, stop());
  async function receiveCount(count: number): Promise<Delivery[]> {
    const deliveries: Delivery[] = [];
    while (deliveries.length < count) deliveries.push(...(await receive()));
    return deliveries;
  }
  const committed = () => eventually(async () => expect(await queue.check()).toEqual({ waiting: 0 }));

  test("delivers again what was not acknowledged, although later messages were", async () => {
    await admin.createTopics({ topics: [topic], partitions: 1 });
    await queue.send(["1", "2", "3"]);
    const [first, ...others] = await receiveCount(3);
    await queue.acknowledge(others);
    await queue[Symbol.asyncDispose]();
    queue = await open();
    const again = await receiveCount(3);
    expect(again[0]).toMatchObject({ id: `${topic}-0-0`, body: "1", attempt: 1 });
    // The acknowledgement of an earlier assignment is ignored.
    await queue.acknowledge([first as Delivery]);
    expect(await queue.check()).toEqual({ waiting: 3 });
    await queue.acknowledge(again);
    await committed();
    await queue[Symbol.asyncDispose]();
    queue = await open();
    expect(await queue.receive(1, 2000, stop())).toEqual([]);
  });

  test("delivers the others of a partition while a message waits for its retry, also after a restart", async () => {
    await admin.createTopics({ topics: [topic], partitions: 1 });
    await queue.send(["1"]);
    const [first] = await receive();
    const retriedAt = Date.now();
    await queue.retry([first as Delivery], 6000);
    await queue.send(numbered(500));
    await drain(queue, numbered(500));
    await eventually(async () => expect(await queue.check()).toEqual({ waiting: 1 }));
    await queue[Symbol.asyncDispose]();
    queue = await open();
    const [again] = await receive();
    expect(Date.now() - retriedAt).toBeGreaterThanOrEqual(6000);
    expect(again).toMatchObject({ id: first?.id, body: "1", attempt: 2, sentAt: first?.sentAt });
    await queue.acknowledge([again as Delivery]);
    await committed();
  });

  test("a retry with a short delay does not wait for one with a long delay", async () => {
    await queue.send(["long", "short"]);
    const deliveries = await receiveCount(2);
    await queue.retry(
      deliveries.filter(({ body }) => body === "long"),
      600_000,
    );
    await queue.retry(
      deliveries.filter(({ body }) => body === "short"),
      1000,
    );
    expect(await receive()).toMatchObject([{ body: "short", attempt: 2 }]);
  });

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
    const deliveries: Delivery[] = [];
    for (let empty = false; !empty; ) {
      const received = await queue.receive(100, 2000, stop());
      deliveries.push(...received);
      empty = received.length === 0;
    }
    expect(deliveries.length).toBeGreaterThan(5);
    expect(deliveries.length).toBeLessThan(30);
    for (let count = deliveries.length; count < 100; ) {
      await queue.acknowledge(deliveries.splice(0));
      deliveries.push(...(await receive()));
      count += deliveries.length;
    }
  });

  test("two groups receive all messages of a topic, each with its own retries", async () => {
    await using other = await open(topic, "other");
    await queue.send(["1"]);
    const [delivery] = await receive();
    await queue.retry([delivery as Delivery], 0);
    const [again] = await receive();
    expect(again).toMatchObject({ body: "1", attempt: 2 });
    await queue.acknowledge([again as Delivery]);
    const [ofOther] = await other.receive(10, waitMs, stop());
    expect(ofOther).toMatchObject({ body: "1", attempt: 1 });
    await other.acknowledge([ofOther as Delivery]);
    expect(await other.receive(10, 1500, stop())).toEqual([]);
  });

  test("receives from its own topic although members of its group receive from others", async () => {
    const names = ["a", "b", "c"].map((name) => `${topic}-${name}`);
    await Promise.all(
      names.map(async (name) => {
        await using own = await open(name);
        await own.send(numbered(20));
        const deliveries: Delivery[] = [];
        while (deliveries.length < 20) deliveries.push(...(await own.receive(100, waitMs, stop())));
        expect(deliveries.every(({ id }) => id.startsWith(name))).toBe(true);
        await own.retry(deliveries, 0);
        await drain(own, numbered(20));
      }),
    );
  });

  test("delivers invalid UTF-8 as bytes and a null value as an empty body, and ignores keys and headers", async () => {
    await queue.check();
    const headers = new Map(
      [
        ["id", "1"],
        ["attempts", "7"],
        ["due-at", String(Date.now() + 600_000)],
      ].map(([name = "", text = ""]) => [Buffer.from(name), Buffer.from(text)]),
    );
    const partition = 0;
    await producer.send({
      messages: [
        { topic, partition, key: Buffer.from("key"), value: Buffer.from([0xff, 0x7b]), headers },
        { topic, partition, key: Buffer.from("key"), value: null as unknown as Buffer },
      ],
    });
    expect(await receiveCount(2)).toMatchObject([
      { id: `${topic}-0-0`, bytes: Buffer.from([0xff, 0x7b]), size: 2, attempt: 1 },
      { id: `${topic}-0-1`, body: "", size: 0, attempt: 1 },
    ]);
  });

  test.each(["none", "gzip", "snappy", "lz4", "zstd"] as const)(
    "receives batches with the compression %s",
    async (compression) => {
      await queue.check();
      const bodies = numbered(50);
      await producer.send({
        messages: bodies.map((body) => ({ topic, value: Buffer.from(body) })),
        compression,
      });
      await drain(queue, bodies);
      await committed();
    },
  );

  test("does not deliver an aborted transaction, and goes on after it", async () => {
    await queue.check();
    const options: ProducerOptions<Buffer, Buffer, Buffer, Buffer> = {
      ...clientOptions(),
      transactionalId: topic,
      idempotent: true,
    };
    const transactional = new Producer(options);
    const publish = async (body: string, isCommitted: boolean) => {
      const transaction = await transactional.beginTransaction();
      await transaction.send({ messages: [{ topic, partition: 0, value: Buffer.from(body) }] });
      await (isCommitted ? transaction.commit() : transaction.abort());
    };
    await publish("aborted", false);
    await publish("committed", true);
    const deliveries = await drain(queue, ["committed"]);
    expect(deliveries).toHaveLength(1);
    await committed();
    await transactional.close();
  });

  test("goes on with the first message of a topic if the next ones were deleted", async () => {
    await admin.createTopics({ topics: [topic], partitions: 1 });
    await queue.send(["1"]);
    await drain(queue, ["1"]);
    await committed();
    await queue[Symbol.asyncDispose]();
    queue = await open();
    await queue.send(["2", "3"]);
    await admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition: 0, offset: 2n }] }] });
    await drain(queue, ["3"]);
    await committed();
  });

  test("receives from partitions that are added", async () => {
    await admin.createTopics({ topics: [topic], partitions: 1 });
    await queue.send(["1"]);
    await drain(queue, ["1"]);
    await admin.createPartitions({ topics: [{ name: topic, count: 4, assignments: null }] });
    await sleep(100);
    const value = Buffer.from("2");
    await eventually(() => producer.send({ messages: [{ topic, partition: 3, value }] }));
    await drain(queue, ["2"]);
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

  test("accepts a message of 1 MiB, and delivers it again", async () => {
    const body = "x".repeat(2 ** 20);
    await queue.send([body]);
    const [delivery] = await receive();
    await queue.retry([delivery as Delivery], 0);
    expect(await receive()).toMatchObject([{ body, attempt: 2 }]);
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
    await eventually(async () => {
      await queue.acknowledge(await queue.receive(100, 300, stop()));
      expect(await queue.check()).toEqual({ waiting: 0 });
    });
  });

  test.each([
    ["kafka://localhost:9092/", "has a path that is not the name of a topic"],
    ["kafka://localhost:9092/a/b", "has a path that is not the name of a topic"],
    ["kafka://localhost:9092/topic?group=", "has a parameter group that is not the name of a group"],
    ["kafka://localhost:9092/topic?queue=a", "known: group, sasl"],
  ])("rejects the URL %s", async (url, message) => {
    await expect(openQueue(url)).rejects.toThrow(message);
  });

  test("rejects while no broker responds", async () => {
    await using unreachable = await openQueue("kafka://127.0.0.1:9,127.0.0.1:10/topic");
    await expect(unreachable.check()).rejects.toThrow("ECONNREFUSED");
    await expect(unreachable.send(["1"])).rejects.toThrow("ECONNREFUSED");
    await expect(unreachable.receive(1, 100, stop())).rejects.toThrow("ECONNREFUSED");
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
    await eventually(async () => expect(await queue.check()).toEqual({ waiting: 0 }));
    await (fault === "killed" ? broker?.start() : broker?.resume());
    await eventually(() => queue.send(["with"]));
    await drain(queue, ["with"]);
  });
});
