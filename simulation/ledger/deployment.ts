import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import amqp from "amqplib";
import pg from "pg";
import { clientUrl, embeddedQueueUrl } from "../../src/ledger/queue/address.ts";
import { durableWithinMs } from "../../src/ledger/queue/amqp/declaration.ts";
import { openQueue } from "../../src/ledger/queue/queues.ts";
import { standInClient } from "../../src/ledger/queue/sqs/sqs.ts";
import { allSettled } from "../../testing/all-settled.ts";
import { disposing } from "../../testing/disposing.ts";
import { freePort } from "../../testing/free-port.ts";
import type { Random } from "../../testing/random.ts";
import { startKafka } from "../../testing/servers/kafka.ts";
import { runOn, startPostgres } from "../../testing/servers/postgres.ts";
import { installedRabbitmq, rabbitmq4, startRabbitmq } from "../../testing/servers/rabbitmq.ts";
import type { TestServer } from "../../testing/servers/server.ts";
import { startService } from "../../testing/services.ts";
import { openScratch } from "../../testing/small-disk.ts";
import { diskFilled, type Fault, faultsOfServers, openFaultyServer } from "../faults.ts";
import { openFaultyPair } from "../faulty-pair.ts";
import { openExchangeTarget, openFileTarget, openWebhookTarget } from "./targets.ts";

export const engines = ["pglite", "postgres", "patroni", "two-primaries"] as const;
export const queues = ["embedded", "amqp", "amqp4", "kafka"] as const;
export type Engine = (typeof engines)[number];
export type QueueKind = (typeof queues)[number];

export type Deployment = Awaited<ReturnType<typeof openDeployment>>;

const diskMebibytes = { pglite: 400, postgres: 1000, patroni: 400, "two-primaries": 400 };
/** Longer than the database keeps the session of a suspended client. */
const longSuspensionMaxMs = 15_000;
/** Seconds until a message that is not acknowledged is delivered again. */
const visibilitySeconds = 5;

/** Starts one or more processes of the ledger with their real database and queue, on loopback. */
export async function openDeployment(
  engine: Engine,
  queueKind: QueueKind,
  settings: Record<string, string>,
  random: Random,
) {
  await using opening = new AsyncDisposableStack();
  const faults: Fault[] = [];
  const { folder, disk } = opening.use(await openScratch(diskMebibytes[engine]));
  const onDisk: TestServer[] = [];
  if (disk) faults.push(diskFilled(disk, onDisk));

  const [database, broker] = await allSettled([
    openDatabaseOf(engine, { folder, faults, onDisk }, opening),
    openBroker(queueKind, faults, opening),
  ]);
  const targets = [opening.use(await openWebhookTarget(random.fork()))];
  if (engine === "pglite") targets.push(openFileTarget(join(folder, "published")));
  if (broker.exchangeUrl) targets.push(await openExchangeTarget(broker.exchangeUrl, broker.url));
  for (const target of targets) faults.push(...target.faults);

  // Only the first ledger has the embedded queue; the others are its clients.
  const port = await freePort();
  const queueUrl =
    queueKind === "embedded" ? `sqs+embedded:${join(folder, "queue")}?port=${port}` : broker.queueUrl;
  const clientsUrl = clientUrl(queueUrl);
  const start = async (url: string, index: number) => {
    const env = {
      ...ledgerSettings,
      ...settings,
      DATABASE_URL: database.url,
      QUEUE_URL: url,
      PUBLISH_URL: targets.map(({ url }) => url).join(" "),
      QUEUE_RECEIVER_BATCH_SIZE: String(random.pick([1, 10, 100, 400])),
      // The third ledger has no receiver.
      QUEUE_RECEIVER_BACKGROUND_PROCESSING: String(index < 2),
    };
    return opening.use(await startService("ledger", { env }));
  };
  const first = await start(queueUrl, 0);
  // Only one process can open an embedded database.
  const others = engine === "pglite" ? [] : [start(clientsUrl, 1), start(clientsUrl, 2)];
  const ledgers = [first, ...(await allSettled(others))];
  for (const [index, server] of ledgers.entries()) {
    // The first ledger may serve the queue, and a long suspension would delay the publisher.
    const losses = index > 0 ? { longSuspensionMaxMs } : {};
    faults.push(...faultsOfServers("ledger", `ledger ${index}`, [server], losses));
  }
  const [, reader] = ledgers;
  if (reader) faults.push(...(database.faultsOf?.("ledger 1", reader) ?? []));
  if (queueKind === "embedded") await shortenVisibility(port);
  const queue = opening.use(await openQueue(clientsUrl));
  // The check ensures that the queue exists. A ledger may have declared it just now, and RabbitMQ loses the messages of such
  // a queue if it is killed.
  await queue.countWaiting();
  if (broker.exchangeUrl) await sleep(durableWithinMs);
  return disposing(opening, {
    /** The components `ledger 0`, `ledger 1` and so on. */
    ledgers,
    /** To read the database after the ledgers have been killed. */
    databaseUrl: database.url,
    queue,
    /** Where the ledgers publish events. */
    targets,
    faults,
  });
}

/** Opens the database server of an engine. */
async function openDatabaseOf(
  engine: Engine,
  { folder, faults, onDisk }: { folder: string; faults: Fault[]; onDisk: TestServer[] },
  opening: AsyncDisposableStack,
): Promise<{ url: string; faultsOf?: (component: string, server: TestServer) => Fault[] }> {
  if (engine === "pglite") return { url: `pglite:${join(folder, "database")}` };
  if (engine !== "postgres") {
    const pair = opening.use(await openFaultyPair("database", engine));
    faults.push(...pair.faults);
    return pair;
  }
  const server = opening.use(await startPostgres(folder));
  onDisk.push(server);
  const database = opening.use(await openFaultyServer("database", server));
  faults.push(
    ...database.faults,
    database.partition,
    tableLocked(server.url),
    statementsCancelled(server.url),
  );
  return database;
}

/** Opens the broker of a queue. Only RabbitMQ can also have an exchange, whose URL has no faults. */
async function openBroker(
  kind: QueueKind,
  faults: Fault[],
  opening: AsyncDisposableStack,
): Promise<{ url: string; queueUrl: string; exchangeUrl?: string }> {
  if (kind === "embedded") return { url: "", queueUrl: "" };
  if (kind === "kafka") {
    const cluster = opening.use(await startKafka({ count: 3 }));
    // One at a time, since two are enough. The next one waits until it is back.
    faults.push(...faultsOfServers("broker", "queue", cluster.brokers, brokerLosses));
    return { url: cluster.url, queueUrl: `${cluster.url}/payment-events` };
  }
  const server = opening.use(await startRabbitmq(kind === "amqp4" ? rabbitmq4 : installedRabbitmq));
  const { url, faults: own } = opening.use(await openFaultyServer("queue", server));
  faults.push(...own, consumersClosed(server.url));
  return { url, queueUrl: `${url}/?queue=${rabbitmqQueue}`, exchangeUrl: server.url };
}

/** While the lock is held, no event can be stored, but reads succeed. */
const tableLocked = (url: string): Fault => ({
  component: "database",
  kind: "table locked",
  async inject(_random, pause) {
    const client = new pg.Client(url);
    client.on("error", () => {});
    try {
      await client.connect();
      await client.query("begin; lock table event in share row exclusive mode");
      await pause(lockedMaxMs);
    } catch {
      // The server can be down because the disk is full.
    } finally {
      await client.end();
    }
  },
});

const lockedMaxMs = 15_000;

/** Cancels what runs, again and again, as an operator or a limit of the server does. */
const statementsCancelled = (url: string): Fault => ({
  component: "database",
  kind: "statements cancelled",
  async inject() {
    for (let times = 0; times < 100; times += 1) {
      await runOn({ url }, cancelAll).catch(() => {});
      await sleep(50);
    }
  },
});

const cancelAll = `select pg_cancel_backend(pid) from pg_stat_activity
  where application_name = 'payment-ledger' and state = 'active'`;

/** Longer than the others need to notice: 9 seconds. */
const brokerLosses = { killedMaxMs: 15_000, suspendedMaxMs: 15_000, longSuspensionMaxMs: 15_000 };

const rabbitmqQueue = "payment-events";

/**
 * Consumers close one after another with all messages unacknowledged. The broker prefers them to the ledgers. So messages
 * are delivered more often than the default delivery limit of RabbitMQ 4 allows.
 */
const consumersClosed = (url: string): Fault => ({
  component: "queue",
  kind: "consumers closed in a row",
  isFirst: true,
  async inject() {
    let consumer = await openConsumer(url);
    for (let times = 1; times <= 30; times += 1) {
      // Each of them gets messages, unless there are none.
      await Promise.race([consumer.received, sleep(consumerMaxMs)]);
      const next = await openConsumer(url);
      await consumer.connection.close();
      consumer = next;
    }
    await consumer.connection.close();
  },
});
const consumerMaxMs = 500;

async function openConsumer(url: string) {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  const { promise: received, resolve } = Promise.withResolvers<void>();
  await channel.consume(rabbitmqQueue, () => resolve(), { priority: 1 });
  return { connection, received };
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
