import { copyFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import SwaggerParser from "@apidevtools/swagger-parser";
import type { Contract } from "../../src/contract/operations.ts";
import { runCommand, say } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { readOptions, wholeNumber } from "../../testing/options.ts";
import { openProjectCopy, type ProjectCopy, root } from "../../testing/project.ts";
import { seeded } from "../../testing/random.ts";
import { type Mutation, mutationsOf } from "./evidence/mutations.ts";

const usage = `Usage: npm run mutants [-- --count N] [--seed S]

Shows that the checks find a difference between contract and services. Makes small changes to the contracts (a type, a
required member, a value of an enum, a status), each in a copy of this project, and prints which check fails: codegen,
the compiler, the start of the services, the evidence or the tests. Exit code: 1 if no check fails for one of the
changes.

  --count N   number of changes, drawn evenly from all kinds; 0 means all. Default: 24
  --seed S    selects the changes. Default: 1
  --help      print this text
`;

/** The checks in the order of their cost. */
const checks: {
  name: string;
  command: [program: string, ...args: string[]];
  /** The name of the failed part, from the output. Default: the name of the check. */
  failedPart?: (output: string) => string;
}[] = [
  { name: "codegen", command: ["scripts/contract/codegen.ts"] },
  {
    name: "compiler",
    command: ["node_modules/typescript/bin/tsc", "--incremental", "--tsBuildInfoFile", "tsc.json"],
  },
  {
    name: "evidence",
    command: ["scripts/checks/evidence.ts"],
    failedPart: (output) => (output.includes(" responses") ? "evidence" : "start"),
  },
  {
    name: "tests",
    command: [
      ...(["node_modules/vitest/vitest.mjs", "run", "--bail=1", "--project=embedded"] as const),
      ...["src/ledger", "src/features", "src/client/client.test.ts"],
    ],
  },
];

interface Mutant extends Mutation {
  contract: string;
  /** The contract without the change. */
  document: object;
}

async function allMutants(): Promise<Mutant[]> {
  const found = ["ledger", "features"].map(async (contract) => {
    const document = await SwaggerParser.parse(join(root, `generated/${contract}.yaml`));
    const mutations = mutationsOf(document as unknown as Contract);
    return mutations.map((mutation) => ({ contract, document, ...mutation }));
  });
  return (await Promise.all(found)).flat();
}

/** Draws mutants in an order that depends on the seed, one of each kind in turn. A count of 0 draws all. */
function draw(mutants: Mutant[], count: number, seed: number): Mutant[] {
  const kinds = [...Map.groupBy(seeded(seed).shuffle(mutants), ({ kind }) => kind).values()];
  const rounds = Math.max(...kinds.map(({ length }) => length));
  const inTurn = Array.from({ length: rounds }, (_, round) => kinds.flatMap((kind) => kind[round] ?? []));
  return inTurn.flat().slice(0, count === 0 ? undefined : count);
}

/** The name and the output of the first check that fails in a copy. Undefined if all pass. */
async function firstFailure(copy: ProjectCopy, selected: typeof checks, stop: AbortSignal) {
  for (const { name, command, failedPart } of selected) {
    const [program, ...args] = command;
    const { code, output, errors } = await copy.run(program, args, stop);
    if (code !== 0) return { name: failedPart?.(output) ?? name, output: output + errors };
  }
  return undefined;
}

const contractFile = (contract: string) => `openapi/${contract}.yaml`;

const writeContract = (copy: ProjectCopy, contract: string, document: object) =>
  writeFile(join(copy.folder, contractFile(contract)), JSON.stringify(document));

/** The name of the check that catches a mutant, or "nothing". */
async function catcherOf(copy: ProjectCopy, mutant: Mutant, stop: AbortSignal): Promise<string> {
  const { contract, place, apply } = mutant;
  const document = structuredClone(mutant.document);
  // biome-ignore lint/suspicious/noExplicitAny: A path through a document of any shape.
  apply(place.reduce<any>((node, step) => node[step], document));
  await writeContract(copy, contract, document);
  const failure = await firstFailure(copy, checks, stop);
  const file = contractFile(contract);
  await copyFile(join(root, file), join(copy.folder, file));
  return failure?.name ?? "nothing";
}

// In CI the tests of a server that does not run fail, and so would notice every change.
delete process.env.CI;

await runCommand("mutants", usage, async (args) => {
  const options = readOptions(args, ["count", "seed"]);
  const all = await allMutants();
  const seed = wholeNumber("seed", options.seed ?? "1");
  const drawn = draw(all, wholeNumber("count", options.count ?? "24"), seed);
  const remaining = [...drawn];
  const outcomes: { name: string; caughtBy: string }[] = [];
  const stop = stopOnSignals();

  const requirePassed = async (selected: typeof checks) => {
    await using copy = await openProjectCopy();
    // In the form that mutants have: a check that rejects the form would seem to catch all of them.
    const documents = new Map(all.map(({ contract, document }) => [contract, document]));
    for (const [contract, document] of documents) await writeContract(copy, contract, document);
    const failure = await firstFailure(copy, selected, stop.signal);
    if (failure) throw new Error(`${failure.name} fails without any change\n${failure.output}`);
  };
  await requirePassed(checks.slice(0, -1));

  const workers = Array.from({ length: Math.min(availableParallelism(), drawn.length) }, async () => {
    await using copy = await openProjectCopy();
    for (let mutant = remaining.shift(); mutant; mutant = remaining.shift()) {
      const caughtBy = await catcherOf(copy, mutant, stop.signal);
      const { contract, kind, place, what } = mutant;
      const name = `${contract}, ${kind}: ${place.join(" ")} ${what}`;
      outcomes.push({ name, caughtBy });
      const verdict = caughtBy === "nothing" ? "NOT CAUGHT" : `caught by ${caughtBy}`;
      say(`${outcomes.length} of ${drawn.length}  ${verdict}  ${name}`);
    }
  });
  await Promise.all(workers);
  // The tests take longest, so they are run without a change only if their verdict counts.
  if (outcomes.some(({ caughtBy }) => caughtBy === "tests")) await requirePassed(checks.slice(-1));
  const tally = Map.groupBy(outcomes, ({ caughtBy }) => caughtBy);
  const counts = [...tally].map(([name, { length }]) => `${name} ${length}`);
  say(`${outcomes.length} of ${all.length} changes, seed ${seed}; caught by ${counts.join(", ")}`);
  const notCaught = tally.get("nothing") ?? [];
  if (notCaught.length > 0)
    throw new AggregateError(notCaught.map(({ name }) => new Error(`not caught: ${name}`)));
});
