import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { complain, parseCommandLine, runCommand, say, UsageError } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { root } from "../../testing/project.ts";
import { installMissing } from "../../testing/servers/install.ts";
import { checksAsMarkdown, outcomesAsMarkdown, outcomesAsText } from "./check/report.ts";
import {
  firstFailingLine,
  type Outcome,
  outputOf,
  runSteps,
  type Step,
  type Verdict,
} from "./check/steps.ts";
import { type Check, circles, gate, nightlyOnly, wheel } from "./check/table.ts";
import { type Change, readChange, seedOf, takeFrom } from "./check/wheel.ts";

/** The minutes of the long checks of a change, on two quiet cores. */
const wheelMinutesMax = 6;
const reports = join(root, "reports");
/** The last lines of the output of a failed check, which are shown at once. */
const shownLinesMax = 200;

const usage = `Usage: npm run check [-- --only NAME,NAME]
       npm run check -- --change [--all] [--install]
       npm run check -- --nightly [--from NAME] [--install]
       npm run check -- --list

Runs checks and prints a table of them at the end. Their output, report.md and report.json are in the folder reports.
The seed of a check follows from the newest commit. Without an option it runs the gate: what every change must pass.
Exit code: 1 if a check failed or was cut off.

  --only NAME,NAME  only these checks
  --change          the gate and a part of the long checks: two that the newest commit chooses, those that the commits
                    of the last day touch, and others, as far as ${wheelMinutesMax} minutes allow. The first failure ends it
  --all             with --change: all long checks
  --nightly         every check, the long ones at their full length, one after another. It goes on after a failure
  --from NAME       begins with this check
  --install         first installs the programs that are missing, as root (Debian)
  --list            prints docs/checks.md
  --help            print this text
`;

/** A check to run, with the reason. */
type Chosen = { check: Check; why: string };

const because =
  (why: string) =>
  (check: Check): Chosen => ({ check, why });

await runCommand("check", usage, async (args) => {
  const { values: given } = parseCommandLine({
    args,
    options: {
      only: { type: "string" },
      change: { type: "boolean", default: false },
      all: { type: "boolean", default: false },
      nightly: { type: "boolean", default: false },
      from: { type: "string" },
      install: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
    },
  });
  if (given.list) {
    process.stdout.write(checksAsMarkdown(circles));
    return;
  }
  const change = await readChange();
  const chosen = chooseChecks(given, change);
  const left = wheel.filter((check) => !chosen.some((one) => one.check === check));
  say(
    `commit ${change.commit.slice(0, 10)}, ${change.files.length} files changed lately, ${chosen.length} checks`,
  );
  for (const { check, why } of chosen) say(`  ${check.name}: ${why}`);
  if (given.change && !given.only && left.length > 0) {
    say(`not taken: ${left.map(({ name }) => name).join(", ")}; npm run check -- --only NAME,NAME runs them`);
  }
  await mkdir(reports, { recursive: true });
  const { signal: stop } = stopOnSignals();
  const needs = [...new Set(chosen.flatMap(({ check }) => check.needs))];
  const outcomes: Outcome[] = [];
  await runSteps(
    chosen.map(({ check, why }) => stepOf(check, why, change.commit, given.nightly)),
    {
      folder: reports,
      installed: given.install && needs.length > 0 ? installMissing(needs, "check", stop) : Promise.resolve(),
      keepGoing: given.nightly,
      stop,
      onStart: ({ name, command }) => say(`begins  ${name}: ${command}`),
      onEnd(outcome) {
        outcomes.push(outcome);
        say(`${outcome.verdict.padEnd(7)} ${outcome.name}, ${Math.round(outcome.seconds)} s`);
        if (outcome.verdict === "failed") outputOf(outcome).slice(-shownLinesMax).forEach(complain);
        writeReport(outcomes);
      },
    },
  );
  say("");
  for (const line of outcomesAsText(outcomes)) say(line);
  const withVerdict = (verdict: Verdict) => outcomes.filter((outcome) => outcome.verdict === verdict);
  const failed = withVerdict("failed");
  say(`${withVerdict("passed").length} passed, ${failed.length} failed`);
  if (failed[0]) throw new Error(`${failed[0].name} failed: ${firstFailingLine(failed[0])}`);
  if (stop.aborted) throw new Error("cut off");
});

interface Given {
  only?: string;
  change: boolean;
  all: boolean;
  nightly: boolean;
  from?: string;
}

/** Exactly the checks that the options select, in the order of the table. */
function chooseChecks({ only, change, all, nightly, from }: Given, newest: Change): Chosen[] {
  const every = [...gate, ...wheel, ...nightlyOnly];
  const find = (name: string): Check => {
    const found = every.find((check) => check.name === name);
    if (!found)
      throw new UsageError(
        `unknown check ${name}; the checks are ${every.map((check) => check.name).join(", ")}`,
      );
    return found;
  };
  const chosen = only
    ? only.split(",").map(find).map(because("named"))
    : nightly
      ? every.map(because("every night"))
      : [
          ...gate.map(because("every change")),
          ...(all ? wheel.map(because("all")) : change ? takeFrom(wheel, newest, wheelMinutesMax) : []),
        ];
  const first = from === undefined ? 0 : chosen.findIndex(({ check }) => check === find(from));
  if (first < 0) throw new UsageError(`--from ${from} is not among the selected checks`);
  return chosen.slice(first);
}

function stepOf(check: Check, why: string, commit: string, nightly: boolean): Step {
  const seed = seedOf(commit, check.name);
  const command = (nightly && check.nightly) || check.command;
  return {
    name: check.name,
    command: command.replaceAll("SEED", String(seed)),
    seed,
    why,
    isAlone: nightly || check.isAlone === true,
    needsPrograms: check.needs.length > 0,
  };
}

/** Writes what is known so far, since a run can be cut off. */
function writeReport(outcomes: Outcome[]): void {
  writeFileSync(join(reports, "report.json"), `${JSON.stringify(outcomes, null, 2)}\n`);
  writeFileSync(join(reports, "report.md"), outcomesAsMarkdown("Checks", outcomes));
}
