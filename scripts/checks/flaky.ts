import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCommandLine, runCommand, say } from "../../src/process/command.ts";
import { stopOnSignals } from "../../src/process/stop.ts";
import { runProcess, startProcess } from "../../testing/child-process.ts";
import { wholeNumber } from "../../testing/options.ts";
import { root } from "../../testing/project.ts";

const usage = `Usage: npm run flaky [-- --runs N] [--loops N] [PATH...]

Runs the fast tests again and again, each time in another random order, beside busy loops that take the processors from
them. Prints each test that failed, how often, and the seed that repeats its order. Exit code: 1 if a test failed.

  --runs N    number of runs. Default: 10
  --loops N   number of busy loops. Default: 3
  PATH        only the tests in files whose path contains this
  --help      print this text
`;

/** The parts of the report of Vitest that are read. */
interface Report {
  testResults: {
    name: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages?: string[] }[];
  }[];
}

interface Failure {
  test: string;
  seed: number;
  message: string;
}

/** What failed in a run. A file that could not be loaded counts as one test. */
const failuresIn = ({ testResults }: Report, seed: number): Failure[] =>
  testResults.flatMap(({ name, message, assertionResults }) => {
    const file = name.replace(root, "");
    const failed = assertionResults.filter(({ status }) => status === "failed");
    if (failed.length === 0 && message) return [{ test: file, seed, message }];
    return failed.map(({ fullName, failureMessages = [] }) => ({
      test: `${file}: ${fullName}`,
      seed,
      message: failureMessages[0] ?? message,
    }));
  });

await runCommand("flaky", usage, async (args) => {
  const { values: given, positionals: paths } = parseCommandLine({
    args,
    allowPositionals: true,
    options: { runs: { type: "string" }, loops: { type: "string" } },
  });
  const runs = wholeNumber("runs", given.runs ?? "10");
  const loops = wholeNumber("loops", given.loops ?? "3");
  const { signal } = stopOnSignals();
  await using busy = new AsyncDisposableStack();
  for (let loop = 0; loop < loops; loop += 1)
    busy.use(startProcess([process.execPath, "-e", "while (true);"]));
  const report = join(tmpdir(), `flaky-${process.pid}.json`);
  const failures: Failure[] = [];
  for (let run = 1; run <= runs; run += 1) {
    const seed = Math.floor(Math.random() * 1_000_000);
    const startedAt = performance.now();
    const order = ["--sequence.shuffle.files", "--sequence.shuffle.tests", `--sequence.seed=${seed}`];
    const output = ["--reporter=json", `--outputFile=${report}`];
    const command = ["npm", "test", "--", ...order, ...output, ...paths];
    const { code } = await runProcess(command, { cwd: root, errors: "inherit", signal });
    const found: Report = JSON.parse(await readFile(report, "utf8"));
    const failed = failuresIn(found, seed);
    // For example an error that no test has caught.
    if (failed.length === 0 && code !== 0)
      failed.push({ test: "the run", seed, message: `exit code ${code}` });
    failures.push(...failed);
    const count = found.testResults.reduce((sum, { assertionResults }) => sum + assertionResults.length, 0);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    say(`run ${run} of ${runs}: ${count} tests, ${failed.length} failed, ${seconds} s, seed ${seed}`);
    for (const { test, message } of failed) say(`  ${test}\n    ${message.split("\n")[0]}`);
  }
  if (failures.length === 0) {
    say(`no test failed in ${runs} runs beside ${loops} busy loops`);
    return;
  }
  const byTest = [...Map.groupBy(failures, ({ test }) => test)];
  for (const [test, each] of byTest) {
    say(`${each.length} of ${runs}  ${test}; seeds ${each.map(({ seed }) => seed).join(", ")}`);
  }
  throw new Error(`${byTest.length} tests failed in at least one of ${runs} runs`);
});
