import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { root } from "../../../testing/project.ts";

/** A command that is run once. */
export interface Step {
  name: string;
  command: string;
  seed: number;
  /** Why it is run. */
  why: string;
  isAlone: boolean;
  /** It waits until the programs that it needs are installed. */
  needsPrograms: boolean;
}

export type Verdict = "passed" | "failed" | "cut off" | "not run";

export interface Outcome extends Step {
  verdict: Verdict;
  seconds: number;
  /** The file with its output. */
  log: string;
}

interface Options {
  /** The folder for the output of the steps. */
  folder: string;
  /** Resolves when the programs are installed. */
  installed: Promise<void>;
  /** Runs the other steps after one that failed. */
  keepGoing: boolean;
  stop: AbortSignal;
  onStart(step: Step): void;
  onEnd(outcome: Outcome): void;
}

const concurrency = 2;
/** Time from SIGTERM to SIGKILL. */
const stopMaxMs = 30_000;

/**
 * Runs the steps in their order, two at a time, and then those that run alone. Returns the outcomes in the order of the
 * steps. When `stop` aborts, and after a failure unless `keepGoing`, the running ones are stopped.
 */
export async function runSteps(steps: Step[], options: Options): Promise<Outcome[]> {
  const outcomes = new Map<Step, Outcome>();
  const failed = new AbortController();
  const stop = AbortSignal.any([options.stop, failed.signal]);
  const logOf = ({ name }: Step) => join(options.folder, `${name}.log`);
  let areInstalled = false;
  const installed = options.installed.then(() => {
    areInstalled = true;
  });

  async function run(step: Step): Promise<void> {
    options.onStart(step);
    const startedAt = performance.now();
    const code = await runLogged(step, logOf(step), stop);
    const isCutOff = code !== 0 && stop.aborted;
    const verdict = code === 0 ? "passed" : isCutOff ? "cut off" : "failed";
    const outcome: Outcome = {
      ...step,
      verdict,
      seconds: (performance.now() - startedAt) / 1000,
      log: logOf(step),
    };
    outcomes.set(step, outcome);
    if (verdict === "failed" && !options.keepGoing) failed.abort();
    options.onEnd(outcome);
  }

  /** Runs the steps, each when it can run, until none is left. */
  async function runFrom(left: Step[]): Promise<void> {
    while (left.length > 0 && !stop.aborted) {
      const index = left.findIndex(({ needsPrograms }) => areInstalled || !needsPrograms);
      if (index < 0) await installed;
      else await run(left.splice(index, 1)[0] as Step);
    }
  }

  const together = steps.filter(({ isAlone }) => !isAlone);
  const lanes = await Promise.allSettled(Array.from({ length: concurrency }, () => runFrom(together)));
  for (const lane of lanes) if (lane.status === "rejected") throw lane.reason;
  await runFrom(steps.filter(({ isAlone }) => isAlone));
  return steps.map(
    (step) => outcomes.get(step) ?? { ...step, verdict: "not run", seconds: 0, log: logOf(step) },
  );
}

/** Runs a command line with its output in a file. Resolves with its exit code. All its processes end with it. */
async function runLogged({ command, isAlone }: Step, log: string, stop: AbortSignal): Promise<number> {
  const file = openSync(log, "w");
  const child = spawn("sh", ["-c", command.startsWith("npm ") ? `exec ${command}` : command], {
    cwd: root,
    // Files in memory would count as memory of the services.
    env: { ...process.env, NO_COLOR: "1", ...(isAlone && { TMPDIR: "/var/tmp" }) },
    stdio: ["ignore", file, file],
    // A process group of its own, which is stopped as a whole.
    detached: true,
  });
  closeSync(file);
  const end = () => {
    signalGroup(child, "SIGTERM");
    killTimer ??= setTimeout(() => signalGroup(child, "SIGKILL"), stopMaxMs);
  };
  let killTimer: NodeJS.Timeout | undefined;
  stop.addEventListener("abort", end);
  if (stop.aborted) end();
  const [code] = await once(child, "close");
  stop.removeEventListener("abort", end);
  clearTimeout(killTimer);
  // What the command has left behind would disturb the next one.
  signalGroup(child, "SIGKILL");
  return code ?? 1;
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid) process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** The lines of the output of a step, without colours. */
export const outputOf = ({ log }: Outcome): string[] =>
  stripVTControlCharacters(readFileSync(log, "utf8")).trim().split("\n");

/** The first line of the output that names a failed test; else the first that tells of a failure; else the last line. */
export function firstFailingLine(outcome: Outcome): string {
  // The name of a test that passes and the command, which npm repeats, can contain such words.
  const lines = outputOf(outcome).filter((line) => line.trim() && !/^> |^\s*✓/.test(line));
  const first = (form: RegExp) => lines.find((line) => form.test(line));
  const test = first(/^\s*(×|✖|✗|not ok)/);
  const failure = first(/\b(FAIL|FAILED|error|failed|exceeded|NOT CAUGHT)\b|Error\b/);
  return (test ?? failure ?? lines.at(-1) ?? "no output").trim();
}
