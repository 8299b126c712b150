import { randomUUID } from "node:crypto";
import {
  Admin,
  type Broker,
  ConfigResourceTypes,
  FindCoordinatorKeyTypes,
  IncrementalAlterConfigOperationTypes,
  offsetCommitV8,
  Producer,
  type ProducerOptions,
} from "@platformatic/kafka";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { describeIfAvailable } from "../../../../testing/describe-if-available.ts";
import { eventually } from "../../../../testing/eventually.ts";
import { testWaitMaxMs } from "../../../../testing/test-wait-max.ts";
import { drain, numbered, receiveCount } from "../drain.fixture.ts";
import type { Queue, ReceivedMessage } from "../queue.ts";
import { openQueue } from "../queues.ts";
import { compressions, newBatch, publishBatch } from "./batch.fixture.ts";
import { commitsOf, lagOf } from "./lag.fixture.ts";

const kafka = process.env.TEST_KAFKA_URL;
const stop = () => AbortSignal.timeout(testWaitMaxMs);

describeIfAvailable("TEST_KAFKA_URL", kafka !== undefined)("a topic of Kafka", () => {
  let admin: Admin;
  let producer: Producer;
  const clientOptions = () => ({ clientId: "test", bootstrapBrokers: [new URL(kafka ?? "").host] });
  beforeAll(() => {
    admin = new Admin(clientOptions());
    producer = new Producer(clientOptions());
  });
  afterAll(() => Promise.all([admin.close(), producer.close()]));

  let topic: string;
  /** The topic for retries with a short delay. */
  let retryTopic: string;
  let queue: Queue;
  const open = (name = topic, group = topic) => openQueue(`${kafka}/${name}?group=${group}`);
  /** As after the end of the process. */
  async function reopen(): Promise<void> {
    await queue[Symbol.asyncDispose]();
    queue = await open();
  }
  beforeEach(async () => {
    topic = `test-${randomUUID()}`;
    retryTopic = `${topic}.${topic}.retry-1s`;
    queue = await open();
  });
  afterEach(() => queue[Symbol.asyncDispose]());
  const receive = (count: number, from = queue) => receiveCount(from, count);
  const committed = () =>
    eventually(async () => {
      expect(await queue.countWaiting()).toBe(0);
      expect(await lagOf(admin, topic, topic)).toBe(0);
    });

  /** Commits these offsets and their metadata, as they are, for a group without members. */
  async function commitAgain(offsets: Awaited<ReturnType<typeof commitsOf>>): Promise<void> {
    const [coordinator] = await admin.findCoordinator({
      keyType: FindCoordinatorKeyTypes.GROUP,
      keys: [topic],
    });
    const connection = await admin.connections.get(coordinator as Broker);
    const topics = [...Map.groupBy(offsets, (each) => each.topic)].map(([name, ofTopic]) => ({
      name,
      partitions: ofTopic.map(({ partitionIndex, committedOffset, metadata }) => ({
        ...{ partitionIndex, committedOffset, committedLeaderEpoch: -1, committedMetadata: metadata },
      })),
    }));
    // A topic is known some time after its creation.
    await eventually(() => offsetCommitV8.api.async(connection, topic, -1, "", null, topics));
  }

  test("delivers again what was not acknowledged, although later messages were", async () => {
    await admin.createTopics({ topics: [topic], partitions: 1 });
    await queue.send(["1", "2", "3"]);
    const [first, ...others] = await receive(3);
    await queue.acknowledge(others);
    await reopen();
    const again = await receive(3);
    expect(again[0]).toMatchObject({ id: first?.id, body: "1", attempt: 1 });
    // The acknowledgement of an earlier assignment is ignored.
    await queue.acknowledge([first as ReceivedMessage]);
    expect(await queue.countWaiting()).toBe(3);
    await queue.acknowledge(again);
    await committed();
    await reopen();
    await queue.send(["4"]);
    expect((await receive(1)).map(({ body }) => body)).toEqual(["4"]);
  });

  test("delivers the others of a partition while a message waits for its retry, also after a restart", async () => {
    await admin.createTopics({ topics: [topic], partitions: 1 });
    await queue.send(["1"]);
    const [first] = await receive(1);
    const retriedAt = Date.now();
    await queue.retry([first as ReceivedMessage], 2000);
    await queue.send(numbered(500));
    await drain(queue, numbered(500));
    await eventually(async () => expect(await queue.countWaiting()).toBe(1));
    await reopen();
    const [again] = await receive(1);
    expect(Date.now() - retriedAt).toBeGreaterThanOrEqual(2000);
    expect(again).toMatchObject({ id: first?.id, body: "1", attempt: 2, sentAt: first?.sentAt });
    await queue.acknowledge([again as ReceivedMessage]);
    await committed();
  });

  test("delivers a message again whose retry could not be published, also after a restart", async () => {
    await admin.createTopics({ topics: [topic], partitions: 1 });
    const [name, value] = ["max.message.bytes", "1000"];
    await admin.createTopics({ topics: [retryTopic], partitions: 1, configs: [{ name, value }] });
    const large = "large".padEnd(2000, "x");
    await queue.send([large]);
    await expect(queue.retry(await receive(1), 0)).rejects.toThrow("larger than");
    const delivered = { id: expect.stringMatching(`^${topic}-0-0-`), body: large };
    expect(await receive(1)).toMatchObject([{ ...delivered, attempt: 1 }]);
    await reopen();
    expect(await queue.countWaiting()).toBe(1);
    const configs = [{ name, value: "10000", configOperation: IncrementalAlterConfigOperationTypes.SET }];
    const resource = { resourceType: ConfigResourceTypes.TOPIC, resourceName: retryTopic, configs };
    await admin.incrementalAlterConfigs({ resources: [resource] });
    // The broker changes its limit some time later.
    await eventually(async () => queue.retry(await receive(1), 0));
    expect(await receive(1)).toMatchObject([{ ...delivered, attempt: 2 }]);
  });

  test("two groups receive all messages of a topic, each with its own retries", async () => {
    await using other = await open(topic, `${topic}-other`);
    await queue.send(["1"]);
    const [delivery] = await receive(1);
    await queue.retry([delivery as ReceivedMessage], 0);
    const [again] = await receive(1);
    expect(again).toMatchObject({ body: "1", attempt: 2 });
    await queue.acknowledge([again as ReceivedMessage]);
    // It has committed nothing.
    expect(await other.countWaiting()).toBe(1);
    const [ofOther] = await receive(1, other);
    expect(ofOther).toMatchObject({ body: "1", attempt: 1 });
    await other.acknowledge([ofOther as ReceivedMessage]);
    await queue.send(["2"]);
    expect(await receive(1, other)).toMatchObject([{ body: "2", attempt: 1 }]);
  });

  test("receives from its own topic although members of its group receive from others", async () => {
    const names = ["a", "b", "c"].map((name) => `${topic}-${name}`);
    await Promise.all(
      names.map(async (name) => {
        await using own = await open(name);
        await own.send(numbered(20));
        const deliveries = await receive(20, own);
        expect(deliveries.every(({ id }) => id.startsWith(name))).toBe(true);
        await own.retry(deliveries, 0);
        await drain(own, numbered(20));
      }),
    );
  });

  test("delivers invalid UTF-8 as bytes and a null value as an empty body, and ignores keys and headers", async () => {
    await queue.countWaiting();
    const texts = { id: "1", attempts: "7", "due-at": String(Date.now() + 600_000) };
    const headers = new Map(
      Object.entries(texts).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]),
    );
    const partition = 0;
    await producer.send({
      messages: [
        { topic, partition, key: Buffer.from("key"), value: Buffer.from([0xff, 0x7b]), headers },
        { topic, partition, key: Buffer.from("key"), value: null as unknown as Buffer },
      ],
    });
    expect(await receive(2)).toMatchObject([
      { id: expect.stringMatching(`^${topic}-0-0-`), bytes: Buffer.from([0xff, 0x7b]), size: 2, attempt: 1 },
      { id: expect.stringMatching(`^${topic}-0-1-`), body: "", size: 0, attempt: 1 },
    ]);
  });

  test("receives batches with any compression", async () => {
    await queue.countWaiting();
    const compressions = ["none", "gzip", "snappy", "lz4", "zstd"] as const;
    for (const [index, compression] of compressions.entries()) {
      const messages = numbered(50, 50 * index).map((body) => ({ topic, value: Buffer.from(body) }));
      await producer.send({ messages, compression });
    }
    await drain(queue, numbered(250));
    await committed();
  });

  test.each(Object.entries(compressions))(
    "goes on in the middle of a batch after a restart, with compression %s",
    async (_, compression) => {
      await admin.createTopics({ topics: [topic], partitions: 1 });
      const bodies = Array.from({ length: 5 }, (_, index) => `${index}`.repeat(100_000));
      const batch = newBatch(
        bodies.map((body) => ({ value: Buffer.from(body) })),
        compression,
      );
      await eventually(() => publishBatch(admin, topic, batch));
      const deliveries = await receive(5);
      expect(deliveries.map(({ body }) => body)).toEqual(bodies);
      await queue.acknowledge(deliveries.slice(0, 3));
      await reopen();
      const again = await receive(2);
      expect(again.map(({ body, id }) => ({ body, id }))).toEqual(
        deliveries.slice(3).map(({ body, id }) => ({ body, id })),
      );
      await queue.acknowledge(again);
      await committed();
    },
  );

  test("delivers a message again from a retry topic that compresses", async () => {
    const configs = [{ name: "compression.type", value: "zstd" }];
    await admin.createTopics({ topics: [retryTopic], partitions: 1, configs });
    await queue.send(["1"]);
    const [first] = await receive(1);
    await queue.retry([first as ReceivedMessage], 0);
    const { id, sentAt } = first as ReceivedMessage;
    expect(await receive(1)).toMatchObject([{ id, sentAt, body: "1", attempt: 2 }]);
  });

  describe("transactions", () => {
    const transactional: Producer[] = [];
    afterEach(() => Promise.all(transactional.splice(0).map((each) => each.close())));

    /** A function that begins a transaction with these messages. The transactions of the producer follow each other. */
    function newTransactions() {
      const options: ProducerOptions<Buffer, Buffer, Buffer, Buffer> = {
        ...clientOptions(),
        transactionalId: randomUUID(),
        idempotent: true,
        // A transaction that stays open for longer is aborted.
        timeout: 5 * testWaitMaxMs,
      };
      const own = new Producer(options);
      transactional.push(own);
      return async (bodies: string[]) => {
        const transaction = await own.beginTransaction();
        for (const body of bodies)
          await transaction.send({ messages: [{ topic, partition: 0, value: Buffer.from(body) }] });
        return transaction;
      };
    }

    test("delivers no message of aborted transactions, and no message waits behind them", async () => {
      await admin.createTopics({ topics: [topic], partitions: 1 });
      const [begin, beginOther] = [newTransactions(), newTransactions()];
      await (await begin(["a"])).abort();
      await (await begin(["b"])).commit();
      await (await begin(["c"])).abort();
      const open = await beginOther(["d"]);
      // It does not fit into one response of a broker, so its end is in a later one.
      await (await begin(numbered(5).map((body) => body.padEnd(400_000, "x")))).abort();
      await (await begin(["f"])).commit();
      await open.abort();
      await (await begin(["g"])).abort();
      await (await beginOther(["h"])).abort();
      const deliveries = await drain(queue, ["b", "f"]);
      expect(deliveries).toHaveLength(2);
      await committed();
      await (await begin(["i"])).abort();
      await committed();
      await reopen();
      await queue.send(["j"]);
      expect((await receive(1)).map(({ body }) => body)).toEqual(["j"]);
    });

    test("delivers a committed transaction between aborted ones, also if one of these is empty", async () => {
      await admin.createTopics({ topics: [topic], partitions: 1 });
      const begin = newTransactions();
      await (await begin(["a"])).abort();
      await (await begin(["b"])).commit();
      // The topic does not accept the message, and gets the end of the transaction.
      const empty = await begin([]);
      const tooLarge = { topic, partition: 0, value: Buffer.alloc(2 ** 21) };
      await expect(empty.send({ messages: [tooLarge] })).rejects.toThrow();
      await empty.abort();
      expect(await drain(queue, ["b"])).toHaveLength(1);
      await committed();
    });

    test("no message of an open transaction waits, and none behind it, until the transaction ends", async () => {
      await admin.createTopics({ topics: [topic], partitions: 1 });
      await queue.send(["a"]);
      const open = await newTransactions()(["b"]);
      await queue.send(["c"]);
      await eventually(async () => expect(await queue.countWaiting()).toBe(1));
      await drain(queue, ["a"]);
      await eventually(async () => expect(await queue.countWaiting()).toBe(0));
      await open.commit();
      await eventually(async () => expect(await queue.countWaiting()).toBeGreaterThanOrEqual(2));
      const deliveries = await receive(2);
      expect(deliveries.map(({ body }) => body)).toEqual(["b", "c"]);
      await queue.acknowledge(deliveries);
      await committed();
    });
  });

  test("goes on with the first message of a topic if the next ones were deleted", async () => {
    await admin.createTopics({ topics: [topic], partitions: 1 });
    await queue.send(["1"]);
    await drain(queue, ["1"]);
    await committed();
    await reopen();
    await queue.send(["2", "3"]);
    await admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition: 0, offset: 2n }] }] });
    await drain(queue, ["3"]);
    await committed();
  });

  describe("a topic that is created again", () => {
    /** Deletes a topic and creates it again, as an operator does. */
    async function recreate(name: string, partitions = 1): Promise<void> {
      await admin.deleteTopics({ topics: [name] });
      await eventually(() => admin.createTopics({ topics: [name], partitions }));
    }
    const publish = (name: string, bodies: string[]) =>
      eventually(async () => {
        producer.clearMetadata();
        await producer.send({
          messages: bodies.map((body) => ({ topic: name, partition: 0, value: Buffer.from(body) })),
        });
      });

    test.each([
      { before: 3, after: 1, messages: 20 },
      { before: 1, after: 1, messages: 80 },
      { before: 1, after: 3, messages: 80 },
    ])(
      "delivers all its messages while a process receives: $before, $after partitions, $messages messages",
      async ({ before, after, messages }) => {
        await admin.createTopics({ topics: [topic], partitions: before });
        await publish(topic, numbered(60));
        const former = new Set((await drain(queue, numbered(60))).map(({ id }) => id));
        await committed();
        await recreate(topic, after);
        await publish(topic, numbered(messages, 100));
        const deliveries = await drain(queue, numbered(messages, 100));
        // An id names one message: the former ones can be dead letters.
        expect(deliveries.filter(({ id }) => former.has(id))).toEqual([]);
        await committed();
        await reopen();
        await publish(topic, ["next"]);
        expect((await receive(1)).map(({ body }) => body)).toEqual(["next"]);
      },
    );

    test.each([
      { messages: 20, id: "its id" },
      { messages: 80, id: "its id" },
      { messages: 20, id: "no id" },
    ])(
      "delivers all its $messages messages although a commit of the former one with $id remains",
      async ({ messages, id }) => {
        await admin.createTopics({ topics: [topic], partitions: 1 });
        await publish(topic, numbered(60));
        await drain(queue, numbered(60));
        await committed();
        await queue[Symbol.asyncDispose]();
        const remaining = await commitsOf(admin, topic);
        await recreate(topic);
        await commitAgain(id === "no id" ? remaining.map((each) => ({ ...each, metadata: "" })) : remaining);
        await publish(topic, numbered(messages, 100));
        queue = await open();
        expect(await queue.countWaiting()).toBe(messages);
        await drain(queue, numbered(messages, 100));
        await committed();
      },
    );

    test("delivers all its messages if it is a retry topic", async () => {
      await admin.createTopics({ topics: [topic], partitions: 1 });
      const retryAll = async (bodies: string[]) => {
        await queue.send(bodies);
        await queue.retry(await receive(bodies.length), 0);
      };
      await retryAll(numbered(5));
      await drain(queue, numbered(5));
      await committed();
      await recreate(retryTopic);
      await retryAll(numbered(3, 5));
      await drain(queue, numbered(3, 5));
      await committed();
    });
  });

  test("no message waits if all were deleted, also while no process receives", async () => {
    await admin.createTopics({ topics: [topic], partitions: 2 });
    await drain(queue, []);
    const deleted = async (partition: number, isReceiving: boolean) => {
      if (!isReceiving) await queue[Symbol.asyncDispose]();
      const messages = numbered(10).map((body) => ({ topic, partition, value: Buffer.from(body) }));
      await producer.send({ messages });
      await admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition, offset: -1n }] }] });
    };
    await deleted(0, false);
    expect(await queue.countWaiting()).toBe(0);
    await reopen();
    await drain(queue, []);
    await committed();
    await deleted(1, true);
    await queue.acknowledge(await queue.receive(100, 1000, stop()));
    await committed();
  });

  test.each([
    { name: "small", bytes: 10, count: 200, max: 10 },
    // A response of a broker has one of them.
    { name: "large", bytes: 900_000, count: 8, max: 100 },
  ])("delivers the $name messages of all partitions in turn", async ({ bytes, count, max }) => {
    await admin.createTopics({ topics: [topic], partitions: 2 });
    /** Receives and acknowledges until enough is received, and returns the partitions of the messages. */
    const partitionsUntil = async (isEnough: (partitions: string[]) => boolean) => {
      const partitions: string[] = [];
      while (!isEnough(partitions)) {
        const received = await queue.receive(max, 1000, stop());
        await queue.acknowledge(received);
        partitions.push(...received.map(({ id }) => id.charAt(`${topic}-`.length)));
      }
      return new Set(partitions);
    };
    const both = new Set(["0", "1"]);
    // Until its position is known, a partition has no turn.
    for (const partition of [0, 1])
      await producer.send({ messages: [{ topic, partition, value: Buffer.from("first") }] });
    await partitionsUntil((partitions) => new Set(partitions).size === both.size);
    const value = Buffer.alloc(bytes, "x");
    for (const partition of [0, 1])
      for (let sent = 0; sent < count; sent += 1)
        await producer.send({ messages: [{ topic, partition, value }] });
    expect(await partitionsUntil((partitions) => partitions.length >= count / 2)).toEqual(both);
  });

  test("receives from partitions that are added", async () => {
    await admin.createTopics({ topics: [topic], partitions: 1 });
    await queue.send(["1"]);
    await drain(queue, ["1"]);
    await admin.createPartitions({ topics: [{ name: topic, count: 4, assignments: null }] });
    const value = Buffer.from("2");
    await eventually(() => producer.send({ messages: [{ topic, partition: 3, value }] }));
    await drain(queue, ["2"]);
  });

  test("accepts a message of 1 MiB, and delivers it again", async () => {
    const body = "x".repeat(2 ** 20);
    await queue.send([body]);
    const [delivery] = await receive(1);
    await queue.retry([delivery as ReceivedMessage], 0);
    expect(await receive(1)).toMatchObject([{ body, attempt: 2 }]);
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
    await expect(unreachable.countWaiting()).rejects.toThrow("ECONNREFUSED");
    await expect(unreachable.send(["1"])).rejects.toThrow("ECONNREFUSED");
    await expect(unreachable.receive(1, 100, stop())).rejects.toThrow("ECONNREFUSED");
  });
});
