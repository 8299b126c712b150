import { installMissing, refuseMissing } from "../scripts/installed.ts";
import { readOptions } from "../scripts/options.ts";
import { runCommand, say, UsageFault } from "../src/service/command.ts";
import { stopOnSignals } from "../src/service/stop.ts";
import { needsOf } from "./needs.ts";
import { leaveMeasuredCore } from "./programs.ts";
import { compare, type Figure, type Result } from "./rounds.ts";
import type { Scale } from "./row.ts";
import { rows } from "./rows.ts";

const usage = `Usage: npm run bench [-- --rows 1,4] [--scale full|smoke|large]
       npm run bench -- --install

  --install   installs, as root and with apt-get (Debian, Ubuntu), what is measured with and is missing
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

const spread = ({ median, least, most }: Figure, digits: number) =>
  `${median.toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`;

const line = (number: number, { name, unit, ours, baseline, ratio, target, reached }: Result) =>
  [
    number,
    name,
    spread(ours, 0),
    unit,
    baseline && spread(baseline, 0),
    ratio && spread(ratio, 2),
    JSON.stringify(target),
    reached,
  ].join("  ");

await runCommand("bench", usage, async (args) => {
  if (args[0] === "--install" && args.length === 1) {
    return installMissing(needsOf(rows), "bench", stopOnSignals().signal);
  }
  const { rows: wanted, scale: name = "full" } = readOptions(args, ["rows", "scale"]);
  const scale = scales[name];
  if (!scale) throw new UsageFault(`--scale must be one of ${Object.keys(scales).join(", ")}`);
  const chosen = rows.filter(({ number }) => !wanted || wanted.split(",").includes(String(number)));
  refuseMissing(needsOf(chosen), "bench");
  leaveMeasuredCore();
  for (const row of chosen) {
    await using opened = new AsyncDisposableStack();
    for (const comparison of await row.open(scale, opened)) {
      say(line(row.number, await compare(comparison, scale.rounds, () => {})));
    }
  }
});
