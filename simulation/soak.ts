import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "undici";
import type { MemoryUse } from "../bench/memory-probe.ts";
import { type Server, startBaseline, startService } from "../bench/programs.ts";
import { openQueue } from "../src/ledger/queue/queues.ts";
import { parseCommandLine, runCommand, say } from "../src/process/command.ts";
import { stopOnSignals } from "../src/process/stop.ts";
import { allSettled } from "../testing/all-settled.ts";
import { wholeNumber } from "../testing/options.ts";
import { type Random, seeded } from "../testing/random.ts";
import { requireInstalled } from "../testing/servers/install.ts";
import { postgresql, startPostgres } from "../testing/servers/postgres.ts";
import { rabbitmq, startRabbitmq } from "../testing/servers/rabbitmq.ts";
import { redis, startRedis } from "../testing/servers/redis.ts";
import { openCheckingClient } from "./client.ts";
import { noFaults, openTasks } from "./faults.ts";
import { operateOn } from "./features/run.ts";
import { openPublisher } from "./ledger/publisher.ts";
import { sendRandomReads } from "./ledger/run.ts";

const usage = `Usage: npm run soak [-- --seconds N] [--seed N]

Runs both services under load, on their own PostgreSQL, RabbitMQ and Redis: it publishes messages, sends all kinds of
requests and reads change streams. It pauses 6 times and measures the memory of objects after a garbage collection, the
open file descriptors, and the duration of lookups as a multiple of that of a request to a server that always sends the
same bytes, in turn with them. Exit code: 1 if one of these has grown from the third measurement to the last.

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
/** Lookups in a pause, with as many requests to the reference. */
const lookups = 100;

/** The measurement of one service. */
interface Measurement {
  objectsMiB: number;
  handles: number;
  /** The fastest of the lookups as a multiple of the fastest request to the reference: other programs slow down most. */
  lookups: number;
}

/** The growth that is allowed: a share of the first compared value, and an absolute tolerance. */
const allowedGrowth: Record<keyof Measurement, { share: number; absolute: number }> = {
  objectsMiB: { share: 0.1, absolute: 3 },
  handles: { share: 0, absolute: 5 },
  // Other processes can use the machine at the same time.
  lookups: { share: 2, absolute: 2 },
};

const probe = fileURLToPath(new URL("../bench/memory-probe.ts", import.meta.url));
const options = ["--expose-gc", "--import", probe];

await runCommand("soak", usage, async (args) => {
  const { values: given } = parseCommandLine({
    args,
    options: { seconds: { type: "string" }, seed: { type: "string" } },
  });
  const seconds = wholeNumber("seconds", given.seconds ?? "60");
  const seed = wholeNumber("seed", given.seed ?? "1");
  const random = seeded(seed);
  say(`${seconds} s, seed ${seed}`);
  requireInstalled([postgresql, rabbitmq, redis], "servers");
  const { signal: stop } = stopOnSignals();

  await using opened = new AsyncDisposableStack();
  const [database, broker, store, reference] = await allSettled([
    startPostgres().then((server) => opened.use(server)),
    startRabbitmq().then((server) => opened.use(server)),
    startRedis().then((server) => opened.use(server)),
    startBaseline("has-feature.ts").then((server) => opened.use(server)),
  ]);
  const queueUrl = `${broker.url}/?queue=payment-events`;
  const start = (service: "ledger" | "features", env: Record<string, string>) =>
    startService(service, { options, env }).then((server) => opened.use(server));
  const [ledger, features] = await allSettled([
    start("ledger", { DATABASE_URL: database.url, QUEUE_URL: queueUrl }),
    start("features", { FEATURES_STORE_URL: `${store.url}?changes=${changesKept}` }),
  ]);
  const queue = opened.use(await openQueue(queueUrl));
  const responses = new Map<string, number>();
  const clientOf = (service: "ledger" | "features", { url }: Server) =>
    opened.use(openCheckingClient(service, { server: service, url, faults: noFaults, responses }));
  const [ledgerClient, featuresClient] = [clientOf("ledger", ledger), clientOf("features", features)];
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
    const { failed, all } = openTasks(stop);
    const end = AbortSignal.any([
      failed,
      AbortSignal.timeout(Math.round((seconds * 1000) / measurements) - pauseMs),
    ]);
    await all([
      publisher.publishUntil(end, requestPauseMs),
      sendRandomReads(ledgerClient, random.fork(), publisher, end),
      sendFeatureRequests(random.fork(), end),
      readChangeStreams(features.url, end),
    ]);
    await sleep(pauseMs);
    measured.push({
      ledger: await measure(ledger, "/v1/transaction/pay-1?override_account_id_restriction=true", reference),
      features: await measure(features, "/features/customer/1/dark-mode", reference),
    });
  }

  const responseCount = [...responses.values()].reduce((sum, count) => sum + count, 0);
  say(`${messages} messages, ${responseCount} responses`);
  const grown = (["ledger", "features"] as const).flatMap((service) =>
    (Object.keys(allowedGrowth) as (keyof Measurement)[]).flatMap((name) => {
      const values = measured.map((measurement) => measurement[service][name]);
      say(`${service}, ${name}: ${values.map((value) => value.toFixed(1)).join(", ")}`);
      const [first, last] = [values[warmUpMeasurements] as number, values.at(-1) as number];
      const { share, absolute } = allowedGrowth[name];
      const isGrown = last > first * (1 + share) + absolute;
      return isGrown ? new Error(`${service}, ${name} grew from ${first} to ${last}`) : [];
    }),
  );
  if (grown.length > 0) throw new AggregateError(grown);
});

/** Sends requests to both in turn, so that a slow phase of the machine affects both. Returns the ratio of the fastest. */
async function durationRatio(url: string, path: string, reference: string): Promise<number> {
  const sides = [url, reference].map((base) => ({ client: new Client(base), durations: [] as number[] }));
  for (let count = 0; count < lookups; count += 1) {
    for (const { client, durations } of sides) {
      const sentAt = performance.now();
      const { body } = await client.request({ method: "GET", path });
      await body.dump();
      durations.push(performance.now() - sentAt);
    }
  }
  await Promise.all(sides.map(({ client }) => client.close()));
  const [own = 0, fixed = 1] = sides.map(({ durations }) => Math.min(...durations));
  return own / fixed;
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

async function measure(server: Server, path: string, reference: Server): Promise<Measurement> {
  const { objects } = await server.call<MemoryUse>("memory");
  return {
    objectsMiB: objects,
    handles: readdirSync(`/proc/${server.pid}/fd`).length,
    lookups: await durationRatio(server.url, path, reference.url),
  };
}
