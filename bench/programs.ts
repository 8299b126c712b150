import { execFileSync } from "node:child_process";
import { mkdtempDisposable } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { call, startProcess } from "../testing/child-process.ts";
import { disposing } from "../testing/disposing.ts";
import { root } from "../testing/project.ts";
import type { TestServer } from "../testing/servers/server.ts";
import type { ProgramOptions } from "../testing/services.ts";
import * as services from "../testing/services.ts";

/** The core of the measured process. Load, databases and brokers share the other cores. */
const measuredCore = "0";
const otherCores = availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : measuredCore;

/** The command, restricted to the measured core. */
const onMeasuredCore = (command: string[]) => ["taskset", "--cpu-list", measuredCore, ...command];

/** Restricts this process, and every process that it starts later, to the other cores. */
export const leaveMeasuredCore = () =>
  execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", otherCores, String(process.pid)]);

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

/** Starts a service as `npm start` does, on the measured core. Resolves when it responds. */
export const startService = async (service: "ledger" | "features", options: ProgramOptions = {}) =>
  callable(await services.startService(service, { ...options, wrap: onMeasuredCore }));

/** The settings of a ledger on this database, without a receiver. */
export const ledgerWithoutReceiver = (databaseUrl: string) => ({
  ...{ DATABASE_URL: databaseUrl, QUEUE_URL: "memory:", QUEUE_RECEIVER_BACKGROUND_PROCESSING: "false" },
});

export const startLedger = (databaseUrl: string) =>
  startService("ledger", { env: ledgerWithoutReceiver(databaseUrl) });

/** Starts a server of `baselines/` on the measured core. Resolves when it responds. */
export const startBaseline = async (file: string, options: ProgramOptions = {}) =>
  callable(
    await services.startProgram([`bench/baselines/${file}`], ["PORT"], { ...options, wrap: onMeasuredCore }),
  );

const callable = (server: TestServer): Server => ({
  url: server.url,
  pid: server.child().pid as number,
  startMs: server.startMs(),
  call: (argument) => call(server.child(), argument),
  [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
});

/** Starts a program of `bench/` that is called (`Program.call`) and does not listen. */
export async function startProgram(file: string, env: Record<string, string> = {}): Promise<Program> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await mkdtempDisposable(join(tmpdir(), "bench-")));
  const { child } = opening.use(
    startProcess(onMeasuredCore([process.execPath, join(root, "bench", file)]), {
      cwd: folder.path,
      env: { PATH: process.env.PATH, ...env },
      output: "ignore",
      errors: "inherit",
      ipc: true,
    }),
  );
  return disposing(opening, {
    pid: child.pid as number,
    call: <Result>(argument: unknown) => call<Result>(child, argument),
  });
}
