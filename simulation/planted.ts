import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openProjectCopy } from "../scripts/project.ts";

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

const onLedger = ["--seed", "1", "--minutes", "0.4"];

export const planted: Planted[] = [
  {
    name: "messages are acknowledged before they are committed",
    file: "src/ledger/intake/receiver.ts",
    sound: "await ingest(database, batch);",
    broken: "await parts.queue.acknowledge(deliveries);\n  await ingest(database, batch);",
    simulation: onLedger,
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
    sound: "lifeRank(b.event_type) - lifeRank(a.event_type) ||",
    broken: "Number(b.id - a.id) ||",
    simulation: onLedger,
  },
  {
    name: "refunds and disputes do not hear of what their payment is told later",
    file: "src/ledger/intake/ingest.ts",
    sound: "new Set([...touched, ...children])",
    broken: "new Set(touched)",
    simulation: onLedger,
  },
  {
    name: "a page that is reached by a cursor begins with the last row of the page before",
    file: "src/ledger/tables/transaction.ts",
    sound: "(created_date, external_id) < (",
    broken: "(created_date, external_id) <= (",
    simulation: onLedger,
  },
  {
    name: "a process of the feature storage answers from what it read before",
    file: "src/features/store/lmdb.ts",
    sound: "environment.resetReadTxn();",
    broken: "",
    simulation: ["--seed", "1", "--minutes", "0.4", "--store", "lmdb"],
  },
];

/** What a simulation of the copy with the fault says of it; undefined when it finds nothing. */
export async function findingOf(
  { name, file, sound, broken, simulation }: Planted,
  stop: AbortSignal,
): Promise<string | undefined> {
  await using copy = await openProjectCopy();
  const path = join(copy.folder, file);
  const source = await readFile(path, "utf8");
  if (!source.includes(sound)) throw new Error(`${name}: ${file} does not have ${sound}`);
  await writeFile(
    path,
    source.replace(sound, () => broken),
  );
  const { code, errors } = await copy.run("simulation/simulate.ts", simulation, stop);
  if (code === 0) return undefined;
  return errors.split("\n").find((line) => line.startsWith("simulate:")) ?? errors;
}
