import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "undici";
import type { Held } from "../bench/memory-probe.ts";
import { type Server, startService } from "../bench/programs.ts";
import { figureOf } from "../bench/rounds.ts";
import { postgresql, rabbitmq, redis } from "../scripts/servers/debian.ts";
import { requireInstalled } from "../scripts/servers/install.ts";
import { openQueue } from "../src/ledger/queue/queue.ts";
import { parseCommandLine, runCommand, say } from "../src/process/command.ts";
import { stopOnSignals } from "../src/process/stop.ts";
import { wholeNumber } from "../testing/options.ts";
import { startPostgres } from "../testing/servers/postgres.ts";
import { startRabbitmq } from "../testing/servers/rabbitmq.ts";
import { startRedis } from "../testing/servers/redis.ts";
import { nothingHappens, openRun } from "./faults.ts";
import { actOnResource, featuresCaller } from "./features/run.ts";
import { openPublication } from "./ledger/publication.ts";
import { askAnything, ledgerCaller } from "./ledger/run.ts";
import { type Random, seeded } from "./random.ts";

const usage = `Usage: npm run soak [-- --seconds N] [--seed N]

Keeps both services at work for a while, on PostgreSQL, RabbitMQ and Redis of their own: messages come in, callers search,
look up, read tables, add, remove, and listen to changes. From time to time it rests, and looks at the memory that objects
take once what is not needed is collected, at open handles, and at how long a lookup takes. Exit code: 1 when one of these
has grown from the third look to the last.

  --seconds N   for how long (otherwise 60)
  --seed N      which lives and questions (otherwise 1)
  --help        print this text
`;

const looks = 6;
/** At the first of which everything is still getting warm. */
const warmUpLooks = 2;
const restMs = 1500;
/** So few that they are there from the first look on: who listens hears all of them. */
const recordsKept = 1;
const workPauseMs = 100;
const lookupPauseMs = 20;

/** What one look saw of one service. */
interface Look {
  objectsMiB: number;
  residentMiB: number;
  handles: number;
  /** Median of the lookups of the time before. */
  lookupMs: number;
}

/** How much more a last look may see: a share of what was seen before, and something for chance. */
const allowed: Record<keyof Look, { share: number; more: number } | undefined> = {
  objectsMiB: { share: 0.1, more: 3 },
  // How much of the machine's memory the engine keeps for later is its own choice: that is only told.
  residentMiB: undefined,
  handles: { share: 0, more: 5 },
  // Others may be at work on this machine.
  lookupMs: { share: 2, more: 2 },
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
      env: { FEATURES_STORE_URL: `${store.url}?changes=${recordsKept}` },
    }),
  );
  const queue = opened.use(await openQueue(queueUrl));
  const replies = new Map<string, number>();
  const ledgerCalls = opened.use(ledgerCaller(ledger.url, "ledger", nothingHappens, replies));
  const featureCalls = opened.use(featuresCaller(features.url, "features", nothingHappens, replies));
  let messages = 0;
  const published = openPublication(queue, random.fork(), (count) => {
    messages += count;
  });
  let resources = 0;
  const workOnFeatures = async (own: Random, until: AbortSignal) => {
    while (!until.aborted) {
      await actOnResource(String(resources++ % 1000), [featureCalls], own);
      await sleep(workPauseMs);
    }
  };

  const seen: { ledger: Look; features: Look }[] = [];
  for (let look = 0; look < looks; look += 1) {
    const run = openRun((seconds / looks - restMs / 1000) / 60, stop);
    const until = run.over;
    const [ledgerMs, featuresMs]: [number[], number[]] = [[], []];
    await run.all([
      measure(ledger.url, "/v1/transaction/pay-1?override_account_id_restriction=true", ledgerMs, until),
      measure(features.url, "/features/customer/1/dark-mode", featuresMs, until),
      published.until(until, workPauseMs),
      askAnything(ledgerCalls, random.fork(), published, until),
      workOnFeatures(random.fork(), until),
      listen(features.url, until),
    ]);
    await sleep(restMs);
    seen.push({
      ledger: await lookAt(ledger, ledgerMs),
      features: await lookAt(features, featuresMs),
    });
  }

  const answered = [...replies.values()].reduce((sum, count) => sum + count, 0);
  say(`${seconds} s, ${messages} messages, ${answered} replies`);
  const grown = (["ledger", "features"] as const).flatMap((service) =>
    (Object.keys(allowed) as (keyof Look)[]).flatMap((figure) => {
      const all = seen.map((look) => look[service][figure]);
      say(`${service}, ${figure}: ${all.map((value) => value.toFixed(1)).join(", ")}`);
      const [before, last] = [all[warmUpLooks] as number, all.at(-1) as number];
      const most = allowed[figure] && before * (1 + allowed[figure].share) + allowed[figure].more;
      return most !== undefined && last > most
        ? new Error(`${service}, ${figure} grew: ${before} to ${last}`)
        : [];
    }),
  );
  if (grown.length > 0) throw new AggregateError(grown);
});

/** Adds the milliseconds of one request after another. */
async function measure(url: string, path: string, times: number[], until: AbortSignal): Promise<void> {
  const client = new Client(url);
  while (!until.aborted) {
    const begun = performance.now();
    const { body } = await client.request({ method: "GET", path });
    await body.dump();
    times.push(performance.now() - begun);
    await sleep(lookupPauseMs);
  }
  await client.close();
}

/** Listens to changes, again and again, and goes away in the middle of them. */
async function listen(url: string, until: AbortSignal): Promise<void> {
  const headers = { accept: "text/event-stream" };
  while (!until.aborted) {
    const client = new Client(url);
    const { body } = await client.request({ method: "GET", path: "/changes", headers });
    body.on("error", () => {});
    await sleep(100);
    await client.destroy();
  }
}

async function lookAt(server: Server, timesMs: number[]): Promise<Look> {
  const { objects, resident } = await server.ask<Held>("held");
  return {
    objectsMiB: objects,
    residentMiB: resident,
    handles: readdirSync(`/proc/${server.pid}/fd`).length,
    lookupMs: figureOf(timesMs).median,
  };
}
