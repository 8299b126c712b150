import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";

/** How a process ended, and what it wrote. The code of a process that a signal ended is a shell's: 128 and the signal. */
export interface Exit {
  code: number;
  output: string;
  errors: string;
}

type Stream = "collect" | "inherit" | "ignore";

export interface ProcessOptions {
  /** Default: the folder of this process. */
  cwd?: string;
  /** The whole environment. Default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Standard input, which then ends unless `keepInputOpen`. Default: none. */
  input?: string;
  keepInputOpen?: boolean;
  /** Gives it the standard input of this process instead. */
  inheritInput?: boolean;
  /** Default: `collect`. */
  output?: Stream;
  errors?: Stream;
  /** Opens a channel for messages. Default: false. */
  ipc?: boolean;
  /** Ends the process with SIGTERM when it aborts. */
  signal?: AbortSignal;
}

export interface RunningProcess extends AsyncDisposable {
  child: ChildProcess;
  /** Rejects only when the program cannot be started. */
  exit: Promise<Exit>;
  /** What it has written to standard output so far. */
  output(): string;
  hasExited(): boolean;
}

/** A process that does not end by itself this long after SIGTERM is killed. */
const stopMaxMs = 60_000;

/** Starts a command. When it is disposed of, it gets SIGTERM, after 60 seconds SIGKILL, and its end is awaited. */
export function startProcess(
  [program = "", ...args]: string[],
  options: ProcessOptions = {},
): RunningProcess {
  const { input, keepInputOpen = false, output = "collect", errors = "collect", signal } = options;
  const pipe = (stream: Stream) => (stream === "collect" ? "pipe" : stream);
  const stdio: StdioOptions = [
    options.inheritInput ? "inherit" : input !== undefined || keepInputOpen ? "pipe" : "ignore",
    pipe(output),
    pipe(errors),
    ...(options.ipc ? (["ipc"] as const) : []),
  ];
  const child = spawn(program, args, { cwd: options.cwd, env: options.env, stdio });
  const written = { output: "", errors: "" };
  child.stdout?.setEncoding("utf8").on("data", (chunk) => (written.output += chunk));
  child.stderr?.setEncoding("utf8").on("data", (chunk) => (written.errors += chunk));
  if (input) child.stdin?.write(input);
  if (!keepInputOpen) child.stdin?.end();
  const stop = () => child.kill("SIGTERM");
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  const exit = once(child, "close").then(([code, by]) => {
    signal?.removeEventListener("abort", stop);
    return { code: code ?? 128 + constants.signals[by as NodeJS.Signals], ...written };
  });
  exit.catch(() => {}); // whoever awaits it is told
  return {
    child,
    exit,
    output: () => written.output,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    async [Symbol.asyncDispose]() {
      stop();
      const late = setTimeout(() => child.kill("SIGKILL"), stopMaxMs);
      await exit.catch(() => {});
      clearTimeout(late);
    },
  };
}

/** Runs a command to its end. Rejects when it cannot be started, and when the signal aborts. */
export async function runProcess(command: string[], options: ProcessOptions = {}): Promise<Exit> {
  const exit = await startProcess(command, options).exit;
  options.signal?.throwIfAborted();
  return exit;
}

/** Runs a command to its end and returns its output. Rejects with what it wrote unless its exit code is 0. */
export async function outputOf(command: string[], options: ProcessOptions = {}): Promise<string> {
  const { code, output, errors } = await runProcess(command, options);
  if (code !== 0) {
    throw new Error(`${output}${errors}`.trim() || `${command.join(" ")} ended with exit code ${code}`);
  }
  return output;
}
