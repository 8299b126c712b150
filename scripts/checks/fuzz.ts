import { existsSync } from "node:fs";
import { mkdtempDisposable, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand, say } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { startProcess } from "../../testing/child-process.ts";
import { readOptions, wholeNumber } from "../../testing/options.ts";
import { startServices } from "../../testing/services.ts";
import { pythonTools } from "./python-tools.ts";

const version = "4.32.5";
const runMaxMs = 15 * 60_000;
const defaultCases = 200;

const usage = `Usage: npm run fuzz [-- --seed S] [--cases N]

Starts both services with events loaded and runs Schemathesis ${version} (Python, from PyPI) on their published contracts,
with every phase and every check, on every operation. Skipped with a message, and exit code 0, if Schemathesis cannot be
installed. Exit code: 1 if a check failed or if an operation or a phase was not tested.

  --seed S    selects the test cases; printed, to repeat a run. Default: random
  --cases N   maximum number of test cases for each operation and phase. Default: ${defaultCases}
  --help      print this text
`;

/** The parts of the Schemathesis report that are read. */
interface Report {
  complete: boolean;
  stop_reason: string;
  exit_code: number;
  operations: Record<"total" | "tested" | "skipped" | "errored", number>;
  phases: Record<string, { status: string; skip_reason?: string } | undefined>;
  valid_rates: Record<string, Record<string, { accepted: number }>>;
  warnings: Record<string, unknown[]>;
  test_cases: { generated: number };
  filtered: number;
}

/**
 * The warning that a phase rejected all valid requests of an operation. It can be a matter of chance, since hooks.py lets some
 * rules reject them, and a phase can have a single one.
 */
const chanceWarning = "validation_mismatch";

/** A line for everything that failed or was not tested. The exit code of Schemathesis does not show all of it. */
function* gapsOf({ valid_rates, warnings, ...report }: Report): Generator<string> {
  const { total, tested, skipped, errored } = report.operations;
  if (!report.complete || report.stop_reason !== "completed")
    yield `the run ended early: ${report.stop_reason}`;
  if (report.exit_code !== 0) yield "a check failed";
  if (total === 0 || tested !== total || skipped + errored > 0)
    yield `${tested} of ${total} operations were tested`;
  for (const name of ["examples", "coverage", "fuzzing", "stateful"]) {
    const phase = report.phases[name];
    if (phase?.status !== "success")
      yield `the phase ${name} did not succeed: ${phase?.skip_reason ?? phase?.status}`;
  }
  if (Object.keys(valid_rates).length !== total) yield "an operation received no valid request";
  for (const [operation, rates] of Object.entries(valid_rates))
    if (!Object.values(rates).some(({ accepted }) => accepted > 0))
      yield `${operation} never accepted a request`;
  for (const [kind, texts] of Object.entries(warnings))
    if (texts.length > 0 && kind !== chanceWarning) yield `${kind}: ${texts.join(", ")}`;
}

await runCommand("fuzz", usage, async (args) => {
  const options = readOptions(args, ["seed", "cases"]);
  const seed = wholeNumber("seed", options.seed ?? String(Math.floor(Math.random() * 1_000_000)));
  const cases = wholeNumber("cases", options.cases ?? String(defaultCases));
  const tools = await pythonTools([`schemathesis==${version}`]);
  if ("reason" in tools) {
    say(`SKIPPED: Schemathesis cannot be installed: ${tools.reason}`);
    return;
  }

  const stop = stopOnSignals();
  say("starting the services with the data of npm run demo");
  await using services = await startServices({ FEATURES_STORE_URL: "lmdb:./data/features?keep=all" });
  await services.run("scripts/demo/demo.ts");

  say(`fuzzing both services with seed ${seed}; takes about a minute`);
  await using reports = await mkdtempDisposable(join(tmpdir(), "fuzz-"));
  const fuzz = async (name: string, url: string) => {
    const file = join(reports.path, `${name}.json`);
    const toolOptions = ["--seed", String(seed), "--max-examples", String(cases), "--no-color"];
    const command = [join(tools.folder, "schemathesis"), "run", `${url}/openapi-3.2.yaml`];
    const { output, errors } = await startProcess(
      [...command, ...toolOptions, "--report", "json", "--report-json-path", file],
      {
        cwd: fileURLToPath(new URL("fuzz", import.meta.url)),
        env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
        signal: AbortSignal.any([stop.signal, AbortSignal.timeout(runMaxMs)]),
      },
    ).exit;
    stop.signal.throwIfAborted();
    const report = existsSync(file) ? (JSON.parse(await readFile(file, "utf8")) as Report) : undefined;
    const gaps = report ? [...gapsOf(report)] : ["there is no report"];
    if (gaps.length > 0) say(output + errors);
    say(
      `${name}: seed ${seed}, ${report?.test_cases.generated} cases, ${report?.operations.tested} operations, ${report?.filtered} rejections that hooks.py expects`,
    );
    return gaps.map((gap) => new Error(`${name}: ${gap}`));
  };
  const found = [fuzz("ledger", services.ledgerUrl), fuzz("features", services.featuresUrl)];
  const gaps = (await Promise.all(found)).flat();
  if (gaps.length > 0) throw new AggregateError(gaps);
});
