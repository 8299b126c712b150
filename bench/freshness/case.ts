import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { openQueue } from "../../src/ledger/queue/queues.ts";
import { messagesAbout } from "../../testing/event-messages.ts";
import { startService } from "../../testing/services.ts";
import { type Destination, destinations, openArrivals, type Times } from "./arrivals.ts";
import { attack, followFeed, openPosts, openReceiver, watchSample } from "./clients.ts";

export type Source = "queue" | "POST";
export const disturbances = ["undisturbed", "dead target", "hostile caller", "killed receiver"] as const;
export type Disturbance = (typeof disturbances)[number];

export interface Case {
  eventsPerSecond: number;
  source: Source;
  disturbance: Disturbance;
}

export interface Measured extends Case {
  /** Events that were sent in a second. */
  reached: number;
  times: Record<Destination, Times>;
  /** The share of the processors of the machine that was in use, by all processes. */
  busy: number;
  /** Events that had not arrived at the feed or the webhook at the end. */
  missing: number;
}

/** Events are sent in this interval, those of an interval together: in a request, or a call of the client of the queue. */
const tickMs = 10;
/** One event of this interval is looked up and reported. */
const sampleMs = 50;
const warmUpMs = 4000;
const measuredMs = 3500;
const drainMaxMs = 2000;

/**
 * Measures one case in a new database: two processes of the ledger receive, and publish to a webhook. The one that began later
 * gets the searches and streams, and publishes; the other one is killed in the middle, if one is.
 */
export async function measure(
  { eventsPerSecond, source, disturbance }: Case,
  databaseUrl: string,
  queue: { url: string; clientUrl: string },
  stop: AbortSignal,
): Promise<Measured> {
  await using opened = new AsyncDisposableStack();
  const arrivals = openArrivals();
  const receiver = opened.use(await openReceiver(arrivals));
  const targets = [`${receiver.url}?name=shop&requests_at_a_time=100`];
  if (disturbance === "dead target") {
    const dead = opened.use(await openReceiver(arrivals, true));
    targets.push(`${dead.url}?name=dead`);
  }
  const sender = opened.use(await openQueue(queue.url));
  const env = {
    DATABASE_URL: databaseUrl,
    QUEUE_URL: queue.clientUrl,
    PUBLISH_URL: targets.join(" "),
    EVENT_WRITES: "true",
    LOG_LEVEL: "error",
  };
  const serving = opened.use(await startService("ledger", { env }));
  const other = opened.use(await startService("ledger", { env }));
  opened.use(await followFeed(serving.url, arrivals));
  if (disturbance === "hostile caller") opened.use(attack(serving.url));

  const end = new AbortController();
  const ends = AbortSignal.any([end.signal, stop]);
  const work = new Set<Promise<unknown>>();
  const post = openPosts([other.url, serving.url], ends);
  const run = (one: Promise<unknown>) => {
    const running = one.finally(() => work.delete(running));
    work.add(running);
    running.catch(() => end.abort());
  };
  opened.defer(async () => {
    end.abort();
    await Promise.allSettled(work);
  });

  const start = performance.now();
  let phase: "warm-up" | "measured" = "warm-up";
  let [sent, sampled, killed] = [0, 0, false];
  let usedBefore = processorTimes();
  for (let now = 0; now < warmUpMs + measuredMs && !ends.aborted; now = performance.now() - start) {
    if (phase === "warm-up" && now >= warmUpMs) {
      phase = "measured";
      arrivals.begin();
      usedBefore = processorTimes();
    }
    if (disturbance === "killed receiver" && !killed && now >= warmUpMs + measuredMs / 2) {
      killed = true;
      other.child().kill("SIGKILL");
    }
    // The events of a payment are sent together, up to 100 in a request.
    const due = Math.min(99, Math.floor((now / 1000) * eventsPerSecond) - sent);
    const bodies = Array.from({ length: due - (due % steps.length) }, () => {
      const number = arrivals.accepted();
      const isSample = number % steps.length === 0 && now >= sampled * sampleMs;
      if (isSample) {
        sampled += 1;
        run(watchSample(serving.url, number / steps.length, number, arrivals, ends));
      }
      return eventOf(number, isSample);
    });
    sent += bodies.length;
    if (bodies.length > 0) run(source === "POST" ? post(bodies) : sender.send(bodies));
    await sleep(tickMs);
  }
  const count = arrivals.end();
  const used = processorTimes();
  const drained = performance.now() + drainMaxMs;
  while (!arrivals.areComplete() && performance.now() < drained && !ends.aborted) await sleep(10);
  stop.throwIfAborted();
  const times = Object.fromEntries(destinations.map((name) => [name, arrivals.timesOf(name)]));
  const { feed, webhook } = times as Record<Destination, Times>;
  return {
    ...{ eventsPerSecond, source, disturbance },
    reached: count / (measuredMs / 1000),
    times: times as Record<Destination, Times>,
    busy: (used.busy - usedBefore.busy) / (used.all - usedBefore.all),
    missing: Math.max(0, 2 * count - feed.count - webhook.count),
  };
}

/** Milliseconds since the start of the machine, of all processors together. */
function processorTimes() {
  const times = cpus().map((processor) => processor.times);
  const all = times.flatMap(Object.values<number>).reduce((sum, one) => sum + one, 0);
  return { all, busy: all - times.reduce((sum, { idle }) => sum + idle, 0) };
}

const steps = ["PAYMENT_CREATED", "PAYMENT_STARTED", "PAYMENT_DETAILS_ENTERED"];

/** Three events in a row belong to a payment. Its account is its own if it is a sample. */
function eventOf(number: number, isSample: boolean): string {
  const payment = Math.floor(number / steps.length);
  const step = number % steps.length;
  const resource = { resource_type: "payment" as const, resource_external_id: `p${payment}`, live: true };
  const created = {
    gateway_account_id: isSample ? `sample${payment}` : String(payment % 20),
    ...{ amount: 1000 + (number % 9000), reference: `LIC-${payment}`, description: "Fishing licence" },
    ...{ email: `angler${payment}@example.org`, cardholder_name: `Angler ${payment}`, language: "en" },
  };
  const details = { ...(step === 0 && created), number: `n${number}` };
  const [message] = messagesAbout(resource, "2024-03-05", [[`09:1${step}`, steps[step] as string, details]]);
  return JSON.stringify(message);
}
