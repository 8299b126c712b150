import { readOptions } from "../scripts/options.ts";
import { runCommand, say, UsageFault } from "../src/service/command.ts";
import { ledgersOnPostgres } from "./ledger-data.ts";
import { leaveMeasuredCore } from "./programs.ts";
import { compare, type Figure, type Result } from "./rounds.ts";
import type { Scale } from "./row.ts";
import { rows } from "./rows.ts";

const usage = `Usage: npm run bench [-- --rows 1,4] [--scale full|smoke|large]

  --help      print this text
`;

const scales: Record<string, Scale> = {
  full: {
    rounds: 11,
    seconds: 1,
    ledgers: [10_000, 100_000, 1_000_000],
    payments: 5000,
    requests: 1_000_000,
  },
  smoke: { rounds: 1, seconds: 1, ledgers: [100, 200, 300], payments: 50, requests: 100 },
};

const spread = ({ median, least, most }: Figure) => `${tell(median)} (${tell(least)}–${tell(most)})`;
/** Three digits at the least. */
const tell = (value: number) => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

const line = (number: number, { name, unit, ours, baseline, ratio, target, reached }: Result) =>
  [
    number,
    name,
    spread(ours),
    unit,
    baseline && spread(baseline),
    ratio && spread(ratio),
    JSON.stringify(target),
    reached,
  ].join("  ");

await runCommand("bench", usage, async (args) => {
  const { rows: wanted, scale: name = "full" } = readOptions(args, ["rows", "scale"]);
  const scale = scales[name];
  if (!scale) throw new UsageFault(`--scale must be one of ${Object.keys(scales).join(", ")}`);
  leaveMeasuredCore();
  await using ledgers = ledgersOnPostgres();
  for (const row of rows.filter(({ number }) => !wanted || wanted.split(",").includes(String(number)))) {
    await using opened = new AsyncDisposableStack();
    for (const comparison of await row.open(scale, opened, ledgers)) {
      say(line(row.number, await compare(comparison, scale.rounds, () => {})));
    }
  }
});
