import { type ChildProcess, type Serializable, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";

/** The exit code and the output of a process. After a signal the code is 128 plus the number of the signal, as in a shell. */
export interface Exit {
  code: number;
  output: string;
  errors: string;
}

type Stream = "collect" | "inherit" | "ignore";

export interface ProcessOptions {
  /** Default: the folder of this process. */
  cwd?: string;
  /** The whole environment. Default: the environment of this process. */
  env?: NodeJS.ProcessEnv;
  /** Text for the standard input, which then ends unless `keepInputOpen`. Default: none. */
  input?: string;
  keepInputOpen?: boolean;
  /** Inherits the standard input of this process. Default: false. */
  inheritInput?: boolean;
  /** Default: `collect`. */
  output?: Stream;
  errors?: Stream;
  /** Opens a channel for messages. Default: false. */
  ipc?: boolean;
  /** Sends the process SIGTERM when it aborts. */
  signal?: AbortSignal;
}

export type RunningProcess = ReturnType<typeof startProcess>;

/** Time from SIGTERM to SIGKILL. */
const stopMaxMs = 60_000;

/** Starts a command. Disposal sends SIGTERM, then SIGKILL after 60 seconds, and waits until the process has exited. */
export function startProcess([program = "", ...args]: string[], options: ProcessOptions = {}) {
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
  /** Rejects only when the program cannot be started. */
  const exit: Promise<Exit> = once(child, "close").then(([code, endedBy]) => {
    signal?.removeEventListener("abort", stop);
    return { code: code ?? 128 + constants.signals[endedBy as NodeJS.Signals], ...written };
  });
  exit.catch(() => {}); // Not unhandled if nobody awaits it.
  return {
    child,
    exit,
    /** The standard output so far. */
    output: () => written.output,
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
    async [Symbol.asyncDispose]() {
      stop();
      const killTimer = setTimeout(() => child.kill("SIGKILL"), stopMaxMs);
      await exit.catch(() => {});
      clearTimeout(killTimer);
    },
  };
}

/** Runs a command until it exits. Rejects if it cannot be started or if the signal aborts. */
export async function runProcess(command: string[], options: ProcessOptions = {}): Promise<Exit> {
  const exit = await startProcess(command, options).exit;
  options.signal?.throwIfAborted();
  return exit;
}

/** Runs a command until it exits and returns its output. Rejects with the whole output if the exit code is not 0. */
export async function outputOf(command: string[], options: ProcessOptions = {}): Promise<string> {
  const { code, output, errors } = await runProcess(command, options);
  if (code !== 0) {
    throw new Error(`${output}${errors}`.trim() || `${command.join(" ")} ended with exit code ${code}`);
  }
  return output;
}

/** Sends a message to a process with a channel and resolves with its next message. Rejects if it exits before. */
export async function call<Result>(child: ChildProcess, argument: unknown): Promise<Result> {
  const exit = new AbortController();
  const abort = () => exit.abort(new Error("the process exited without an answer"));
  child.once("disconnect", abort);
  try {
    const answer = once(child, "message", { signal: exit.signal });
    child.send(argument as Serializable, (error) => error && abort());
    const [result] = await answer;
    return result;
  } finally {
    child.off("disconnect", abort);
  }
}
