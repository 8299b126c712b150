import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRunning } from "../../../testing/servers/server.ts";
import { outcomesAsMarkdown } from "./report.ts";
import { firstFailingLine, type Outcome, runSteps, type Step } from "./steps.ts";

const step = (name: string, command: string, members: Partial<Step> = {}): Step => ({
  ...{ name, command, seed: 7, why: "a test", isAlone: false, needsPrograms: false },
  ...members,
});

interface RunOptions {
  keepGoing?: boolean;
  installed?: Promise<void>;
  stop?: AbortSignal;
  onEnd?(name: string): void;
}

async function run(steps: Step[], { onEnd, ...options }: RunOptions = {}) {
  const order: string[] = [];
  const outcomes = await runSteps(steps, {
    folder: newFolder(),
    keepGoing: false,
    installed: Promise.resolve(),
    stop: new AbortController().signal,
    ...options,
    onStart: ({ name }) => order.push(`${name} begins`),
    onEnd({ name }) {
      order.push(`${name} ends`);
      onEnd?.(name);
    },
  });
  return { order, outcomes, verdicts: outcomes.map(({ verdict }) => verdict) };
}
const newFolder = () => mkdtempSync(join(tmpdir(), "steps-"));
const outputOf = ({ log }: Outcome) => readFileSync(log, "utf8").trim();
const endless = "while :; do sleep 1; done";

test("two steps run at a time, and those that run alone come last", async () => {
  const folder = newFolder();
  // Each waits for the other.
  const meet = (own: string, other: string) =>
    `touch ${folder}/${own}; until [ -e ${folder}/${other} ]; do sleep 0.01; done`;
  const alone = step("alone", "true", { isAlone: true });
  const { order, verdicts } = await run([alone, step("one", meet("a", "b")), step("other", meet("b", "a"))]);
  expect(verdicts).toEqual(["passed", "passed", "passed"]);
  expect(order.slice(-2)).toEqual(["alone begins", "alone ends"]);
});

test("a step that needs programs waits for their installation, others do not", async () => {
  const installed = Promise.withResolvers<void>();
  const steps = [step("later", "true", { needsPrograms: true }), step("first", "true")];
  const { order, verdicts } = await run(steps, {
    installed: installed.promise,
    onEnd: () => installed.resolve(),
  });
  expect(order).toEqual(["first begins", "first ends", "later begins", "later ends"]);
  expect(verdicts).toEqual(["passed", "passed"]);
});

test("a failed installation is the failure of the run", async () => {
  const installed = Promise.reject(new Error("no package"));
  await expect(run([step("later", "true", { needsPrograms: true })], { installed })).rejects.toThrow(
    "no package",
  );
});

test("the first failure cuts off the running step, and no other begins", async () => {
  const steps = [step("endless", endless), step("failing", "exit 3"), step("next", "true")];
  expect((await run(steps)).verdicts).toEqual(["cut off", "failed", "not run"]);
});

test("with keepGoing all steps run", async () => {
  const steps = [step("failing", "exit 3"), step("next", "true")];
  expect((await run(steps, { keepGoing: true })).verdicts).toEqual(["failed", "passed"]);
});

test("a stop ends the running steps with their processes", async () => {
  const stop = new AbortController();
  const file = join(newFolder(), "pid");
  const tree = step("tree", `sleep 1000 & echo $! > ${file}; ${endless}`);
  const stopping = step("stopping", `until [ -s ${file} ]; do sleep 0.01; done`);
  const onEnd = (name: string) => name === "stopping" && stop.abort();
  const { verdicts } = await run([tree, stopping, step("next", "true")], { stop: stop.signal, onEnd });
  expect(verdicts).toEqual(["cut off", "passed", "not run"]);
  await expect.poll(() => isRunning(Number(readFileSync(file, "utf8")))).toBe(false);
});

test("processes that a step leaves behind are ended", async () => {
  const { outcomes } = await run([step("leaving", "sleep 1000 & echo $!")]);
  const pid = Number(outputOf(outcomes[0] as Outcome));
  expect(pid).toBeGreaterThan(1);
  await expect.poll(() => isRunning(pid)).toBe(false);
});

test("the report has every step with the command that repeats it, and the first failing line", async () => {
  const failing =
    "printf '> npm run failed\\n\\033[31m✓ no error\\n ❯ a.test.ts failed\\n × a test\\nand more\\n'; exit 1";
  const { outcomes } = await run([step("failing", failing), step("well", "true")], { keepGoing: true });
  expect(firstFailingLine(outcomes[0] as Outcome)).toBe("× a test");
  const text = outcomesAsMarkdown("Checks", outcomes);
  expect(text).toContain("1 of 2 steps passed.");
  expect(text).toMatch(/\| failing \| 0\.0 \| failed \| 7 \| `printf/);
  expect(text).toMatch(/\| well \| 0\.0 \| passed \| 7 \| `true` \|/);
  expect(text).toContain("× a test");
});
