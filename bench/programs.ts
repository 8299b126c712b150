import { execFileSync, type Serializable } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import npmPackage from "../package.json" with { type: "json" };
import { startProcess } from "../testing/child-process.ts";
import { freePort } from "../testing/free-port.ts";
import { root } from "../testing/project.ts";

/** The core that what is measured has to itself; load, databases and brokers share the others. */
const measuredCore = "0";
const otherCores = availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : measuredCore;

/** The command on the core of what is measured. */
export const onMeasuredCore = (command: string[]): [program: string, ...args: string[]] => [
  "taskset",
  ...["--cpu-list", measuredCore, ...command],
];

/** Keeps this process, and all that it starts from then on, off the core of what is measured. */
export const leaveMeasuredCore = () =>
  execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", otherCores, String(process.pid)]);

const startMaxMs = 60_000;
const lookEveryMs = 2;

/** A process on the measured core. */
export interface Program extends AsyncDisposable {
  pid: number;
  /** What it answers (see answer.ts) to a question, of which one is asked at a time. */
  ask<Answer>(question: unknown): Promise<Answer>;
}

export interface Server extends Program {
  /** Where it listens. */
  url: string;
  /** From its start to its first answer, in milliseconds. */
  startMs: number;
}

export interface Settings {
  /** Environment variables beside the port's. */
  env?: Record<string, string>;
  /** Options of Node.js. */
  options?: string[];
  /** Any answer to it tells that the program is ready. */
  path?: string;
}

/** The options of Node.js that `npm start` has. */
const shipped = npmPackage.scripts.start.split(" ").filter((word) => word.startsWith("--"));

/** Starts a service on the measured core, in a folder of its own, and waits until it answers. */
export const startService = (service: "ledger" | "features", { options = [], ...settings }: Settings = {}) =>
  startServer("src/main.ts", [service], `${service.toUpperCase()}_PORT`, {
    ...settings,
    options: [...shipped, ...options],
  });

/** A ledger that answers from this database and receives nothing. */
export const startLedger = (databaseUrl: string) =>
  startService("ledger", {
    env: {
      DATABASE_URL: databaseUrl,
      QUEUE_URL: "memory:",
      QUEUE_RECEIVER_BACKGROUND_PROCESSING: "false",
    },
  });

/** The same with one of the baselines. */
export const startBaseline = (file: string, settings: Settings = {}) =>
  startServer(`bench/baselines/${file}`, [], "PORT", settings);

/** Starts a program of `bench/` that listens nowhere, and is asked. */
export const startProgram = (file: string, env: Record<string, string> = {}): Promise<Program> =>
  launch(`bench/${file}`, [], { env });

async function startServer(
  file: string,
  args: string[],
  portVariable: string,
  { env = {}, options = [], path = "/" }: Settings,
): Promise<Server> {
  await using opening = new AsyncDisposableStack();
  const port = await freePort();
  const begun = performance.now();
  const program = opening.use(
    await launch(file, args, { env: { [portVariable]: String(port), ...env }, options }),
  );
  const url = `http://127.0.0.1:${port}`;
  const late = AbortSignal.timeout(startMaxMs);
  while (!(await answers(url + path))) {
    if (program.hasExited() || late.aborted) throw new Error(`${file} did not start`);
    await sleep(lookEveryMs);
  }
  const startMs = performance.now() - begun;
  const opened = opening.move();
  return { ...program, url, startMs, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function launch(
  file: string,
  args: string[],
  { env, options = [] }: { env: Record<string, string>; options?: string[] },
): Promise<Program & { hasExited(): boolean }> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  opening.defer(() => rm(folder, { recursive: true }));
  const running = opening.use(
    startProcess(onMeasuredCore([process.execPath, ...options, join(root, file), ...args]), {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env },
      output: "ignore",
      errors: "inherit",
      ipc: true,
    }),
  );
  const { child } = running;
  const opened = opening.move();
  return {
    pid: child.pid as number,
    hasExited: running.hasExited,
    async ask(question) {
      const unanswered = running.exit.then(() => {
        throw new Error(`${file} ended without an answer`);
      });
      child.send(question as Serializable);
      const [answer] = await Promise.race([once(child, "message"), unanswered]);
      return answer;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const answers = (url: string) =>
  request(url).then(
    ({ body }) => body.dump().then(() => true),
    () => false,
  );
