import { globSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { runCommand, say } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { readOptions, wholeNumber } from "../../testing/options.ts";
import { openProjectCopy, type ProjectCopy, root } from "../../testing/project.ts";
import { seeded } from "../../testing/random.ts";

const usage = `Usage: npm run code-mutants [-- --count N] [--seed S] [--under FOLDER]
       npm run code-mutants -- --sample FILE

Shows which small changes of the code the fast tests notice. Makes each change (a comparison, a condition, a number, a
call that is left out) in a copy of this project, and runs the fast tests that import the changed file. A test run that
takes four times as long as all tests without a change has noticed it, too. Writes code-mutants.json. To compare two
states of the tests, run the second one with --sample and the file of the first one.

  --count N        number of changes. Default: 60
  --seed S         selects the changes. Default: 1
  --under FOLDER   only changes of files in this folder. Default: src
  --sample FILE    makes the changes of an earlier run
  --help           print this text
`;

/** A change of one place in a file. `original` is the whole lines, as the file has them at its nth occurrence. */
interface Mutant {
  file: string;
  original: string;
  occurrence: number;
  changed: string;
}

type Verdict = "caught" | "not caught" | "gone";

const opposite = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, "!=="],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, "==="],
  [ts.SyntaxKind.AmpersandAmpersandToken, "||"],
  [ts.SyntaxKind.BarBarToken, "&&"],
  [ts.SyntaxKind.MinusToken, "+"],
  [ts.SyntaxKind.AsteriskToken, "/"],
]);

/** The text that replaces a node, and the node that it replaces. Undefined if there is no change for such a node. */
function replacementFor(node: ts.Node): [ts.Node, string] | undefined {
  if (ts.isBinaryExpression(node)) {
    const changed = opposite.get(node.operatorToken.kind);
    return changed === undefined ? undefined : [node.operatorToken, changed];
  }
  if (ts.isIfStatement(node)) return [node.expression, `!(${node.expression.getText()})`];
  if (ts.isConditionalExpression(node)) return [node.condition, `!(${node.condition.getText()})`];
  if (ts.isNumericLiteral(node)) return [node, `(${node.getText()} + 1)`];
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [node, "false"];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [node, "true"];
  const isCall = ts.isExpressionStatement(node) && /^(await )?[\w.]+\(/.test(node.getText());
  return isCall ? [node, "{}"] : undefined;
}

/** All changes of a file that the tests could notice. Types have none. */
function mutantsOf(file: string): Mutant[] {
  const text = readFileSync(join(root, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node)) return;
    const found = replacementFor(node);
    if (found) {
      const [start, end] = [found[0].getStart(), found[0].getEnd()];
      const from = text.lastIndexOf("\n", start - 1) + 1;
      const to = text.indexOf("\n", end);
      const original = text.slice(from, to);
      const occurrence = text.slice(0, from).split(original).length - 1;
      const changed = text.slice(from, start) + found[1] + text.slice(end, to);
      mutants.push({ file, original, occurrence, changed });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return mutants;
}

function drawn(count: number, seed: number, folder: string): Mutant[] {
  const files = globSync(`${folder}/**/*.ts`, { cwd: root })
    .filter((file) => !/\.(test|fixture)\.ts$|^src\/console\//.test(file))
    .sort();
  return seeded(seed).shuffle(files.flatMap(mutantsOf)).slice(0, count);
}

/** The text with the change; undefined if it no longer has the place. */
function mutated(text: string, { original, occurrence, changed }: Mutant): string | undefined {
  const parts = text.split(original);
  if (parts.length < occurrence + 2) return undefined;
  const before = parts.slice(0, occurrence + 1).join(original);
  return before + changed + parts.slice(occurrence + 1).join(original);
}

const vitest = "node_modules/vitest/vitest.mjs";
// The tests of the ledger on PostgreSQL are those on the embedded engine.
const options = ["--run", "--bail=1", ...["slow*", "alone", "postgres"].map((name) => `--project=!${name}`)];

/** Whether the tests that Vitest selects pass, within the limit if there is one. */
async function pass(selection: string[], copy: ProjectCopy, stop: AbortSignal, maxMs?: number) {
  const limit = maxMs === undefined ? stop : AbortSignal.any([stop, AbortSignal.timeout(maxMs)]);
  const exit = await copy.run(vitest, [...selection, ...options], limit).catch(() => undefined);
  stop.throwIfAborted();
  return exit?.code === 0;
}

async function verdictOn(
  mutant: Mutant,
  copy: ProjectCopy,
  stop: AbortSignal,
  maxMs: number,
): Promise<Verdict> {
  const path = join(copy.folder, mutant.file);
  const text = await readFile(path, "utf8");
  const changed = mutated(text, mutant);
  if (changed === undefined) return "gone";
  await writeFile(path, changed);
  const doPass = await pass(["related", mutant.file], copy, stop, maxMs);
  await writeFile(path, text);
  return doPass ? "not caught" : "caught";
}

await runCommand("code-mutants", usage, async (args) => {
  const given = readOptions(args, ["count", "seed", "under", "sample"]);
  const [count, seed] = [wholeNumber("count", given.count ?? "60"), wholeNumber("seed", given.seed ?? "1")];
  const mutants: Mutant[] = given.sample
    ? JSON.parse(await readFile(given.sample, "utf8"))
    : drawn(count, seed, given.under ?? "src");
  const { signal } = stopOnSignals();
  await using copy = await openProjectCopy();
  const startedAt = performance.now();
  if (!(await pass(["run"], copy, signal))) throw new Error("the tests fail without a change");
  const maxMs = 4 * Math.ceil(performance.now() - startedAt);
  const outcomes: (Mutant & { verdict: Verdict })[] = [];
  for (const mutant of mutants) {
    const verdict = await verdictOn(mutant, copy, signal, maxMs);
    outcomes.push({ ...mutant, verdict });
    say(`${outcomes.length} of ${mutants.length}  ${verdict}  ${mutant.file}: ${mutant.changed.trim()}`);
    await writeFile("code-mutants.json", `${JSON.stringify(outcomes, null, 2)}\n`);
  }
  const tally = Map.groupBy(outcomes, ({ verdict }) => verdict);
  const counts = [...tally].map(([verdict, { length }]) => `${length} ${verdict}`);
  say(`${counts.join(", ")}; wrote code-mutants.json`);
});
