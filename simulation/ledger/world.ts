import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import amqp from "amqplib";
import pg from "pg";
import { clientUrl, embeddedQueueUrl, openQueue, type Queue } from "../../src/ledger/queue/queue.ts";
import { standInClient } from "../../src/ledger/queue/sqs.ts";
import { freePort } from "../../testing/free-port.ts";
import { startPostgres } from "../../testing/servers/postgres.ts";
import { machinesRabbitmq, rabbitmq4, startRabbitmq } from "../../testing/servers/rabbitmq.ts";
import type { TestServer } from "../../testing/servers/server.ts";
import { openScratch } from "../../testing/small-disk.ts";
import { diskFilled, type Fault, faultsOfServer, putBehindLine } from "../faults.ts";
import type { Random } from "../random.ts";
import { startService } from "../service.ts";

export const engines = ["pglite", "postgres"] as const;
export const queues = ["embedded", "amqp", "amqp4"] as const;
export type Engine = (typeof engines)[number];
export type QueueKind = (typeof queues)[number];

/** A ledger of one or more processes, with what they depend on, all of it real and on loopback. */
export interface World extends AsyncDisposable {
  /** Each is a part that is named by its place, `ledger 0`. */
  ledgers: TestServer[];
  /** The database, for who looks into it once the ledgers are stopped. */
  databaseUrl: string;
  queue: Queue;
  faults: Fault[];
}

/** The parts on which every answer depends, beside the ledger that is asked. */
export const dependencies = ["database", "disk"];

const diskMebibytes = { pglite: 400, postgres: 1000 };
/** Longer than the database lets a session stand still. */
const hangMaxMs = 15_000;
/** Seconds after which a message comes again that a receiver took and did not end with. */
const visibilitySeconds = 5;

export async function openWorld(
  engine: Engine,
  queueKind: QueueKind,
  environment: Record<string, string>,
  random: Random,
): Promise<World> {
  await using opening = new AsyncDisposableStack();
  const faults: Fault[] = [];
  const { folder, disk } = opening.use(await openScratch(diskMebibytes[engine]));
  const onDisk: TestServer[] = [];
  if (disk) faults.push(diskFilled(disk, onDisk));

  let databaseUrl = `pglite:${join(folder, "database")}`;
  if (engine === "postgres") {
    const server = opening.use(await startPostgres(folder));
    onDisk.push(server);
    const database = opening.use(await putBehindLine("database", server));
    faults.push(...database.faults, database.silent, tableLocked(server.url));
    databaseUrl = database.url;
  }

  // Only the first ledger has the embedded queue; the others are its clients.
  const port = await freePort();
  let queueUrls = [`sqs+embedded:${join(folder, "queue")}?port=${port}`];
  if (queueKind !== "embedded") {
    const server = opening.use(await startRabbitmq(queueKind === "amqp4" ? rabbitmq4 : machinesRabbitmq));
    const broker = opening.use(await putBehindLine("queue", server));
    faults.push(...broker.faults, receiversDied(server.url));
    queueUrls = [`${broker.url}/?queue=${rabbitmqQueue}`];
  }
  const clientsUrl = clientUrl(queueUrls[0] as string);
  // A folder is one process's own.
  if (engine === "postgres") queueUrls = [queueUrls[0] as string, clientsUrl, clientsUrl];

  const ledgers: TestServer[] = [];
  for (const [index, queueUrl] of queueUrls.entries()) {
    const server = await startService("ledger", {
      ...impatience,
      ...environment,
      DATABASE_URL: databaseUrl,
      QUEUE_URL: queueUrl,
      QUEUE_RECEIVER_BATCH_SIZE: String(random.one([1, 10, 100])),
      // The last of several only answers.
      QUEUE_RECEIVER_BACKGROUND_PROCESSING: String(index < 2),
    });
    ledgers.push(opening.use(server));
    // The first may have the queue, for which publishers wait.
    faults.push(...faultsOfServer("ledger", `ledger ${index}`, server, index > 0 ? hangMaxMs : undefined));
  }
  if (queueKind === "embedded") await shortenVisibility(port);
  const queue = opening.use(await openQueue(clientsUrl));
  // The queue is made when it is first asked for; RabbitMQ forgets one that it was told of less than a second ago.
  await queue.check();
  await sleep(1000);
  const opened = opening.move();
  return { ledgers, databaseUrl, queue, faults, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** While somebody holds it, nothing can be stored, although the database answers. */
const tableLocked = (url: string): Fault => ({
  part: "database",
  kind: "table locked",
  async inflict(random) {
    const operator = new pg.Client(url);
    operator.on("error", () => {});
    try {
      await operator.connect();
      await operator.query("begin; lock table event in share row exclusive mode");
      await sleep(random.whole(0, lockedMaxMs));
    } catch {
      // A server that has ended for want of space lets nobody in.
    } finally {
      await operator.end();
    }
  },
});

const lockedMaxMs = 15_000;

const rabbitmqQueue = "payment-events";

/**
 * Receivers that die with all they have in hand, each while the next waits, which the broker prefers to the ledgers: so
 * they deliver messages more often than a RabbitMQ does unless it is set.
 */
const receiversDied = (url: string): Fault => ({
  part: "queue",
  kind: "receivers died in a row",
  async inflict() {
    let dying = await openGreedy(url);
    for (let times = 1; times <= 30; times += 1) {
      await sleep(30);
      const next = await openGreedy(url);
      await dying.close();
      dying = next;
    }
    await dying.close();
  },
});

async function openGreedy(url: string) {
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  await channel.consume(rabbitmqQueue, () => {}, { priority: 1 });
  return connection;
}

const impatience = {
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
