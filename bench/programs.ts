import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { root } from "../scripts/project.ts";
import { freePort } from "../src/service/free-port.fixture.ts";

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

export interface Program extends AsyncDisposable {
  pid: number;
  /** Where it listens. */
  url: string;
}

export interface Settings {
  /** Environment variables beside the port's. */
  env?: Record<string, string>;
  /** Options of Node.js. */
  options?: string[];
  /** Any answer to it tells that the program is ready. */
  path?: string;
}

/** Starts a service on the measured core, in a folder of its own, and waits until it answers. */
export const startService = (service: "ledger" | "features", settings: Settings = {}) =>
  startProgram(join(root, "src/main.ts"), [service], `${service.toUpperCase()}_PORT`, settings);

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
export const startBaseline = (name: string, settings: Settings = {}) =>
  startProgram(join(root, `bench/baselines/${name}.ts`), [], "PORT", settings);

async function startProgram(
  program: string,
  args: string[],
  portVariable: string,
  { env = {}, options = [], path = "/" }: Settings,
): Promise<Program> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "bench-"));
  opening.defer(() => rm(folder, { recursive: true }));
  const port = await freePort();
  const [taskset, ...command] = onMeasuredCore([process.execPath, ...options, program, ...args]);
  const child = spawn(taskset, command, {
    cwd: folder,
    env: { PATH: process.env.PATH, [portVariable]: String(port), ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(child, "exit");
  opening.defer(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  const late = AbortSignal.timeout(startMaxMs);
  while (!(await answers(url + path))) {
    if (child.exitCode !== null || late.aborted) throw new Error(`${program} did not start`);
    await sleep(5);
  }
  const opened = opening.move();
  return { pid: child.pid as number, url, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

const answers = (url: string) =>
  request(url).then(
    ({ body }) => body.dump().then(() => true),
    () => false,
  );
