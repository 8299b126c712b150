import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { Admin, ProduceAcks, Producer } from "@platformatic/kafka";
import amqp from "amqplib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { message } from "../../../testing/messages.ts";
import { run } from "../../../testing/run.ts";
import { isKafkaInstalled, startKafka } from "../../../testing/servers/kafka.ts";
import { isPostgresInstalled, startPostgres } from "../../../testing/servers/postgres.ts";
import { isRabbitmqInstalled, startRabbitmq } from "../../../testing/servers/rabbitmq.ts";
import { openDatabase } from "../../database/databases.ts";
import { newBatch, publishBatch, zstdOfLargeWindow } from "../queue/kafka/batch.fixture.ts";
import { openQueue } from "../queue/queues.ts";
import { startLedger } from "./ledger.fixture.ts";

const mebibyte = 2 ** 20;

/** An event message of exactly this size in bytes. */
function eventOf(id: string, bytes: number): Buffer {
  const note = "ü".repeat(100);
  const event_details = { gateway_account_id: "57", note };
  const body = JSON.stringify(message({ resource_external_id: id, event_details }));
  const missing = bytes - Buffer.byteLength(body);
  return Buffer.from(body.replace(note, note + "x".repeat(missing)));
}

interface Broker extends AsyncDisposable {
  /** The URL of a queue of this name. */
  queueUrl(name: string): string;
  /** Publishes messages, however large they are, to a queue that accepts them. */
  publish(name: string, bodies: Buffer[]): Promise<void>;
}

async function openRabbitmq(): Promise<Broker> {
  const server = await startRabbitmq();
  return {
    queueUrl: (name) => `${server.url}?queue=${name}`,
    async publish(name, bodies) {
      const connection = await amqp.connect(server.url);
      const channel = await connection.createConfirmChannel();
      await channel.assertQueue(name);
      for (const body of bodies) channel.sendToQueue(name, body);
      await channel.waitForConfirms();
      await connection.close();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function openKafka() {
  const server = await startKafka();
  const options = { clientId: "test", bootstrapBrokers: [new URL(server.url).host] };
  return {
    queueUrl: (topic: string) => `${server.url}/${topic}`,
    async publish(topic: string, bodies: Buffer[]) {
      const admin = new Admin(options);
      const configs = [{ name: "max.message.bytes", value: "100000000" }];
      await admin.createTopics({ topics: [topic], configs });
      await admin.close();
      const producer = new Producer(options);
      for (const value of bodies) {
        await eventually(() => producer.send({ messages: [{ topic, value }], acks: ProduceAcks.ALL }));
      }
      await producer.close();
    },
    /** Publishes a batch as it is. */
    async publishBatch(topic: string, batch: Buffer) {
      const admin = new Admin(options);
      await publishBatch(admin, topic, batch);
      await admin.close();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe.each([
  ["RabbitMQ", isRabbitmqInstalled, openRabbitmq],
  ["Kafka", isKafkaInstalled, openKafka],
])("large messages of %s", (name, isInstalled, openBroker) => {
  describeIfAvailable(`PostgreSQL or ${name}`, isPostgresInstalled() && isInstalled())("", () => {
    let broker: Broker;
    beforeAll(async () => {
      broker = await openBroker();
    });
    afterAll(() => broker[Symbol.asyncDispose]());

    test("a message of more than 1 MiB becomes a dead letter, byte for byte, and blocks no other", async () => {
      const rejected = [
        eventOf("over", mebibyte + 1),
        eventOf("far over", 16 * mebibyte),
        Buffer.alloc(30 * mebibyte, Buffer.from([0xff, 0x7b])),
      ];
      const stored = [eventOf("small1", 500), eventOf("just", mebibyte), eventOf("small2", 500)];
      const [first, ...others] = stored as [Buffer, ...Buffer[]];
      await broker.publish("large", [first, ...rejected, ...others]);
      await using ledger = await startLedger({ queueUrl: broker.queueUrl("large") });
      for (const id of ["small1", "just", "small2"]) {
        await ledger.until(`/v1/transaction/${id}?account_id=57`, { transaction_id: id });
      }
      const [tooLarge, notText] = ["the message is larger than 1 MiB", "the message is not valid UTF-8"];
      const expected = rejected.map((body, index) => ({
        digest: createHash("sha256").update(body).digest("hex"),
        reason: index < 2 ? tooLarge : notText,
      }));
      const deadLetters = (columns: string) => ledger.database.query(`select ${columns} from dead_letter`);
      await eventually(async () => expect(await deadLetters("")).toHaveLength(3));
      expect(new Set(await deadLetters("encode(sha256(body), 'hex') as digest, reason"))).toEqual(
        new Set(expected),
      );
    });

    test("500 messages of nearly 1 MiB are stored within 512 MiB of memory", async () => {
      await using database = await startPostgres();
      await using queue = await openQueue(broker.queueUrl("many"));
      const count = 500;
      for (let sent = 0; sent < count; sent += 50) {
        const ids = Array.from({ length: 50 }, (_, index) => `large${sent + index}`);
        await queue.send(ids.map((id) => eventOf(id, 950_000).toString()));
      }
      const settings = {
        DATABASE_URL: database.url,
        QUEUE_URL: broker.queueUrl("many"),
        LEDGER_PORT: "0",
      };
      const { child, waitForOutput, exit } = run("src/main.ts", { args: ["ledger"], env: settings });
      await waitForOutput("listening");
      await using reader = await openDatabase(database.url);
      // Each wait has a limit of its own, since a slow machine takes minutes for all messages.
      for (let stored = 100; stored <= count; stored += 100) {
        await eventually(async () =>
          expect(await reader.query("select from event limit $1", [stored])).toHaveLength(stored),
        );
      }
      expect(await reader.query("select count(*) from event")).toEqual([{ count: BigInt(count) }]);
      const [, peak] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
      child.kill("SIGTERM");
      await exit;
      expect(Number(peak)).toBeLessThan(512 * 1024);
    });
  });
});

describeIfAvailable("Kafka", isKafkaInstalled())("a batch of Kafka that needs too much memory", () => {
  test("makes the receiver unhealthy, and no message is lost", async () => {
    await using broker = await openKafka();
    await broker.publish("batches", [eventOf("before", 500)]);
    const batch = newBatch([{ value: Buffer.alloc(9 * mebibyte, " ") }], zstdOfLargeWindow);
    await broker.publishBatch("batches", batch);
    await using ledger = await startLedger({ queueUrl: broker.queueUrl("batches") });
    await ledger.until("/healthcheck", {
      queue: { healthy: true },
      receiver: { healthy: false, message: expect.stringContaining("compression.zstd.level") },
    });
    expect((await ledger.request("/healthcheck")).status).toBe(503);
    await ledger.until("/v1/transaction/before?account_id=57", { transaction_id: "before" });
    await ledger.until("/v1/intake", { messages_waiting: 1, open_dead_letters: 0 });
  });
});
