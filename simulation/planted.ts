import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Exit } from "../testing/child-process.ts";
import { openProjectCopy, type ProjectCopy } from "../testing/project.ts";
import { seeded } from "./random.ts";
import { astrayExitCode } from "./replies.ts";

/** A fault to be planted in a copy of this project, by which it breaks a promise. */
export interface Planted {
  name: string;
  file: string;
  /** What is there, and what stands there instead. */
  sound: string;
  broken: string;
  /** The options of the simulation that must find it. */
  simulation: string[];
}

const onLedger = ["--seed", "1", "--minutes", "0.2"];

export const planted: Planted[] = [
  {
    name: "messages are acknowledged before they are committed",
    file: "src/ledger/intake/receiver.ts",
    sound: "const stored = await ingest(database, batch);",
    // Long before, so that a process which is killed is sure to have some in hand.
    broken: `await parts.queue.acknowledge(deliveries);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const stored = await ingest(database, batch);`,
    simulation: ["--seed", "1", "--minutes", "0.3"],
  },
  {
    name: "no constraint keeps an event from being stored twice",
    file: "src/ledger/tables/migrations/0001-events-and-transactions.sql",
    sound: "unique (resource_external_id, resource_type, timestamp, event_type)",
    broken: "check (true)",
    simulation: onLedger,
  },
  {
    name: "of events at the same instant the one that arrived later is newer",
    file: "src/ledger/projection/history.ts",
    sound: "lifeCyclePosition(b.event_type) - lifeCyclePosition(a.event_type) ||",
    broken: "Number(b.id - a.id) ||",
    simulation: onLedger,
  },
  {
    name: "refunds and disputes do not hear of what their payment is told later",
    file: "src/ledger/intake/ingest.ts",
    sound: "isRebuild || !showTheSame(",
    broken: "isRebuild && !showTheSame(",
    simulation: onLedger,
  },
  {
    name: "an older event is folded onto a row as if it were newer",
    file: "src/ledger/projection/history.ts",
    sound: "if (oldest > folded.timestamp) ",
    broken: "if (oldest) ",
    simulation: onLedger,
  },
  {
    name: "a page that is reached by a cursor begins with the last row of the page before",
    file: "src/ledger/tables/search.ts",
    sound: "(created_date, external_id) < (",
    broken: "(created_date, external_id) <= (",
    simulation: onLedger,
  },
  {
    name: "a queue has the delivery limit of a RabbitMQ 4",
    file: "src/ledger/queue/amqp/queue.ts",
    sound: "...(hasLimitUnlessSet(connection) && { [limitArgument]: -1 }),",
    broken: "",
    // Its first fault is that receivers die in a row.
    simulation: ["--seed", "13", "--minutes", "0.3", "--queue", "amqp4"],
  },
  {
    name: "a process of the feature storage answers from what it read before",
    file: "src/features/store/lmdb.ts",
    sound: "environment.resetReadTxn();",
    broken: "",
    simulation: ["--seed", "1", "--minutes", "0.4", "--store", "lmdb"],
  },
];

/** As many of them as there are, or fewer, which the seed decides. */
export function choosePlanted(count: number, seed: number): Planted[] {
  const random = seeded(seed);
  const left = [...planted];
  return Array.from({ length: Math.min(count, left.length) }, () =>
    left.splice(random.whole(0, left.length - 1), 1),
  ).flat();
}

/** What a simulation of a copy with the fault says of it; rejects when the fault is not found. */
export async function findingOf(fault: Planted, stop: AbortSignal): Promise<string> {
  await using copy = await openProjectCopy();
  await plant(copy, fault);
  return findingIn(await copy.run("simulation/simulate.ts", fault.simulation, stop));
}

export async function plant(copy: ProjectCopy, { file, sound, broken }: Planted): Promise<void> {
  const path = join(copy.folder, file);
  const parts = (await readFile(path, "utf8")).split(sound);
  if (parts.length !== 2) throw new Error(`${file} does not have this once: ${sound}`);
  await writeFile(path, parts.join(broken));
}

/** What went astray in a simulation that ended so; throws when nothing did, and when it failed for another reason. */
export function findingIn({ code, output, errors }: Exit): string {
  if (code === 0) throw new Error("NOT FOUND: its simulation found nothing");
  const finding = errors.split("\n").find((line) => line.startsWith("simulate: "));
  if (code !== astrayExitCode || finding === undefined) {
    throw new Error(`its simulation failed, exit code ${code}, and found nothing\n${output}${errors}`);
  }
  return finding;
}
