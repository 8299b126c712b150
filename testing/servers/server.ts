import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../free-port.ts";
import { patienceMs } from "../patience.ts";

/** A real server for tests, on loopback, with a scratch folder and a port that are its own until it is disposed of. */
export interface TestServer extends AsyncDisposable {
  /** Where it listens: the same whatever is done to it. */
  url: string;
  /** What it has written down, and its output in the file `log`. */
  folder: string;
  /** False once it has ended, by itself or not. */
  isRunning(): boolean;
  /** Stops it as it likes to be stopped, and starts it. */
  restart(): Promise<void>;
  /** Ends its processes at once, as a crash does. Connections are refused until it is started. */
  kill(): Promise<void>;
  /** Starts it with the data that it has; resolves when it answers. */
  start(): Promise<void>;
  /** Keeps its processes from running, as a hanging machine does: it can be connected to and does not answer. */
  pause(): void;
  resume(): void;
}

/** Whom a server runs as. */
export interface Account {
  uid: number;
  gid: number;
}

export interface Place {
  folder: string;
  port: number;
}

/** How one kind of server is run. */
export interface ServerKind {
  name: string;
  /** When it is not oneself. */
  account?: Account | undefined;
  url(place: Place): string;
  /** Makes in the empty folder what the server needs before it can start. */
  prepare?(place: Place): Promise<void>;
  /** The program and its arguments. It stays in the foreground. */
  command(place: Place): [program: string, ...args: string[]];
  environment?(place: Place): Record<string, string>;
  stopSignal: NodeJS.Signals;
  /** What a client says first, and what it hears, as bytes, from a server that is ready. */
  hello: string;
  welcome: string;
  /** Takes back what the system keeps for a killed server. */
  clean?(place: Place): void;
}

/** Where a program is, in one of the folders or on the PATH; nowhere but on Linux, whose /proc and setpriv are needed. */
export function findProgram(name: string, folders: string[] = []): string | undefined {
  if (process.platform !== "linux") return undefined;
  const paths = [...folders, ...(process.env.PATH ?? "").split(delimiter)].map((folder) =>
    join(folder, name),
  );
  return paths.find((path) => existsSync(path));
}

/** What the programs of a server see of the environment: settings of whoever runs the tests could be taken for theirs. */
export const plainEnvironment = (folder: string) => ({
  PATH: process.env.PATH,
  LANG: "C.UTF-8",
  HOME: folder,
  TMPDIR: tmpdir(),
});

/**
 * Starts a server, whose folder is made within another. It ends with the thread that started it, even one that is
 * killed, although its folder then stays, and so do the children of a server that was paused.
 */
export async function startServer(kind: ServerKind, within = tmpdir()): Promise<TestServer> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(within, `${kind.name}-`));
  opening.defer(() => rm(folder, { recursive: true }));
  if (kind.account) await chown(folder, kind.account.uid, kind.account.gid);
  const place = { folder, port: await freePort() };
  const url = kind.url(place);
  await kind.prepare?.(place);

  let server: ChildProcess | undefined;
  let ended: Promise<void> | undefined;
  /** Sends a signal to all processes of the server, parents first; tells which. */
  const signal = (name: NodeJS.Signals) => {
    const members: number[] = [];
    for (const pid of ended && server?.pid ? familyOf(server.pid) : []) {
      send(pid, name);
      members.push(pid);
    }
    return members;
  };

  async function start() {
    if (ended) throw new Error(`${kind.name} is running`);
    const [program, ...args] = kind.command(place);
    const log = join(folder, "log");
    const output = openSync(log, "a");
    server = spawn("setpriv", ["--pdeathsig", "KILL", program, ...args], {
      cwd: folder,
      env: { ...plainEnvironment(folder), ...kind.environment?.(place) },
      stdio: ["ignore", output, output],
      // The Ctrl-C of a terminal is not meant for it.
      detached: true,
      ...kind.account,
    });
    closeSync(output);
    const ending = once(server, "exit")
      .catch(() => {})
      .then(() => {
        ended = undefined;
      });
    ended = ending;
    const late = AbortSignal.timeout(patienceMs);
    while (!(await answers(url, kind))) {
      if (ended !== ending || late.aborted) {
        const said = readFileSync(log, "utf8").trim().split("\n").slice(-5);
        throw new Error([`${kind.name} did not start`, ...said].join("\n"));
      }
      await sleep(20);
    }
  }

  async function stop() {
    signal("SIGCONT");
    server?.kill(kind.stopSignal);
    const late = setTimeout(kill, patienceMs);
    await ended;
    clearTimeout(late);
  }

  async function kill() {
    // What is stopped starts no further process while the family is being looked for.
    const members = signal("SIGSTOP");
    for (const pid of members) send(pid, "SIGKILL");
    await ended;
    while (members.some(isRunning)) await sleep(5);
  }

  opening.defer(() => kind.clean?.(place));
  opening.defer(kill);
  await start();
  const opened = opening.move();
  return {
    url,
    folder,
    isRunning: () => ended !== undefined,
    start,
    kill,
    async restart() {
      await stop();
      await start();
    },
    pause: () => void signal("SIGSTOP"),
    resume: () => void signal("SIGCONT"),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** A server that is starting can keep a connection without an answer; then another one is tried. */
const answerMaxMs = 5000;
const answers = (url: string, { hello, welcome }: ServerKind) =>
  converse(url, hello, welcome, answerMaxMs).then(
    () => true,
    () => false,
  );

/**
 * Says bytes (as latin1) to whoever listens at a URL, and resolves with what is answered once these words are in it.
 * Rejects when they do not come in time.
 */
export async function converse(
  url: string,
  words: string,
  until: string,
  maxMs = patienceMs,
): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), signal: AbortSignal.timeout(maxMs) });
  socket.setEncoding("latin1").write(words, "latin1");
  let heard = "";
  for await (const chunk of socket) {
    heard += chunk;
    if (heard.includes(until)) return heard;
  }
  throw new Error(`${url} answered ${JSON.stringify(heard)}`);
}

/**
 * A process and all that descend from it, in whatever process group; each is handed out before its children are looked
 * for.
 */
function* familyOf(pid: number): Generator<number> {
  yield pid;
  for (const task of ifStillThere(() => readdirSync(`/proc/${pid}/task`)) ?? []) {
    const children = ifStillThere(() => readFileSync(`/proc/${pid}/task/${task}/children`, "utf8")) ?? "";
    for (const child of children.split(" ").filter(Boolean)) yield* familyOf(Number(child));
  }
}

/** Whether a process has not ended. One that has may stay in the list until its parent, or the system, has noticed. */
function isRunning(pid: number): boolean {
  const state = ifStillThere(() => readFileSync(`/proc/${pid}/stat`, "utf8"))?.match(/\) (\w)/)?.[1];
  return state !== undefined && state !== "Z" && state !== "X";
}

const send = (pid: number, signal: NodeJS.Signals) => ifStillThere(() => process.kill(pid, signal));

/** What a process is asked for, unless it has ended. */
function ifStillThere<Result>(ask: () => Result): Result | undefined {
  try {
    return ask();
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
