import { newRabbitmq, postgresql, rabbitmq, redis } from "../scripts/servers/debian.ts";
import { requireInstalled } from "../scripts/servers/install.ts";
import { complain, parseCommandLine, runCommand, say, UsageError } from "../src/process/command.ts";
import { numeral } from "../src/process/progress.ts";
import { stopOnSignals } from "../src/process/stop.ts";
import { wholeNumber } from "../testing/options.ts";
import { canMount } from "../testing/small-disk.ts";
import { simulateFeatures, stores } from "./features/run.ts";
import { simulateLedger } from "./ledger/run.ts";
import { engines, queues } from "./ledger/world.ts";
import { choosePlanted, findingOf, planted } from "./planted.ts";
import { seeded } from "./random.ts";
import { Astray, astrayExitCode } from "./replies.ts";

const usage = `Usage: npm run simulate [-- --seed N] [--minutes M] [--engine pglite|postgres] [--queue embedded|amqp|amqp4]
       npm run simulate -- --store lmdb|redis [--seed N] [--minutes M]
       npm run simulate -- --prove [--count N] [--seed N]

Runs real processes of the payment ledger, or with --store of the feature storage, while they and what they depend on are
killed, paused and restarted, connections are cut and a disk fills; callers ask all the while. At the end an oracle, which
shares no code with the services, tells what they must answer, and what must be stored. Disks fill only where this process
may mount one (Linux, root). PROMISES.md tells what is tried.

  --seed N       which lives, questions and faults; told, so that a run can be repeated (otherwise another each time).
                 What happens at the same time is up to the machine
  --minutes M    for how long faults happen (otherwise 1); what follows takes about half a minute
  --engine, --queue
                 of the ledger: its database and its queue (otherwise pglite and embedded). amqp is the RabbitMQ of the
                 machine, whatever its version, amqp4 one from version 4 on. What they need, and redis, is installed by
                 npm run servers -- --install
  --store        of the feature storage
  --prove        shows that faults are found: plants them, each in a copy of this project, and lets a simulation find it,
                 which takes about a minute
  --count N      how many of them; the seed says which (otherwise all that there are)
  --help         print this text

Exit code: ${astrayExitCode} at the first thing that went astray, which is told with the seed and the fewest messages that show it; 1
when a simulation could not be run to its end, or a planted fault was not found.
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
    const others = Object.keys(given).filter((name) => !["prove", "count", "seed"].includes(name));
    if (others.length > 0) throw new UsageError(`--prove excludes --${others.join(" and --")}`);
    return prove(wholeNumber("count", given.count ?? String(planted.length)), seed, stop);
  }
  if (given.count !== undefined) throw new UsageError("only --prove has --count");
  const minutes = readMinutes(given.minutes ?? "1");
  const store = given.store && oneOf("store", stores, given.store);
  if (store && (given.engine || given.queue)) throw new UsageError("--store excludes --engine and --queue");
  const engine = oneOf("engine", engines, given.engine ?? "pglite");
  const queue = oneOf("queue", queues, given.queue ?? "embedded");

  const chosen = store ? `feature storage on ${store}` : `ledger on ${engine}, queue ${queue}`;
  const needed = [
    ...(!store && engine === "postgres" ? [postgresql] : []),
    ...(!store && queue === "amqp" ? [rabbitmq] : []),
    ...(!store && queue === "amqp4" ? [newRabbitmq] : []),
    ...(store === "redis" ? [redis] : []),
  ];
  requireInstalled(needed, "servers");
  say(`${chosen}, ${minutes} minutes of faults, seed ${seed}`);
  if (!canMount()) say("LEFT OUT: disks that fill, since this process may not mount one");
  const plan = { minutes, random: seeded(seed), stop };
  try {
    tell(
      store ? await simulateFeatures({ ...plan, store }) : await simulateLedger({ ...plan, engine, queue }),
    );
  } catch (error) {
    if (stop.aborted) throw new Error("stopped before its end");
    if (!(error instanceof Astray)) throw error;
    complain(`simulate: seed ${seed}, ${chosen}: ${error.message}`);
    process.exitCode = astrayExitCode;
  }
});

/** Figures, each in a line with its parts. */
function tell(figures: Record<string, number | Map<string, number>>): void {
  for (const [name, figure] of Object.entries(figures)) {
    if (typeof figure === "number") {
      say(`${numeral(figure)} ${name}`);
      continue;
    }
    const parts = [...figure].sort().map(([part, count]) => `${part} ${numeral(count)}`);
    const total = [...figure.values()].reduce((sum, count) => sum + count, 0);
    say(`${numeral(total)} ${name}: ${parts.join(", ")}`);
  }
}

/** Plants so many faults, one after another, and tells what is found of each; rejects when any is not found. */
async function prove(count: number, seed: number, stop: AbortSignal): Promise<void> {
  const chosen = choosePlanted(count, seed);
  if (chosen.length === 0) throw new UsageError("--count must be 1 at the least");
  const unfound: Error[] = [];
  for (const [index, fault] of chosen.entries()) {
    say(`${index + 1} of ${chosen.length}  ${fault.name}`);
    const begun = performance.now();
    try {
      const finding = await findingOf(fault, stop);
      say(`  found after ${Math.round((performance.now() - begun) / 1000)} s: ${finding}`);
    } catch (error) {
      if (stop.aborted) throw new Error("stopped before its end");
      unfound.push(new Error(`${fault.name}: ${(error as Error).message}`));
      say(`  ${(error as Error).message}`);
    }
  }
  if (unfound.length > 0) throw new AggregateError(unfound);
  say(`all ${chosen.length} were found, of ${planted.length}; seed ${seed}`);
}

function readMinutes(text: string): number {
  const minutes = /^\d{1,4}(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (minutes <= 0) throw new UsageError("--minutes must be a number above 0");
  return minutes;
}

function oneOf<Name extends string>(option: string, known: readonly Name[], given: string): Name {
  const name = known.find((one) => one === given);
  if (name === undefined) throw new UsageError(`--${option} must be ${known.join(" or ")}`);
  return name;
}
