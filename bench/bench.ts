import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { complain, parseCommandLine, runCommand, say, UsageError } from "../src/process/command.ts";
import { openProgress } from "../src/process/progress.ts";
import { stopOnSignals } from "../src/process/stop.ts";
import { wholeNumber } from "../testing/options.ts";
import { root } from "../testing/project.ts";
import { installMissing, requireInstalled } from "../testing/servers/install.ts";
import { budget, budgetsOf } from "./budget.ts";
import { chartOf } from "./chart.ts";
import { freshness } from "./freshness/freshness.ts";
import { type Ledgers, ledgersOnPostgres } from "./ledger-data.ts";
import { needs } from "./needs.ts";
import { leaveMeasuredCore } from "./programs.ts";
import { type MeasuredRow, type Results, tableOf } from "./results.ts";
import { compare, type Result } from "./rounds.ts";
import type { Scale } from "./row.ts";
import { type NumberedRow, rows } from "./rows.ts";

const usage = `Usage: npm run bench [-- --rows 1,4] [--rounds N] [--transactions N]
       npm run bench -- --smoke [--rows 1,4]
       npm run bench -- --budget | --set-budget
       npm run bench -- --freshness [WORD...]
       npm run bench -- --install

Compares both services with alternatives, prints a table, and writes bench/results.json and bench/chart.svg.
bench/README.md describes the method. A full run takes about half an hour. It needs two cores without other load, and
PostgreSQL, RabbitMQ, Redis and wrk from the packages of Debian. The exit code depends on the budget only.

  --rows 1,4         rows to measure; the others stay in bench/results.json as they are. Default: all rows
  --rounds N         rounds per comparison. Default: 7
  --transactions N   transactions in the largest ledger. Default: 1000000
  --smoke            measures everything once at the smallest scale, to test the benchmark, and then the budget; writes
                     no file
  --budget           compares the CPU time of each kind of request with bench/budget.json; fails if one is exceeded
  --set-budget       writes what is measured to bench/budget.json
  --freshness        measures how long events take until lookup, report, feed and a webhook have them; four minutes. With
                     words, such as POST or 2000/s, only the cases that contain them. Writes no file
  --install          installs missing programs with apt-get (Debian, Ubuntu), as root
  --help             print this text
`;

const full = { rounds: 7, warmUpRounds: 2, seconds: 1, payments: 5000, requests: 1_000_000 };
const defaultTransactions = 1_000_000;
const smoke: Scale = {
  ...{ rounds: 1, warmUpRounds: 0, seconds: 1 },
  ...{ ledgers: [100, 300], payments: 50, requests: 1000 },
};

const budgetScale: Scale = { ...smoke, rounds: 5, seconds: 1 };
/** The ratio of five rounds varies by more than a budget allows. */
const setBudgetScale: Scale = { ...budgetScale, rounds: 20 };
/** A slow phase of the machine may exceed a budget twice. */
const budgetAttempts = 3;

const budgetFile = join(root, "bench/budget.json");
const resultsFile = join(root, "bench/results.json");
const chartFile = join(root, "bench/chart.svg");

await runCommand("bench", usage, async (args) => {
  if (args[0] === "--install" && args.length === 1) {
    return installMissing(needs, "bench", stopOnSignals().signal);
  }
  if (args[0] === "--freshness") return freshness(stopOnSignals().signal, args.slice(1));
  const { values: options } = parseCommandLine({
    args,
    options: {
      rows: { type: "string" },
      rounds: { type: "string" },
      transactions: { type: "string" },
      smoke: { type: "boolean" },
      budget: { type: "boolean" },
      "set-budget": { type: "boolean" },
    },
  });
  const selected = options.rows === undefined ? rows : options.rows.split(",").map(findRow);
  const largest = wholeNumber("transactions", options.transactions ?? String(defaultTransactions));
  const rounds = wholeNumber("rounds", options.rounds ?? String(full.rounds));
  if (largest < 100 || rounds < 1)
    throw new UsageError("--transactions must be at least 100, --rounds at least 1");
  const scale = options.smoke
    ? smoke
    : { ...full, rounds, ledgers: [largest / 100, largest / 10, largest].map(Math.floor) };
  requireInstalled(needs, "bench");
  leaveMeasuredCore();
  const { signal: stop } = stopOnSignals();

  await using ledgers = ledgersOnPostgres();
  if (options.budget || options["set-budget"])
    return await measureBudget(ledgers, stop, options["set-budget"]);
  const measured: MeasuredRow[] = [];
  for (const row of selected) {
    measured.push(await measure(row, scale, ledgers, stop));
    for (const line of tableOf(measured.slice(-1))) say(line);
  }
  if (options.smoke) return await measureBudget(ledgers, stop);
  const before = existsSync(resultsFile)
    ? (JSON.parse(await readFile(resultsFile, "utf8")) as Results).rows
    : [];
  const kept = before.filter(({ number }) => !selected.some((row) => row.number === number));
  const results = {
    machine: await describeMachine(),
    rows: [...kept, ...measured].sort((a, b) => a.number - b.number),
  };
  await writeFile(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
  await writeFile(chartFile, chartOf(results));
  say(`wrote bench/results.json and bench/chart.svg`);
});

/** Fails if a kind of request exceeds its budget in each of three measurements. */
async function measureBudget(ledgers: Ledgers, stop: AbortSignal, isSet = false): Promise<void> {
  await using opened = new AsyncDisposableStack();
  complain("budget: preparing");
  const scale = isSet ? setBudgetScale : budgetScale;
  const comparisons = await budget.open(scale, opened, ledgers);
  using progress = openProgress("rounds of the budget", comparisons.length * scale.rounds);
  const results: Result[] = [];
  for (const comparison of comparisons) {
    let result: Result | undefined;
    for (let attempt = 0; attempt < budgetAttempts && !result?.reached; attempt += 1) {
      if (stop.aborted) throw new Error("stopped");
      const measured = await compare(comparison, scale, () => {});
      if (!result || ratioOf(measured) < ratioOf(result)) result = measured;
      if (isSet) break;
    }
    progress.advance(scale.rounds);
    results.push(result as Result);
  }
  for (const line of tableOf([{ number: 0, title: budget.title, date: "", results }])) say(line);
  if (isSet) {
    await writeFile(budgetFile, `${JSON.stringify(budgetsOf(results), null, 2)}\n`);
    say("wrote bench/budget.json");
    return;
  }
  const exceeded = results.filter(({ reached }) => !reached).map(({ name }) => name);
  if (exceeded.length > 0) throw new Error(`requests cost more than their budget: ${exceeded.join(", ")}`);
}

function ratioOf({ ratio }: Result): number {
  return ratio?.median ?? 0;
}

function findRow(text: string): NumberedRow {
  const row = rows.find(({ number }) => String(number) === text);
  if (!row)
    throw new UsageError(`unknown row ${text}; the rows are ${rows.map(({ number }) => number).join(", ")}`);
  return row;
}

async function measure(
  row: NumberedRow,
  scale: Scale,
  ledgers: Ledgers,
  stop: AbortSignal,
): Promise<MeasuredRow> {
  const { number, title } = row;
  complain(`row ${number}, ${title}: preparing`);
  await using opened = new AsyncDisposableStack();
  const comparisons = await row.open(scale, opened, ledgers);
  using progress = openProgress(`rounds of row ${number}`, comparisons.length * scale.rounds);
  const results = [];
  const onRound = () => {
    if (stop.aborted) throw new Error("stopped");
    progress.advance(1);
  };
  for (const comparison of comparisons) results.push(await compare(comparison, scale, onRound));
  return { number, title, date: new Date().toISOString().slice(0, 10), results };
}

async function describeMachine(): Promise<Results["machine"]> {
  const { PRETTY_NAME = "" } = parseEnv(await readFile("/etc/os-release", "utf8"));
  return {
    system: `${PRETTY_NAME}, Linux ${release()}`,
    processor: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
}
