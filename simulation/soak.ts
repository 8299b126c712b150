import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "undici";
import type { MemoryUse } from "../bench/memory-probe.ts";
import { type Server, startService } from "../bench/programs.ts";
import { figureOf } from "../bench/rounds.ts";
import { openQueue } from "../src/ledger/queue/queue.ts";
import { parseCommandLine, runCommand, say } from "../src/process/command.ts";
import { stopOnSignals } from "../src/process/stop.ts";
import { wholeNumber } from "../testing/options.ts";
import { type Random, seeded } from "../testing/random.ts";
import { requireInstalled } from "../testing/servers/install.ts";
import { postgresql, startPostgres } from "../testing/servers/postgres.ts";
import { rabbitmq, startRabbitmq } from "../testing/servers/rabbitmq.ts";
import { redis, startRedis } from "../testing/servers/redis.ts";
import { noFaults, openRun } from "./faults.ts";
import { openFeaturesClient, operateOn } from "./features/run.ts";
import { openPublisher } from "./ledger/publisher.ts";
import { openLedgerClient, sendRandomReads } from "./ledger/run.ts";

const usage = `Usage: npm run soak [-- --seconds N] [--seed N]

Runs both services under load, on their own PostgreSQL, RabbitMQ and Redis: it publishes messages, sends all kinds of
requests and reads change streams. It pauses 6 times and measures the memory of objects after a garbage collection, the
resident memory, the open file descriptors, and the duration of lookups. Exit code: 1 if one of these, except the
resident memory, has grown from the third measurement to the last.

  --seconds N   duration in seconds. Default: 60
  --seed N      seed of the random messages and requests. Default: 1
  --help        print this text
`;

const measurements = 6;
/** The first measurements are not compared: caches and pools still grow. */
const warmUpMeasurements = 2;
const pauseMs = 1500;
/** The minimum. The store then has its full number of changes from the first measurement on. */
const changesKept = 1;
const requestPauseMs = 100;
const lookupPauseMs = 20;

/** The measurement of one service. */
interface Measurement {
  objectsMiB: number;
  residentMiB: number;
  handles: number;
  /** The median of the lookups since the previous measurement. */
  lookupMs: number;
}

/** The growth that is allowed: a share of the first compared value, and an absolute tolerance. */
const allowedGrowth: Record<keyof Measurement, { share: number; absolute: number } | undefined> = {
  objectsMiB: { share: 0.1, absolute: 3 },
  // Only printed: the JavaScript engine decides how much memory it keeps.
  residentMiB: undefined,
  handles: { share: 0, absolute: 5 },
  // Other processes can use the machine at the same time.
  lookupMs: { share: 2, absolute: 2 },
};

const probe = fileURLToPath(new URL("../bench/memory-probe.ts", import.meta.url));
const options = ["--expose-gc", "--import", probe];

await runCommand("soak", usage, async (args) => {
  const { values: given } = parseCommandLine({
    args,
    options: { seconds: { type: "string" }, seed: { type: "string" } },
  });
  const seconds = wholeNumber("seconds", given.seconds ?? "60");
  const random = seeded(wholeNumber("seed", given.seed ?? "1"));
  requireInstalled([postgresql, rabbitmq, redis], "servers");
  const { signal: stop } = stopOnSignals();

  await using opened = new AsyncDisposableStack();
  const [database, broker, store] = [
    opened.use(await startPostgres()),
    opened.use(await startRabbitmq()),
    opened.use(await startRedis()),
  ];
  const queueUrl = `${broker.url}/?queue=payment-events`;
  const ledger = opened.use(
    await startService("ledger", { options, env: { DATABASE_URL: database.url, QUEUE_URL: queueUrl } }),
  );
  const features = opened.use(
    await startService("features", {
      options,
      env: { FEATURES_STORE_URL: `${store.url}?changes=${changesKept}` },
    }),
  );
  const queue = opened.use(await openQueue(queueUrl));
  const responses = new Map<string, number>();
  const ledgerClient = opened.use(openLedgerClient(ledger.url, "ledger", noFaults, responses));
  const featuresClient = opened.use(openFeaturesClient(features.url, "features", noFaults, responses));
  let messages = 0;
  const publisher = openPublisher(queue, random.fork(), (count) => {
    messages += count;
  });
  let resources = 0;
  const sendFeatureRequests = async (own: Random, end: AbortSignal) => {
    while (!end.aborted) {
      await operateOn(String(resources++ % 1000), [featuresClient], own);
      await sleep(requestPauseMs);
    }
  };

  const measured: { ledger: Measurement; features: Measurement }[] = [];
  for (let count = 0; count < measurements; count += 1) {
    const run = openRun((seconds / measurements - pauseMs / 1000) / 60, stop);
    const { end } = run;
    const [ledgerMs, featuresMs]: [number[], number[]] = [[], []];
    await run.all([
      timeRequests(ledger.url, "/v1/transaction/pay-1?override_account_id_restriction=true", ledgerMs, end),
      timeRequests(features.url, "/features/customer/1/dark-mode", featuresMs, end),
      publisher.publishUntil(end, requestPauseMs),
      sendRandomReads(ledgerClient, random.fork(), publisher, end),
      sendFeatureRequests(random.fork(), end),
      readChangeStreams(features.url, end),
    ]);
    await sleep(pauseMs);
    measured.push({
      ledger: await measure(ledger, ledgerMs),
      features: await measure(features, featuresMs),
    });
  }

  const responseCount = [...responses.values()].reduce((sum, count) => sum + count, 0);
  say(`${seconds} s, ${messages} messages, ${responseCount} responses`);
  const grown = (["ledger", "features"] as const).flatMap((service) =>
    (Object.keys(allowedGrowth) as (keyof Measurement)[]).flatMap((name) => {
      const values = measured.map((measurement) => measurement[service][name]);
      say(`${service}, ${name}: ${values.map((value) => value.toFixed(1)).join(", ")}`);
      const [first, last] = [values[warmUpMeasurements] as number, values.at(-1) as number];
      const growth = allowedGrowth[name];
      const max = growth && first * (1 + growth.share) + growth.absolute;
      return max !== undefined && last > max
        ? new Error(`${service}, ${name} grew from ${first} to ${last}`)
        : [];
    }),
  );
  if (grown.length > 0) throw new AggregateError(grown);
});

/** Sends one request after another and adds the duration of each in milliseconds. */
async function timeRequests(url: string, path: string, durations: number[], end: AbortSignal): Promise<void> {
  const client = new Client(url);
  while (!end.aborted) {
    const sentAt = performance.now();
    const { body } = await client.request({ method: "GET", path });
    await body.dump();
    durations.push(performance.now() - sentAt);
    await sleep(lookupPauseMs);
  }
  await client.close();
}

/** Opens one change stream after another and closes each connection in the middle of it. */
async function readChangeStreams(url: string, end: AbortSignal): Promise<void> {
  const headers = { accept: "text/event-stream" };
  while (!end.aborted) {
    const client = new Client(url);
    const { body } = await client.request({ method: "GET", path: "/changes", headers });
    body.on("error", () => {});
    await sleep(100);
    await client.destroy();
  }
}

async function measure(server: Server, lookupsMs: number[]): Promise<Measurement> {
  const { objects, resident } = await server.call<MemoryUse>("memory");
  return {
    objectsMiB: objects,
    residentMiB: resident,
    handles: readdirSync(`/proc/${server.pid}/fd`).length,
    lookupMs: figureOf(lookupsMs).median,
  };
}
