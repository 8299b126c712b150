import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { installMissing, requireInstalled } from "../scripts/servers/install.ts";
import { complain, parseCommandLine, runCommand, say, UsageError } from "../src/process/command.ts";
import { openProgress } from "../src/process/progress.ts";
import { stopOnSignals } from "../src/process/stop.ts";
import { wholeNumber } from "../testing/options.ts";
import { root } from "../testing/project.ts";
import { chartOf } from "./chart.ts";
import { type Ledgers, ledgersOnPostgres } from "./ledger-data.ts";
import { needs } from "./needs.ts";
import { leaveMeasuredCore } from "./programs.ts";
import { type MeasuredRow, type Results, tableOf } from "./results.ts";
import { compare } from "./rounds.ts";
import type { Row, Scale } from "./row.ts";
import { rows } from "./rows.ts";

const usage = `Usage: npm run bench [-- --rows 1,4] [--rounds N] [--transactions N]
       npm run bench -- --smoke
       npm run bench -- --install

Measures the services beside what else could be had, prints a table, and writes bench/results.json and
bench/chart.svg. bench/README.md tells how, and what a figure means. It takes about half an hour, two cores that do
nothing else, and PostgreSQL, RabbitMQ, Redis, wrk and Webdis from Debian's packages. Exit code: 0 whatever the figures.

  --rows 1,4         only these rows; of the others what was measured before stays in bench/results.json
  --rounds N         how often both are measured in turn (otherwise 7)
  --transactions N   in the largest ledger (otherwise 1000000)
  --smoke            everything once and very small, to see that it works; writes nothing
  --install          installs, as root and with apt-get (Debian, Ubuntu), what of that is missing
  --help             print this text
`;

const full = { rounds: 7, seconds: 1, payments: 5000, requests: 1_000_000 };
const largestOtherwise = 1_000_000;
const smoke: Scale = { rounds: 1, seconds: 1, ledgers: [100, 200, 300], payments: 50, requests: 1000 };

const resultsFile = join(root, "bench/results.json");
const chartFile = join(root, "bench/chart.svg");

await runCommand("bench", usage, async (args) => {
  if (args[0] === "--install" && args.length === 1) {
    return installMissing(needs, "bench", stopOnSignals().signal);
  }
  const { values: given } = parseCommandLine({
    args,
    options: {
      rows: { type: "string" },
      rounds: { type: "string" },
      transactions: { type: "string" },
      smoke: { type: "boolean" },
    },
  });
  const chosen = given.rows === undefined ? rows : given.rows.split(",").map(rowOf);
  const largest = wholeNumber("transactions", given.transactions ?? String(largestOtherwise));
  const rounds = wholeNumber("rounds", given.rounds ?? String(full.rounds));
  if (largest < 100 || rounds < 1)
    throw new UsageError("--transactions must be 100 at the least, --rounds 1");
  const scale = given.smoke
    ? smoke
    : { ...full, rounds, ledgers: [largest / 100, largest / 10, largest].map(Math.floor) };
  requireInstalled(needs, "bench");
  leaveMeasuredCore();

  await using ledgers = ledgersOnPostgres();
  const measured: MeasuredRow[] = [];
  for (const row of chosen) {
    measured.push(await measure(row, scale, ledgers));
    for (const line of tableOf(measured.slice(-1))) say(line);
  }
  if (given.smoke) return;
  const before = existsSync(resultsFile)
    ? (JSON.parse(await readFile(resultsFile, "utf8")) as Results).rows
    : [];
  const kept = before.filter(({ number }) => !chosen.some((row) => row.number === number));
  const results = {
    machine: await machine(),
    rows: [...kept, ...measured].sort((a, b) => a.number - b.number),
  };
  await writeFile(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
  await writeFile(chartFile, chartOf(results));
  say(`wrote bench/results.json and bench/chart.svg`);
});

function rowOf(text: string): Row {
  const row = rows.find(({ number }) => String(number) === text);
  if (!row)
    throw new UsageError(`there is no row ${text}; there are ${rows.map(({ number }) => number).join(", ")}`);
  return row;
}

async function measure(row: Row, scale: Scale, ledgers: Ledgers): Promise<MeasuredRow> {
  const { number, work } = row;
  complain(`row ${number}, ${work}: getting ready`);
  await using opened = new AsyncDisposableStack();
  const comparisons = await row.open(scale, opened, ledgers);
  using progress = openProgress(`rounds of row ${number}`, comparisons.length * scale.rounds);
  const results = [];
  for (const comparison of comparisons) {
    results.push(await compare(comparison, scale.rounds, () => progress.advance(1)));
  }
  return { number, work, measured: new Date().toISOString().slice(0, 10), results };
}

async function machine(): Promise<Results["machine"]> {
  const { PRETTY_NAME = "" } = parseEnv(await readFile("/etc/os-release", "utf8"));
  return {
    system: `${PRETTY_NAME}, Linux ${release()}`,
    processor: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
}
