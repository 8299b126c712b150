import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import amqp from "amqplib";
import pg from "pg";
import { durableWithinMs } from "../../src/ledger/queue/amqp/declaration.ts";
import { clientUrl, embeddedQueueUrl, openQueue, type Queue } from "../../src/ledger/queue/queue.ts";
import { standInClient } from "../../src/ledger/queue/sqs.ts";
import { freePort } from "../../testing/free-port.ts";
import type { Random } from "../../testing/random.ts";
import { startKafka, type TestKafka } from "../../testing/servers/kafka.ts";
import { startPostgres } from "../../testing/servers/postgres.ts";
import { installedRabbitmq, rabbitmq4, startRabbitmq } from "../../testing/servers/rabbitmq.ts";
import type { TestServer } from "../../testing/servers/server.ts";
import { startService } from "../../testing/services.ts";
import { openScratch } from "../../testing/small-disk.ts";
import { diskFilled, ensureRunning, type Fault, faultsOfServer, openFaultyServer } from "../faults.ts";
import { openFaultyPair } from "../faulty-pair.ts";
import { openExchangeTarget, openFileTarget, openWebhookTarget, type PublishingTarget } from "./targets.ts";

export const engines = ["pglite", "postgres", "patroni"] as const;
export const queues = ["embedded", "amqp", "amqp4", "kafka"] as const;
export type Engine = (typeof engines)[number];
export type QueueKind = (typeof queues)[number];

/** One or more processes of the ledger with their real database and queue, on loopback. */
export interface Deployment extends AsyncDisposable {
  /** The components `ledger 0`, `ledger 1` and so on. */
  ledgers: TestServer[];
  /** To read the database after the ledgers have been killed. */
  databaseUrl: string;
  queue: Queue;
  /** Where the ledgers publish events. */
  targets: PublishingTarget[];
  faults: Fault[];
}

/** The components that every response depends on, apart from the ledger itself. */
export const dependencies = ["database", "disk"];

const diskMebibytes = { pglite: 400, postgres: 1000, patroni: 400 };
/** Longer than the database keeps the session of a suspended client. */
const longSuspensionMaxMs = 15_000;
/** Seconds until a message that is not acknowledged is delivered again. */
const visibilitySeconds = 5;

export async function openDeployment(
  engine: Engine,
  queueKind: QueueKind,
  settings: Record<string, string>,
  random: Random,
): Promise<Deployment> {
  await using opening = new AsyncDisposableStack();
  const faults: Fault[] = [];
  const { folder, disk } = opening.use(await openScratch(diskMebibytes[engine]));
  const onDisk: TestServer[] = [];
  if (disk) faults.push(diskFilled(disk, onDisk));

  let databaseUrl = `pglite:${join(folder, "database")}`;
  if (engine === "postgres") {
    const server = opening.use(await startPostgres(folder));
    onDisk.push(server);
    const database = opening.use(await openFaultyServer("database", server));
    faults.push(...database.faults, database.partition, tableLocked(server.url));
    databaseUrl = database.url;
  }
  if (engine === "patroni") {
    const pair = opening.use(await openFaultyPair("database"));
    faults.push(...pair.faults);
    databaseUrl = pair.url;
  }

  const targets = [opening.use(await openWebhookTarget(random.fork()))];
  if (engine === "pglite") targets.push(openFileTarget(join(folder, "published")));

  // Only the first ledger has the embedded queue; the others are its clients.
  const port = await freePort();
  let queueUrls = [`sqs+embedded:${join(folder, "queue")}?port=${port}`];
  if (queueKind === "kafka") {
    const cluster = opening.use(await startKafka({ count: 3 }));
    faults.push(...brokersLost(cluster));
    queueUrls = [`${cluster.url}/payment-events`];
  }
  if (queueKind === "amqp" || queueKind === "amqp4") {
    const server = opening.use(await startRabbitmq(queueKind === "amqp4" ? rabbitmq4 : installedRabbitmq));
    const broker = opening.use(await openFaultyServer("queue", server));
    faults.push(...broker.faults, consumersClosed(server.url));
    targets.push(await openExchangeTarget(server.url, broker.url));
    queueUrls = [`${broker.url}/?queue=${rabbitmqQueue}`];
  }
  for (const target of targets) faults.push(...target.faults);
  const clientsUrl = clientUrl(queueUrls[0] as string);
  // Only one process can open an embedded database.
  if (engine !== "pglite") queueUrls = [queueUrls[0] as string, clientsUrl, clientsUrl];

  const ledgers: TestServer[] = [];
  for (const [index, queueUrl] of queueUrls.entries()) {
    const env = {
      ...ledgerSettings,
      ...settings,
      DATABASE_URL: databaseUrl,
      QUEUE_URL: queueUrl,
      PUBLISH_URL: targets.map(({ url }) => url).join(" "),
      QUEUE_RECEIVER_BATCH_SIZE: String(random.pick([1, 10, 100, 400])),
      // The third ledger has no receiver.
      QUEUE_RECEIVER_BACKGROUND_PROCESSING: String(index < 2),
    };
    const server = await startService("ledger", { env });
    ledgers.push(opening.use(server));
    // The first ledger may serve the queue, and a long suspension would delay the publisher.
    faults.push(
      ...faultsOfServer("ledger", `ledger ${index}`, server, index > 0 ? longSuspensionMaxMs : undefined),
    );
  }
  if (queueKind === "embedded") await shortenVisibility(port);
  const queue = opening.use(await openQueue(clientsUrl));
  // The check ensures that the queue exists. A ledger may have declared it just now, and RabbitMQ loses the messages of such
  // a queue if it is killed.
  await queue.check();
  if (queueKind === "amqp" || queueKind === "amqp4") await sleep(durableWithinMs);
  const opened = opening.move();
  return { ledgers, databaseUrl, queue, targets, faults, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** While the lock is held, no event can be stored, but reads succeed. */
const tableLocked = (url: string): Fault => ({
  component: "database",
  kind: "table locked",
  async inject(random) {
    const client = new pg.Client(url);
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query("begin; lock table event in share row exclusive mode");
      await sleep(random.integer(0, lockedMaxMs));
    } catch {
      // The server can be down because the disk is full.
    } finally {
      await client.end();
    }
  },
});

const lockedMaxMs = 15_000;

/** The faults of three brokers: one at a time, since two are enough. The next one waits until it is back. */
const brokersLost = ({ brokers }: TestKafka): Fault[] => {
  const killed: Fault = {
    component: "queue",
    kind: "broker killed",
    isFirst: true,
    async inject(random) {
      const broker = random.pick(brokers);
      await broker.kill();
      await sleep(random.integer(0, brokerLostMaxMs));
      await ensureRunning(broker);
    },
  };
  return [
    killed,
    {
      component: "queue",
      kind: "broker suspended",
      async inject(random) {
        const broker = random.pick(brokers);
        broker.pause();
        await sleep(random.integer(0, brokerLostMaxMs));
        broker.resume();
      },
    },
    {
      component: "queue",
      kind: "broker restarted",
      async inject(random) {
        const broker = random.pick(brokers);
        await broker.restart().catch(() => ensureRunning(broker));
      },
    },
  ];
};
/** Longer than the others need to notice: 9 seconds. */
const brokerLostMaxMs = 15_000;

const rabbitmqQueue = "payment-events";

/**
 * Consumers close one after another with all messages unacknowledged. The broker prefers them to the ledgers. So messages
 * are delivered more often than the default delivery limit of RabbitMQ 4 allows.
 */
const consumersClosed = (url: string): Fault => ({
  component: "queue",
  kind: "consumers closed in a row",
  async inject() {
    let consumer = await openConsumer(url);
    for (let times = 1; times <= 30; times += 1) {
      await sleep(30);
      const next = await openConsumer(url);
      await consumer.close();
      consumer = next;
    }
    await consumer.close();
  },
});

async function openConsumer(url: string) {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  await channel.consume(rabbitmqQueue, () => {}, { priority: 1 });
  return connection;
}

const ledgerSettings = {
  EVENT_WRITES: "true",
  STATEMENT_TIMEOUT_MS: "5000",
  QUEUE_RECEIVER_WAIT_MS: "500",
  QUEUE_RECEIVER_RETRY_DELAY_MS: "100",
  QUEUE_RECEIVER_RETRY_DELAY_MAX_MS: "2000",
};

async function shortenVisibility(port: number): Promise<void> {
  const client = standInClient(`http://127.0.0.1:${port}`);
  const Attributes = { VisibilityTimeout: String(visibilitySeconds) };
  await client.send(new SetQueueAttributesCommand({ QueueUrl: embeddedQueueUrl(port), Attributes }));
  client.destroy();
}
