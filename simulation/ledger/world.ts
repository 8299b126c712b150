import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { startPostgres } from "../../src/ledger/database/postgres-server.fixture.ts";
import { clientUrl, embeddedQueueUrl, openQueue, type Queue } from "../../src/ledger/queue/queue.ts";
import { startRabbitmq } from "../../src/ledger/queue/rabbitmq-server.fixture.ts";
import { standInClient } from "../../src/ledger/queue/sqs.ts";
import { lastingPort, type TestServer } from "../../src/service/test-server.fixture.ts";
import { connectionsCut, diskFilled, type Fault, faultsOfServer } from "../faults.ts";
import { openLine } from "../line.ts";
import type { Random } from "../random.ts";
import { startService } from "../service.ts";
import { canMount, openSmallDisk } from "../small-disk.ts";

export const engines = ["pglite", "postgres"] as const;
export const queues = ["embedded", "amqp"] as const;
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
  const disk = canMount() ? opening.use(await openSmallDisk(diskMebibytes[engine])) : undefined;
  const onDisk: TestServer[] = [];
  if (disk) faults.push(diskFilled("disk", disk, onDisk));
  const scratch = disk?.folder ?? opening.adopt(await mkdtemp(join(tmpdir(), "simulation-")), rmAll);

  let databaseUrl = `pglite:${join(scratch, "database")}`;
  if (engine === "postgres") {
    const server = opening.use(await startPostgres(scratch));
    onDisk.push(server);
    const line = opening.use(await openLine(server.url));
    faults.push(...faultsOfServer("database", "database", server));
    faults.push(connectionsCut("database", "database", line));
    databaseUrl = line.url;
  }

  // Only the first ledger has the embedded queue; the others are its clients.
  const port = await lastingPort();
  let queueUrls = [`sqs+embedded:${join(scratch, "queue")}?port=${port}`];
  if (queueKind === "amqp") {
    const server = opening.use(await startRabbitmq());
    const line = opening.use(await openLine(server.url));
    faults.push(...faultsOfServer("queue", "queue", server), connectionsCut("queue", "queue", line));
    queueUrls = [`${line.url}/?queue=payment-events`];
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
    faults.push(...faultsOfServer("ledger", `ledger ${index}`, server));
  }
  if (queueKind === "embedded") await shortenVisibility(port);
  const queue = opening.use(await openQueue(clientsUrl));
  // The queue is made when it is first asked for; RabbitMQ forgets one that it was told of less than a second ago.
  await queue.check();
  await sleep(1000);
  const opened = opening.move();
  return { ledgers, databaseUrl, queue, faults, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const rmAll = (folder: string) => rm(folder, { recursive: true });

const impatience = {
  STATEMENT_TIMEOUT_MS: "5000",
  QUEUE_RECEIVER_WAIT_MS: "500",
  QUEUE_RECEIVER_PAUSE_MS: "100",
  QUEUE_RECEIVER_PAUSE_MAX_MS: "2000",
};

async function shortenVisibility(port: number): Promise<void> {
  const client = standInClient(`http://127.0.0.1:${port}`);
  const Attributes = { VisibilityTimeout: String(visibilitySeconds) };
  await client.send(new SetQueueAttributesCommand({ QueueUrl: embeddedQueueUrl(port), Attributes }));
  client.destroy();
}
