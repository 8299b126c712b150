import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { chown, mkdtempDisposable } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { disposing } from "../disposing.ts";
import { freePort } from "../free-port.ts";
import { testWaitMaxMs } from "../test-wait-max.ts";

/** A real server for tests, on loopback. It has its own folder and port until it is disposed of. */
export type TestServer = Awaited<ReturnType<typeof startServer>>;

/** The user that a server runs as. */
export interface User {
  uid: number;
  gid: number;
}

export interface Instance {
  folder: string;
  port: number;
}

/** Describes how to run a kind of server. */
export interface ServerKind {
  name: string;
  /** Default: a free port. */
  port?: number;
  /** Default: the user of this process. */
  user?: User | undefined;
  url(instance: Instance): string;
  /** The server is ready when these respond, too. */
  otherUrls?: string[];
  /** Creates the files that the server needs to start. The folder is empty before. */
  prepare?(instance: Instance): Promise<void>;
  /** The program and its arguments. It stays in the foreground. */
  command(instance: Instance): [program: string, ...args: string[]];
  environment?(instance: Instance): Record<string, string>;
  stopSignal: NodeJS.Signals;
  /** Opens a channel for messages to the program, which runs on Node.js. Default: false. */
  hasChannel?: boolean;
  /** The first bytes that a client sends, as latin1. */
  probeRequest: string;
  /** Bytes that the response contains if the server is ready, as latin1. */
  probeResponse: string;
  /** Pause before the next probe of a server that is not ready. Default: 20 milliseconds. */
  probePauseMs?: number;
  /** Frees resources that the system keeps after the server is killed. */
  clean?(instance: Instance): void;
}

const isLinux = process.platform === "linux";

/** The path of a program in one of the folders or on the PATH. Only on Linux: servers need its /proc. */
export function findProgram(name: string, folders: string[] = []): string | undefined {
  if (!isLinux) return undefined;
  const paths = [...folders, ...(process.env.PATH ?? "").split(delimiter)].map((folder) =>
    join(folder, name),
  );
  return paths.find((path) => existsSync(path));
}

/** The environment of a server's programs. It has no other variables: a server could read them as its settings. */
export const minimalEnvironment = (folder: string) => ({
  PATH: process.env.PATH,
  LANG: "C.UTF-8",
  HOME: folder,
  TMPDIR: tmpdir(),
});

/**
 * Starts a server with a new folder in `parentFolder`. On Linux the server ends when the thread that started it ends, even
 * if that is killed. In that case its folder remains, and so do the children of a paused server.
 */
export async function startServer(kind: ServerKind, parentFolder = tmpdir()) {
  await using opening = new AsyncDisposableStack();
  const { path: folder } = opening.use(await mkdtempDisposable(join(parentFolder, `${kind.name}-`)));
  if (kind.user) await chown(folder, kind.user.uid, kind.user.gid);
  const instance = { folder, port: kind.port ?? (await freePort()) };
  const url = kind.url(instance);
  await kind.prepare?.(instance);

  const urls = [url, ...(kind.otherUrls ?? [])];
  const isReady = async () => (await Promise.all(urls.map((one) => responds(one, kind)))).every(Boolean);

  let server: ChildProcess | undefined;
  let exit: Promise<void> | undefined;
  let startMs = 0;
  const signal = (name: NodeJS.Signals) => {
    if (exit && server?.pid) signalTree(server.pid, name);
  };

  const log = join(folder, "log");
  /** The last lines that the server has printed. */
  const lastOutput = (lines = 100) => readFileSync(log, "utf8").trim().split("\n").slice(-lines).join("\n");

  /** Starts the server with its present data. Resolves when it responds. */
  async function start(): Promise<void> {
    if (exit) throw new Error(`${kind.name} is running`);
    const endsWithThread = isLinux ? ["setpriv", "--pdeathsig", "KILL"] : [];
    const [program = "", ...args] = [...endsWithThread, ...kind.command(instance)];
    const output = openSync(log, "a");
    const startedAt = performance.now();
    server = spawn(program, args, {
      cwd: folder,
      env: { ...minimalEnvironment(folder), ...kind.environment?.(instance) },
      stdio: ["ignore", output, output, ...(kind.hasChannel ? (["ipc"] as const) : [])],
      // A Ctrl-C in the terminal must not reach the server.
      detached: true,
      ...kind.user,
    });
    closeSync(output);
    const ownExit = once(server, "exit")
      .catch(() => {})
      .then(() => {
        exit = undefined;
      });
    exit = ownExit;
    const timeout = AbortSignal.timeout(testWaitMaxMs);
    while (!(await isReady())) {
      if (exit !== ownExit || timeout.aborted) {
        throw new Error(`${kind.name} did not start\n${lastOutput(5)}`);
      }
      await sleep(kind.probePauseMs ?? 20);
    }
    startMs = performance.now() - startedAt;
  }

  async function stop() {
    signal("SIGCONT");
    server?.kill(kind.stopSignal);
    const killTimer = setTimeout(kill, testWaitMaxMs);
    await exit;
    clearTimeout(killTimer);
  }

  /** Kills all processes of the server, like a crash. Until `start`, connections are refused. */
  async function kill(): Promise<void> {
    if (exit && server?.pid) await killTree(server.pid);
    await exit;
  }

  opening.defer(() => kind.clean?.(instance));
  opening.defer(kill);
  await start();
  return disposing(opening, {
    /** It stays the same after a restart. */
    url,
    /** The folder with the data of the server. Its output is in the file `log`. */
    folder,
    lastOutput,
    /** The main process: another one after each start. */
    child: () => server as ChildProcess,
    /** Time from the last start of the main process until it responded. */
    startMs: () => startMs,
    /** False once the main process has exited. */
    isRunning: () => exit !== undefined,
    start,
    kill,
    /** Stops the server with its stop signal and starts it again. */
    async restart() {
      await stop();
      await start();
    },
    /** Suspends all processes of the server, as if the machine hung: it accepts connections and does not respond. */
    pause: () => signal("SIGSTOP"),
    resume: () => signal("SIGCONT"),
  });
}

/** Limit for one probe. A server that is starting can accept a connection and not respond on it; a new one is tried then. */
const probeMaxMs = 5000;
const responds = (url: string, { probeRequest, probeResponse }: ServerKind) =>
  exchangeBytes(url, probeRequest, probeResponse, probeMaxMs).then(
    () => true,
    () => false,
  );

/**
 * Sends bytes (as latin1) to the server at a URL and reads its response until that contains `until`. Resolves with the
 * response. Rejects after `maxMs`, or if the connection ends before.
 */
export async function exchangeBytes(
  url: string,
  request: string,
  until: string,
  maxMs = testWaitMaxMs,
): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), signal: AbortSignal.timeout(maxMs) });
  socket.setEncoding("latin1").write(request, "latin1");
  let response = "";
  for await (const chunk of socket) {
    response += chunk;
    if (response.includes(until)) return response;
  }
  throw new Error(`${url} answered ${JSON.stringify(response)}`);
}

/** Kills a process and its descendants, like a crash. Resolves when all have ended. */
export async function killTree(pid: number): Promise<void> {
  // A suspended process cannot start children while the tree is read.
  const pids = signalTree(pid, "SIGSTOP");
  for (const each of pids) send(each, "SIGKILL");
  while (pids.some(isRunning)) await sleep(5);
}

/** Sends a signal to a process and its descendants, parents first. Returns their ids. */
function signalTree(pid: number, name: NodeJS.Signals): number[] {
  const signalled: number[] = [];
  for (const each of processTree(pid)) {
    send(each, name);
    signalled.push(each);
  }
  return signalled;
}

/** The ids of a process and its descendants, in any process group. Yields a process before it reads its children. */
function* processTree(pid: number): Generator<number> {
  yield pid;
  for (const child of childrenOf(pid)) yield* processTree(child);
}

/** The ids of the children of a process. */
export const childrenOf = (pid: number): number[] =>
  (ifRunning(() => readdirSync(`/proc/${pid}/task`)) ?? []).flatMap((task) => {
    const children = ifRunning(() => readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")) ?? "";
    return children.split(" ").filter(Boolean).map(Number);
  });

/** False if a process has ended. It can be listed as a zombie until its parent, or the system, has reaped it. */
export function isRunning(pid: number): boolean {
  const state = ifRunning(() => readFileSync(`/proc/${pid}/stat`, "utf8"))?.match(/\) (\w)/)?.[1];
  return state !== undefined && state !== "Z" && state !== "X";
}

const send = (pid: number, signal: NodeJS.Signals) => ifRunning(() => process.kill(pid, signal));

/** Returns the result of work on a process, or undefined if the process has ended. */
function ifRunning<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
