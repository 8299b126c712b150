import { postgresql, rabbitmq, redis } from "../scripts/debian-servers.ts";
import { refuseMissing } from "../scripts/installed.ts";
import { wholeNumber } from "../scripts/options.ts";
import { parseCommandLine, runCommand, say, UsageFault } from "../src/service/command.ts";
import { numeral } from "../src/service/progress.ts";
import { stopOnSignals } from "../src/service/stop.ts";
import { simulateFeatures, stores } from "./features/run.ts";
import { simulateLedger } from "./ledger/run.ts";
import { engines, queues } from "./ledger/world.ts";
import { findingOf, planted } from "./planted.ts";
import { seeded } from "./random.ts";
import { Astray } from "./replies.ts";
import { canMount } from "./small-disk.ts";

const usage = `Usage: npm run simulate [-- --seed N] [--minutes M] [--engine pglite|postgres] [--queue embedded|amqp]
       npm run simulate -- --store lmdb|redis [--seed N] [--minutes M]
       npm run simulate -- --prove

Runs real processes of the payment ledger, or with --store of the feature storage, while they and what they depend on are
killed, paused and restarted, connections are cut and a disk fills; callers ask all the while. At the end an oracle, which
shares no code with the services, tells what they must answer, and what must be stored. Disks fill only where this process
may mount one (Linux, root). PROMISES.md tells what is tried.

  --seed N       which lives, questions and faults; told, so that a run can be repeated (otherwise another each time).
                 What happens at the same time is up to the machine
  --minutes M    for how long faults happen (otherwise 1); what follows takes about half a minute
  --engine, --queue
                 of the ledger: its database and its queue (otherwise pglite and embedded). postgres, amqp and redis need
                 the servers that npm run servers -- --install installs
  --store        of the feature storage
  --prove        shows that faults are found: plants some, each in a copy of this project, and lets simulations find them
  --help         print this text

Exit code: 1 at the first thing that went astray, which is told with the seed and the fewest messages that show it.
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
    },
  });
  const stop = stopOnSignals().signal;
  if (given.prove) return prove(stop);
  const seed = wholeNumber("seed", given.seed ?? String(Math.floor(Math.random() * 1_000_000)));
  const minutes = readMinutes(given.minutes ?? "1");
  const store = given.store && oneOf("store", stores, given.store);
  if (store && (given.engine || given.queue)) throw new UsageFault("--store excludes --engine and --queue");
  const engine = oneOf("engine", engines, given.engine ?? "pglite");
  const queue = oneOf("queue", queues, given.queue ?? "embedded");

  const chosen = store ? `feature storage on ${store}` : `ledger on ${engine}, queue ${queue}`;
  const needed = [
    ...(!store && engine === "postgres" ? [postgresql] : []),
    ...(!store && queue === "amqp" ? [rabbitmq] : []),
    ...(store === "redis" ? [redis] : []),
  ];
  refuseMissing(needed, "servers");
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
    throw new Error(`seed ${seed}, ${chosen}: ${error.message}`);
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

async function prove(stop: AbortSignal): Promise<void> {
  const unfound: string[] = [];
  for (const fault of planted) {
    const finding = await findingOf(fault, stop);
    say(`${finding === undefined ? "NOT FOUND" : "found"}: ${fault.name}${finding ? `\n  ${finding}` : ""}`);
    if (finding === undefined) unfound.push(fault.name);
  }
  if (unfound.length > 0) throw new Error(`${unfound.length} of ${planted.length} faults were not found`);
  say(`all ${planted.length} faults were found`);
}

function readMinutes(text: string): number {
  const minutes = /^\d{1,4}(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (minutes <= 0) throw new UsageFault("--minutes must be a number above 0");
  return minutes;
}

function oneOf<Name extends string>(option: string, known: readonly Name[], given: string): Name {
  const name = known.find((one) => one === given);
  if (name === undefined) throw new UsageFault(`--${option} must be ${known.join(" or ")}`);
  return name;
}
