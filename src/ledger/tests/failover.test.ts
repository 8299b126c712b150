import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { expect, test } from "vitest";
import { describeIfAvailable } from "../../../testing/describe-if-available.ts";
import { eventually } from "../../../testing/eventually.ts";
import { message } from "../../../testing/messages.ts";
import {
  isPatroniInstalled,
  type PatroniNode,
  type PatroniPair,
  startPatroniPair,
} from "../../../testing/servers/patroni.ts";
import { isPgbouncerInstalled, startPgbouncer } from "../../../testing/servers/pgbouncer.ts";
import { openSilentServer } from "../../../testing/silent-server.ts";
import type { Database } from "../../database/database.ts";
import { openDatabase } from "../../database/databases.ts";
import type { Queue } from "../queue/queue.ts";
import { launchLedger, openSharedQueue } from "./ledger-process.fixture.ts";

/** The limits on a machine that responds at once, and the requests whose time a busy machine may add. */
const reportedMaxMs = 1000;
const writtenMaxMs = 5000;
const requestsMax = 20;

const machineLost = "the machine of the primary is lost";
type Failover = (primary: PatroniNode, pair: PatroniPair) => Promise<void>;
const failovers: Record<string, Failover> = {
  "the PostgreSQL of the primary is killed": (primary) => primary.killPostgres(),
  "the PostgreSQL of the next primary is killed": (primary) => primary.killPostgres(),
  "the primary is switched over": (_primary, pair) => pair.switchOver(),
  [machineLost]: (primary) => primary.kill(),
};

const areInstalled = isPatroniInstalled() && isPgbouncerInstalled();
describeIfAvailable("Patroni, etcd or PgBouncer", areInstalled)(
  "during failovers of a synchronous pair under Patroni, ledgers",
  () => {
    test("that know the nodes lose nothing, and continue", async () => {
      await using pair = await startPatroniPair();
      await surviveFailovers(
        pair,
        pair.nodes.map(({ url }) => url),
      );
    });

    test("behind a PgBouncer for each node lose nothing, and continue", async () => {
      await using pair = await startPatroniPair();
      const settings = ["pool_mode = transaction", "default_pool_size = 20", "server_login_retry = 1"];
      await using first = await startPgbouncer(pair.nodes[0], ...settings);
      await using second = await startPgbouncer(pair.nodes[1], ...settings);
      await surviveFailovers(pair, [first.url, second.url]);
    });
  },
);

/** Runs ledgers while the pair fails over in each way, and verifies their responses and what they store. */
async function surviveFailovers(pair: PatroniPair, urls: string[]): Promise<void> {
  await using silent = await openSilentServer();
  const hosts = [...urls.map((url) => new URL(url).host), `127.0.0.1:${silent.port}`].join();
  const { queue: opened, queueUrl } = await openSharedQueue();
  await using queue = opened;
  const DATABASE_URL = `postgres://postgres@${hosts}/postgres`;
  const env = { DATABASE_URL, QUEUE_URL: queueUrl, EVENT_WRITES: "true" };
  const ofReader = { QUEUE_RECEIVER_BACKGROUND_PROCESSING: "false", DATABASE_READ_URL: DATABASE_URL };
  const ledgers = [await launchLedger(env), await launchLedger({ ...env, ...ofReader })] as const;
  for (const { ready } of ledgers) await ready();
  const [receiver, reader] = ledgers.map(({ url }) => url) as [string, string];
  await using traffic = sendTraffic(queue, receiver, reader);

  for (const [name, failOver] of Object.entries(failovers)) {
    const primary = await pair.whenSynchronous();
    const next = pair.nodes.find((node) => node !== primary) as PatroniNode;
    await eventually(async () => expect(await statusOf(`${receiver}/healthcheck`)).toBe(200));
    // What one request takes here without a database.
    let slowestMs = 0;
    const measure = async () => {
      const startedAt = performance.now();
      await statusOf(`${receiver}/none`);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    };

    await using database = await openDatabase(next.url);
    const failingOver = failOver(primary, pair);
    let promoted = Number.POSITIVE_INFINITY;
    const promotion = untilPromoted(database).then(() => {
      promoted = performance.now();
    });
    await untilLost(primary);
    const lost = performance.now();
    // A pair that is quicker than the health check has nothing to report. One that lost a machine waits for 20 seconds.
    while ((await statusOf(`${receiver}/healthcheck`)) !== 503 && promoted > performance.now())
      await measure();
    const reported = performance.now();
    if (name === machineLost)
      expect(reported, "the loss is reported before the promotion").toBeLessThan(promoted);

    await promotion;
    const before = await countEvents(database);
    await eventually(async () => {
      await measure();
      const now = await countEvents(database);
      expect(now.received).toBeGreaterThan(before.received);
      expect(now.requested).toBeGreaterThan(before.requested);
    });
    const written = performance.now();
    await failingOver;
    if (!primary.isRunning()) await primary.start();
    expect(reported - lost, name).toBeLessThan(reportedMaxMs + requestsMax * slowestMs);
    expect(written - promoted, name).toBeLessThan(writtenMaxMs + requestsMax * slowestMs);
    await eventually(async () => expect(await statusOf(`${receiver}/healthcheck`)).toBe(200));
  }

  const { sent, confirmed, statuses } = await traffic.stop();
  await eventually(async () => expect(await queue.countWaiting()).toBe(0));
  await using database = await openDatabase(DATABASE_URL);
  await eventually(async () => {
    const rows = await database.query<{ id: string }>("select resource_external_id as id from event");
    const stored = rows.map(({ id }) => id);
    expect(new Set(stored).size).toBe(stored.length);
    expect(new Set([...sent, ...confirmed]).difference(new Set(stored))).toEqual(new Set());
  });
  expect(await database.query("select reason from dead_letter")).toEqual([]);
  // 504: the pooler of a lost machine does not respond to what it has, until there is another primary.
  expect([...statuses.difference(new Set([200, 202, 404, 503, 504]))]).toEqual([]);
  for (const { stop } of ledgers) await stop();
  expect(ledgers.flatMap(({ output }) => output().match(/.*unexpected error.*/g) ?? [])).toEqual([]);
}

/** Sends events to the queue and in requests, and reads, until `stop`. */
function sendTraffic(queue: Queue, receiver: string, reader: string) {
  const stop = new AbortController();
  const sent: string[] = [];
  const confirmed: string[] = [];
  const statuses = new Set<number>();
  const repeat = async (work: (index: number) => Promise<void>) => {
    for (let index = 0; !stop.signal.aborted; index += 1) {
      await work(index);
      await sleep(20);
    }
  };
  const body = (id: string) => JSON.stringify(message({ resource_external_id: id }));
  const running = Promise.all([
    repeat(async (index) => {
      const ids = ["a", "b", "c"].map((part) => `received-${index}-${part}`);
      await queue.send(ids.map(body));
      sent.push(...ids);
    }),
    ...[receiver, reader].map((url) =>
      repeat(async (index) => {
        const id = `requested-${url}-${index}`;
        const status = await statusOf(`${url}/v1/event`, body(id));
        statuses.add(status);
        if (status === 202) confirmed.push(id);
      }),
    ),
    ...[receiver, reader].map((url) =>
      repeat(async (index) => {
        const path = index % 2 === 0 ? "?account_id=57" : "received-0-a?account_id=57";
        statuses.add(await statusOf(`${url}/v1/transaction/${path}`));
      }),
    ),
  ]);
  running.catch(() => {});
  return {
    async stop() {
      stop.abort();
      await running;
      return { sent, confirmed, statuses };
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running.catch(() => {});
    },
  };
}

async function statusOf(url: string, json?: string): Promise<number> {
  const { statusCode, body } = await request(url, {
    ...(json && { method: "POST", body: json, headers: { "content-type": "application/json" } }),
  });
  await body.dump();
  return statusCode;
}

async function untilLost({ url }: PatroniNode): Promise<void> {
  await using database = await openDatabase(url);
  while (await isPrimary(database)) await sleep(5);
}

async function untilPromoted(database: Database): Promise<void> {
  while (!(await isPrimary(database))) await sleep(5);
}

async function isPrimary(database: Database): Promise<boolean> {
  const rows = await database.query("select where not pg_is_in_recovery()").catch(() => []);
  return rows.length > 0;
}

async function countEvents(database: Database): Promise<{ received: number; requested: number }> {
  const [row] = await database.query<{ received: number; requested: number }>(
    `select (count(*) filter (where resource_external_id like 'received-%'))::int as received,
            (count(*) filter (where resource_external_id like 'requested-%'))::int as requested
     from event`,
  );
  return row ?? { received: 0, requested: 0 };
}
