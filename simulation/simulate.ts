import { complain, parseCommandLine, runCommand, say, UsageError } from "../src/process/command.ts";
import { numeral } from "../src/process/progress.ts";
import { stopOnSignals } from "../src/process/stop.ts";
import { wholeNumber } from "../testing/options.ts";
import { seeded } from "../testing/random.ts";
import { requireInstalled } from "../testing/servers/install.ts";
import { kafka } from "../testing/servers/kafka.ts";
import { patroni } from "../testing/servers/patroni.ts";
import { postgresql } from "../testing/servers/postgres.ts";
import { newRabbitmq, rabbitmq } from "../testing/servers/rabbitmq.ts";
import { redis } from "../testing/servers/redis.ts";
import { canMount } from "../testing/small-disk.ts";
import { simulateFeatures, stores } from "./features/run.ts";
import { engines, queues } from "./ledger/deployment.ts";
import { simulateLedger } from "./ledger/run.ts";
import { chooseDefects, findDefect, plantedDefects } from "./planted.ts";
import { Violation, violationExitCode } from "./violation.ts";

const usage = `Usage: npm run simulate [-- --seed N] [--minutes M] [--engine pglite|postgres|patroni]
                            [--queue embedded|amqp|amqp4]
       npm run simulate -- --store lmdb|redis|postgres|patroni [--seed N] [--minutes M]
       npm run simulate -- --prove [--count N] [--seed N]

Runs real processes of the payment ledger, or with --store of the feature storage, and injects faults: it kills, suspends
and restarts the processes and the servers they use, resets connections and fills a disk while clients send requests. At
the end an oracle, which shares no code with the services, is compared with all responses and stored rows. Disks fill
only if this process may mount one (Linux, root). PROMISES.md lists the guarantees.

  --seed N       seed of the random messages, requests and faults; it is printed. Default: a random one. Runs with the
                 same seed differ in timing
  --minutes M    duration of the faults in minutes; the rest takes about 30 seconds. Default: 1
  --engine pglite|postgres|patroni
                 database of the ledger: patroni is a synchronous pair of PostgreSQL servers under Patroni, which loses
                 its primary again and again. Default: pglite
  --queue embedded|amqp|amqp4|kafka
                 queue of the ledger: amqp is the installed RabbitMQ of any version, amqp4 is RabbitMQ 4 or later, kafka is
                 three brokers of Kafka, one of which is lost again and again. Default: embedded
  --store lmdb|redis|postgres|patroni
                 simulates the feature storage with this store
  --prove        verifies that the simulation finds defects: plants each known defect in a copy of this project and runs
                 a simulation there. Takes about a minute per defect
  --count N      number of planted defects, chosen by the seed. Default: all
  --help         print this text

To install the servers: npm run servers -- --install

Exit code: ${violationExitCode} at the first violation, which is printed with the seed and a small set of messages that shows it;
1 if the simulation could not run to its end, or if a planted defect was not found.
`;

await runCommand("simulate", usage, async (args) => {
  const { values: given } = parseCommandLine({
    args,
    options: {
      seed: { type: "string" },
      minutes: { type: "string" },
      engine: { type: "string" },
      queue: { type: "string" },
      store: { type: "string" },
      prove: { type: "boolean" },
      count: { type: "string" },
    },
  });
  const stop = stopOnSignals().signal;
  const seed = wholeNumber("seed", given.seed ?? String(Math.floor(Math.random() * 1_000_000)));
  if (given.prove) {
    const excluded = Object.keys(given).filter((name) => !["prove", "count", "seed"].includes(name));
    if (excluded.length > 0) throw new UsageError(`--prove excludes --${excluded.join(" and --")}`);
    return prove(wholeNumber("count", given.count ?? String(plantedDefects.length)), seed, stop);
  }
  if (given.count !== undefined) throw new UsageError("--count requires --prove");
  const minutes = readMinutes(given.minutes ?? "1");
  const store = given.store && oneOf("store", stores, given.store);
  if (store && (given.engine || given.queue)) throw new UsageError("--store excludes --engine and --queue");
  const engine = oneOf("engine", engines, given.engine ?? "pglite");
  const queue = oneOf("queue", queues, given.queue ?? "embedded");

  const subject = store ? `feature storage on ${store}` : `ledger on ${engine}, queue ${queue}`;
  const programs = [
    ...(!store && engine === "postgres" ? [postgresql] : []),
    ...(!store && engine === "patroni" ? [patroni] : []),
    ...(!store && queue === "amqp" ? [rabbitmq] : []),
    ...(!store && queue === "amqp4" ? [newRabbitmq] : []),
    ...(!store && queue === "kafka" ? [kafka] : []),
    ...(store === "redis" ? [redis] : []),
    ...(store === "postgres" ? [postgresql] : []),
    ...(store === "patroni" ? [patroni] : []),
  ];
  requireInstalled(programs, "servers");
  say(`${subject}, ${minutes} minutes of faults, seed ${seed}`);
  if (!canMount()) say("LEFT OUT: full disks, as this process may not mount a disk");
  const plan = { minutes, random: seeded(seed), stop };
  try {
    print(
      store ? await simulateFeatures({ ...plan, store }) : await simulateLedger({ ...plan, engine, queue }),
    );
  } catch (error) {
    if (stop.aborted) throw new Error("stopped before the end");
    if (!(error instanceof Violation)) throw error;
    complain(`simulate: seed ${seed}, ${subject}: ${error.message}`);
    process.exitCode = violationExitCode;
  }
});

/** Prints each statistic on one line, with its parts. */
function print(statistics: Record<string, number | Map<string, number>>): void {
  for (const [name, value] of Object.entries(statistics)) {
    if (typeof value === "number") {
      say(`${numeral(value)} ${name}`);
      continue;
    }
    const parts = [...value].sort().map(([part, count]) => `${part} ${numeral(count)}`);
    const total = [...value.values()].reduce((sum, count) => sum + count, 0);
    say(`${numeral(total)} ${name}: ${parts.join(", ")}`);
  }
}

/** Plants `count` defects, one after another, and prints the violation of each. Rejects if one is not found. */
async function prove(count: number, seed: number, stop: AbortSignal): Promise<void> {
  const chosen = chooseDefects(count, seed);
  if (chosen.length === 0) throw new UsageError("--count must be at least 1");
  const errors: Error[] = [];
  for (const [index, defect] of chosen.entries()) {
    say(`${index + 1} of ${chosen.length}  ${defect.name}`);
    const startedAt = performance.now();
    try {
      const violation = await findDefect(defect, stop);
      say(`  found after ${Math.round((performance.now() - startedAt) / 1000)} s: ${violation}`);
    } catch (error) {
      if (stop.aborted) throw new Error("stopped before the end");
      errors.push(new Error(`${defect.name}: ${(error as Error).message}`));
      say(`  ${(error as Error).message}`);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors);
  say(`found all ${chosen.length} of ${plantedDefects.length} known defects; seed ${seed}`);
}

function readMinutes(text: string): number {
  const minutes = /^\d{1,4}(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (minutes <= 0) throw new UsageError("--minutes must be a number greater than 0");
  return minutes;
}

function oneOf<Name extends string>(option: string, known: readonly Name[], given: string): Name {
  const name = known.find((candidate) => candidate === given);
  if (name === undefined) throw new UsageError(`--${option} must be ${known.join(" or ")}`);
  return name;
}
