import { copyFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import SwaggerParser from "@apidevtools/swagger-parser";
import type { Contract } from "../../src/contract/operations.ts";
import { runCommand, say } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { readOptions, wholeNumber } from "../../testing/options.ts";
import { openProjectCopy, type ProjectCopy, root } from "../../testing/project.ts";
import { type Mutation, mutationsOf } from "./evidence/mutations.ts";

const usage = `Usage: npm run mutants [-- --count N] [--seed S]

Shows that a difference between contract and services does not pass: makes small changes to the contracts (a type, a
required member, a value of an enum, a status), each in a copy of this project, and tells which check catches it:
codegen, the compiler, the start of the services, the evidence, or the tests. Writes mutants.json. Exit code: 1 when
one escaped.

  --count N   how many, drawn evenly from all kinds; all that there are when it is 0 (otherwise 24)
  --seed S    which ones; told at the end, so that a run can be repeated (otherwise 1)
  --help      print this text
`;

/** The checks a change has to pass, in the order of their cost; each as the program and its arguments. */
const checks: {
  name: string;
  command: [program: string, ...args: string[]];
  fails?: (output: string) => string;
}[] = [
  { name: "codegen", command: ["scripts/contract/codegen.ts"] },
  {
    name: "compiler",
    command: ["node_modules/typescript/bin/tsc", "--incremental", "--tsBuildInfoFile", "tsc.json"],
  },
  {
    name: "evidence",
    command: ["scripts/checks/evidence.ts"],
    fails: (output) => (output.includes("replies; wrote") ? "evidence" : "start"),
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

interface Outcome {
  contract: string;
  kind: string;
  place: string;
  what: string;
  caughtBy: string;
}

async function allMutants(): Promise<Mutant[]> {
  const found = ["ledger", "features"].map(async (contract) => {
    const document = await SwaggerParser.parse(join(root, `generated/${contract}.yaml`));
    const mutations = mutationsOf(document as unknown as Contract);
    return mutations.map((mutation) => ({ contract, document, ...mutation }));
  });
  return (await Promise.all(found)).flat();
}

/** So many of them, one of each kind in turn, in an order that the seed decides. */
function draw(mutants: Mutant[], count: number, seed: number): Mutant[] {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  const shuffled = mutants
    .map((mutant) => ({ mutant, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ mutant }) => mutant);
  const kinds = [...Map.groupBy(shuffled, ({ kind }) => kind).values()];
  const rounds = Math.max(...kinds.map(({ length }) => length));
  const inTurn = Array.from({ length: rounds }, (_, round) => kinds.map((kind) => kind[round])).flat();
  return inTurn.filter((mutant) => mutant !== undefined).slice(0, count === 0 ? undefined : count);
}

/** The first of the checks that fails in a copy, with what it said; undefined when all pass. */
async function firstFailing(copy: ProjectCopy, some: typeof checks, stop: AbortSignal) {
  for (const { name, command, fails } of some) {
    const [program, ...args] = command;
    const { code, output, errors } = await copy.run(program, args, stop);
    if (code !== 0) return { name: fails?.(output) ?? name, said: output + errors };
  }
  return undefined;
}

/** Which check catches a mutant. */
async function judge(copy: ProjectCopy, mutant: Mutant, stop: AbortSignal): Promise<string> {
  const { contract, place, apply } = mutant;
  const file = `openapi/${contract}.yaml`;
  const document = structuredClone(mutant.document);
  // biome-ignore lint/suspicious/noExplicitAny: A path through a document of any shape.
  apply(place.reduce<any>((node, step) => node[step], document));
  await writeFile(join(copy.folder, file), JSON.stringify(document));
  const failing = await firstFailing(copy, checks, stop);
  await copyFile(join(root, file), join(copy.folder, file));
  return failing?.name ?? "nothing";
}

await runCommand("mutants", usage, async (args) => {
  const given = readOptions(args, ["count", "seed"]);
  const count = wholeNumber("count", given.count ?? "24");
  const seed = wholeNumber("seed", given.seed ?? "1");
  const all = await allMutants();
  const drawn = draw(all, count, seed);
  const waiting = [...drawn];
  const outcomes: Outcome[] = [];
  const stop = stopOnSignals();

  {
    await using copy = await openProjectCopy();
    const failing = await firstFailing(copy, checks.slice(0, -1), stop.signal);
    if (failing) throw new Error(`without any change, this fails: ${failing.name}\n${failing.said}`);
  }

  const lanes = Array.from({ length: Math.min(availableParallelism(), drawn.length) }, async () => {
    await using copy = await openProjectCopy();
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const caughtBy = await judge(copy, mutant, stop.signal);
      const { contract, kind, place, what } = mutant;
      outcomes.push({ contract, kind, place: place.join(" "), what, caughtBy });
      const outcome = caughtBy === "nothing" ? "ESCAPED" : `caught by ${caughtBy}`;
      say(
        `${String(outcomes.length).padStart(4)} of ${drawn.length}  ${outcome.padEnd(18)}  ${kind}: ${place.slice(-2).join(" ")} ${what}`,
      );
    }
  });
  await Promise.all(lanes);
  await writeFile("mutants.json", `${JSON.stringify({ seed, of: all.length, outcomes }, null, 2)}\n`);

  const tally = Map.groupBy(outcomes, ({ caughtBy }) => caughtBy);
  const counts = ["codegen", "compiler", "start", "evidence", "tests"].map(
    (name) => `${name} ${tally.get(name)?.length ?? 0}`,
  );
  const escaped = tally.get("nothing") ?? [];
  say(
    `${outcomes.length} of ${all.length} changes, seed ${seed}; caught by ${counts.join(", ")}; escaped ${escaped.length}; wrote mutants.json`,
  );
  if (escaped.length > 0) {
    throw new AggregateError(
      escaped.map(({ contract, kind, place, what }) => new Error(`${contract} ${kind}: ${place} ${what}`)),
    );
  }
});
