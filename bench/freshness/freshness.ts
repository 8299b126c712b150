import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clientUrl } from "../../src/ledger/queue/address.ts";
import { complain, say } from "../../src/process/command.ts";
import { freePort } from "../../testing/free-port.ts";
import { rabbitmq, startRabbitmq } from "../../testing/servers/rabbitmq.ts";
import { createDatabase } from "../create-database.ts";
import { ledgersOnPostgres } from "../ledger-data.ts";
import { type Destination, destinations } from "./arrivals.ts";
import { type Case, disturbances, type Measured, measure } from "./case.ts";

const rates = [500, 2000, 5000];
/** The ledger has this many transactions before. In an empty one, PostgreSQL would have no statistics for its plans. */
const transactions = 30_000;
const sources = ["queue", "POST"] as const;
/** The goal for 99 % of the events at 2,000 per second, undisturbed, in milliseconds. */
const goals: Record<Destination, number> = { lookup: 25, report: 25, feed: 25, webhook: 100 };

/** Measures how long events take until they are visible, and prints a line for each case. Only cases with these words count. */
export async function freshness(stop: AbortSignal, words: string[] = []): Promise<void> {
  await using opened = new AsyncDisposableStack();
  complain("freshness: preparing");
  const ledgers = opened.use(ledgersOnPostgres());
  const url = await ledgers.open(transactions);
  const broker = rabbitmq.isInstalled() ? opened.use(await startRabbitmq()) : undefined;
  const folder = opened.use(await mkdtempDisposable(join(tmpdir(), "bench-")));
  say(
    `queue: ${broker ? "RabbitMQ" : "the embedded server for SQS"}; milliseconds: half of the events / 99 %`,
  );
  const cases = sources.flatMap((source) =>
    rates.flatMap((eventsPerSecond) =>
      disturbances.map((disturbance): Case => ({ eventsPerSecond, source, disturbance })),
    ),
  );
  for (const [index, one] of cases.entries()) {
    if (!words.every((word) => nameOf(one).includes(word))) continue;
    const database = await createDatabase({ url }, `freshness${index}`, new URL(url).pathname.slice(1));
    const queue = broker
      ? `${broker.url}?queue=freshness${index}`
      : `sqs+embedded:${folder.path}/${index}?port=${await freePort()}`;
    say(lineOf(await measure(one, database, { url: queue, clientUrl: clientUrl(queue) }, stop)));
  }
}

const nameOf = ({ eventsPerSecond, source, disturbance }: Case) =>
  `${source}, ${eventsPerSecond}/s, ${disturbance}`;

function lineOf({ times, reached, missing, busy, ...one }: Measured): string {
  const isGoal = one.eventsPerSecond === 2000 && one.disturbance === "undisturbed";
  const missed = destinations.filter((name) => !(times[name].p99 <= goals[name]));
  const parts = [
    ...destinations.map((name) => `${name} ${times[name].p50.toFixed(0)} / ${times[name].p99.toFixed(0)}`),
    `processors ${Math.round(100 * busy)} % in use`,
    reached < 0.95 * one.eventsPerSecond && `reached ${Math.round(reached)}/s`,
    missing > 0 && `${missing} did not arrive in the measured time`,
    isGoal && (missed.length > 0 ? `goal MISSED: ${missed.join(", ")}` : "goal reached"),
  ];
  return `   ${nameOf(one).padEnd(32)}  ${parts.filter(Boolean).join("; ")}`;
}
