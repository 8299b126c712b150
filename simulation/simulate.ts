import { complain, parseCommandLine, runCommand, say, UsageError } from "../src/process/command.ts";
import { numeral } from "../src/process/progress.ts";
import { stopOnSignals } from "../src/process/stop.ts";
import { partOf, wholeNumber } from "../testing/options.ts";
import { seeded } from "../testing/random.ts";
import { type Installable, requireInstalled } from "../testing/servers/install.ts";
import { kafka } from "../testing/servers/kafka.ts";
import { newPatroni, patroni } from "../testing/servers/patroni.ts";
import { postgresql } from "../testing/servers/postgres.ts";
import { newRabbitmq, rabbitmq } from "../testing/servers/rabbitmq.ts";
import { redis } from "../testing/servers/redis.ts";
import { canMount } from "../testing/small-disk.ts";
import { simulateFeatures, stores } from "./features/run.ts";
import { engines, queues } from "./ledger/deployment.ts";
import { simulateLedger } from "./ledger/run.ts";
import { type Defect, findDefect, plantedDefects } from "./planted.ts";
import { Violation, violationExitCode } from "./violation.ts";

const usage = `Usage: npm run simulate [-- --seed N] [--minutes M] [--engine pglite|postgres|patroni|two-primaries]
                            [--queue embedded|amqp|amqp4|kafka]
       npm run simulate -- --store lmdb|redis|postgres|patroni|two-primaries [--seed N] [--minutes M]
       npm run simulate -- --prove [--part I/N] [--only TEXT] [--seed N]
       npm run simulate -- --list

Runs real processes of the payment ledger, or with --store of the feature storage, and injects faults: it kills, suspends
and restarts the processes and the servers they use, resets connections and fills a disk while clients send requests. At
the end an oracle, which shares no code with the services, is compared with all responses and stored rows. Disks fill
only if this process may mount one (Linux, root). PROMISES.md lists the guarantees.

Every run kills a process of each kind, and RabbitMQ closes consumers in a row; a run of at least a minute has every kind
of fault. It is longer, by up to a minute, if one of these has not been there yet, and prints it if it is still missing.

  --seed N       seed of the random messages, requests and faults; it is printed. Default: a random one. Runs with the
                 same seed differ in timing
  --minutes M    duration of the faults in minutes; the rest takes about 20 seconds. Default: 1
  --engine pglite|postgres|patroni|two-primaries
                 database of the ledger: patroni is a synchronous pair of PostgreSQL servers under Patroni, which loses
                 its primary again and again; of two-primaries the Patroni of the primary is killed or hangs, so that
                 both servers accept writes. Default: pglite
  --queue embedded|amqp|amqp4|kafka
                 queue of the ledger: amqp is the installed RabbitMQ of any version, amqp4 is RabbitMQ 4 or later, kafka is
                 three brokers of Kafka, one of which is lost again and again. Default: embedded
  --store lmdb|redis|postgres|patroni|two-primaries
                 simulates the feature storage with this store
  --prove        verifies that the simulation finds defects: plants each known defect in a copy of this project and runs
                 a simulation there with the seed. Takes about half a minute per defect
  --part I/N     every N-th defect only, beginning with the I-th
  --only TEXT    only defects whose name contains this text
  --list         prints the names of the defects
  --help         print this text

To install the servers: npm run servers -- --install

Exit code: ${violationExitCode} at the first violation, which is printed with the seed and the messages that it is about; 1
if the simulation could not run to its end, or if a planted defect was not found.
`;

const ofProof = ["part", "only"] as const;

await runCommand("simulate", usage, async (args) => {
  const text = { type: "string" } as const;
  const { values: given } = parseCommandLine({
    args,
    options: {
      ...{ seed: text, minutes: text, engine: text, queue: text, store: text, part: text, only: text },
      prove: { type: "boolean" },
      list: { type: "boolean" },
    },
  });
  if (given.list) return plantedDefects.forEach(({ name }) => void say(name));
  const stop = stopOnSignals().signal;
  const seed = wholeNumber("seed", given.seed ?? String(Math.floor(Math.random() * 1_000_000)));
  if (given.prove) {
    const excluded = (["minutes", "engine", "queue", "store"] as const).filter((name) => given[name]);
    if (excluded.length > 0) throw new UsageError(`--prove excludes --${excluded.join(" and --")}`);
    const named = plantedDefects.filter(({ name }) => name.includes(given.only ?? ""));
    return prove(partOf(named, given.part), seed, stop);
  }
  const misplaced = ofProof.find((name) => given[name]);
  if (misplaced) throw new UsageError(`--${misplaced} requires --prove`);
  const minutes = readMinutes(given.minutes ?? "1");
  const store = given.store && oneOf("store", stores, given.store);
  if (store && (given.engine || given.queue)) throw new UsageError("--store excludes --engine and --queue");
  const engine = oneOf("engine", engines, given.engine ?? "pglite");
  const queue = oneOf("queue", queues, given.queue ?? "embedded");

  const subject = store ? `feature storage on ${store}` : `ledger on ${engine}, queue ${queue}`;
  const programsOf: Record<string, Installable> = {
    postgres: postgresql,
    patroni,
    "two-primaries": newPatroni,
    redis,
    amqp: rabbitmq,
    amqp4: newRabbitmq,
    kafka,
  };
  const programs = (store ? [store] : [engine, queue]).flatMap((name) => programsOf[name] ?? []);
  requireInstalled(programs, "servers");
  say(`${subject}, ${minutes} minutes of faults, seed ${seed}`);
  if (!canMount()) say("LEFT OUT: full disks, as this process may not mount a disk");
  const plan = { minutes, random: seeded(seed), stop };
  try {
    const { missing, ...statistics } = store
      ? await simulateFeatures({ ...plan, store })
      : await simulateLedger({ ...plan, engine, queue });
    print(statistics);
    if (missing.size > 0) say(`PROMISED AND NOT INJECTED: ${[...missing].join(", ")}`);
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

/** Plants defects, one after another, and prints the violation of each. Rejects if one is not found. */
async function prove(defects: Defect[], seed: number, stop: AbortSignal): Promise<void> {
  if (defects.length === 0) throw new UsageError("no defect has such a name, or the part is empty");
  const errors: Error[] = [];
  for (const [index, defect] of defects.entries()) {
    say(`${index + 1} of ${defects.length}, seed ${seed}: ${defect.name}`);
    const startedAt = performance.now();
    try {
      const violation = await findDefect(defect, seed, stop);
      say(`  found after ${Math.round((performance.now() - startedAt) / 1000)} s: ${violation}`);
    } catch (error) {
      if (stop.aborted) throw new Error("stopped before the end");
      errors.push(new Error(`${defect.name}: ${(error as Error).message}`));
      say(`  ${(error as Error).message}`);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors);
  say(`found ${defects.length} of ${plantedDefects.length} known defects, seed ${seed}`);
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
