import { execFileSync, type Serializable } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { startProcess } from "../testing/child-process.ts";
import { freePort } from "../testing/free-port.ts";
import { startEnvironment, startOptions } from "../testing/npm-start.ts";
import { root } from "../testing/project.ts";

/** The core of the measured process. Load, databases and brokers share the other cores. */
const measuredCore = "0";
const otherCores = availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : measuredCore;

/** The command, restricted to the measured core. */
const onMeasuredCore = (command: string[]): [program: string, ...args: string[]] => [
  "taskset",
  ...["--cpu-list", measuredCore, ...command],
];

/** Restricts this process, and every process that it starts later, to the other cores. */
export const leaveMeasuredCore = () =>
  execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", otherCores, String(process.pid)]);

const startMaxMs = 60_000;
const pollIntervalMs = 2;

/** A process on the measured core. */
export interface Program extends AsyncDisposable {
  pid: number;
  /** Runs the work of the program (see `handleCalls`) and resolves with its result. One call at a time. */
  call<Result>(argument: unknown): Promise<Result>;
}

export interface Server extends Program {
  url: string;
  /** Time from the start of the process to its first response. */
  startMs: number;
}

export interface Settings {
  /** Environment variables in addition to the port. */
  env?: Record<string, string>;
  /** Options of Node.js. */
  options?: string[];
  /** The program is ready when it responds to this path, with any status. Default: `/`. */
  path?: string;
}

/** The settings with the options of Node.js and the environment of `npm start`, which save memory and cost time. */
export const asNpmStart = ({ env, options = [], ...settings }: Settings): Settings => ({
  ...settings,
  env: { ...startEnvironment, ...env },
  options: [...startOptions, ...options],
});

/** Starts a service as `npm start` does, on the measured core, in a folder of its own. Resolves when it responds. */
export const startService = (service: "ledger" | "features", settings: Settings = {}) =>
  startServer("src/main.ts", [service], `${service.toUpperCase()}_PORT`, asNpmStart(settings));

/** Starts a ledger on this database, without a receiver. */
export const startLedger = (databaseUrl: string) =>
  startService("ledger", {
    env: { DATABASE_URL: databaseUrl, QUEUE_URL: "memory:", QUEUE_RECEIVER_BACKGROUND_PROCESSING: "false" },
  });

/** Starts a server of `baselines/` on the measured core, in a folder of its own. Resolves when it responds. */
export const startBaseline = (file: string, settings: Settings = {}) =>
  startServer(`bench/baselines/${file}`, [], "PORT", settings);

/** Starts a program of `bench/` that is called (`Program.call`) and does not listen. */
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
  const start = performance.now();
  const program = opening.use(
    await launch(file, args, { env: { [portVariable]: String(port), ...env }, options }),
  );
  const url = `http://127.0.0.1:${port}`;
  const timeout = AbortSignal.timeout(startMaxMs);
  while (!(await responds(url + path))) {
    if (program.hasExited() || timeout.aborted) throw new Error(`${file} did not start`);
    await sleep(pollIntervalMs);
  }
  const startMs = performance.now() - start;
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
    async call(argument) {
      const exited = running.exit.then(() => {
        throw new Error(`${file} exited without a result`);
      });
      child.send(argument as Serializable);
      const [result] = await Promise.race([once(child, "message"), exited]);
      return result;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const responds = (url: string) =>
  request(url).then(
    ({ body }) => body.dump().then(() => true),
    () => false,
  );
