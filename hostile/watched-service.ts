import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startProcess } from "../testing/child-process.ts";
import { freePort } from "../testing/free-port.ts";
import { startEnvironment, startOptions } from "../testing/npm-start.ts";
import { root } from "../testing/project.ts";
import { testWaitMaxMs } from "../testing/test-wait-max.ts";
import { openMemoryGroup } from "./memory-group.ts";
import type { Stalls } from "./observer.ts";

/** The memory that `deploy/` gives a process. */
export const memoryMaxMiB = 512;

/** A service as an operator starts it, in a process whose event loop and memory are watched. */
export interface WatchedService extends AsyncDisposable {
  url: string;
  pid: number;
  /** The lines of its log so far. */
  log(): string;
  hasExited(): boolean;
  /** The longest stalls of its event loop since the previous call. */
  stalls(): Promise<Stalls>;
  /** The resident memory, the most it has ever had, and the part of it that are pages of files, in MiB. */
  memory(): { residentMiB: number; peakMiB: number; filesMiB: number };
}

const endless: Stalls = { longestMs: Number.POSITIVE_INFINITY, heldMs: Number.POSITIVE_INFINITY };
const observer = join(root, "hostile/observer.ts");

/** Starts a service in a folder of its own. With `isLimited`, its memory is limited where the system permits it. */
export async function startWatched(
  service: "ledger" | "features",
  settings: Record<string, string>,
  isLimited: boolean,
): Promise<WatchedService> {
  await using opening = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "hostile-"));
  opening.defer(() => rm(folder, { recursive: true }));
  const group = isLimited ? openMemoryGroup(memoryMaxMiB) : undefined;
  if (group) opening.use(group);
  const port = await freePort();
  const program = [...startOptions, "--import", observer, join(root, "src/main.ts"), service];
  const command = [process.execPath, ...program];
  const running = opening.use(
    startProcess(group?.wrap(command) ?? command, {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        ...startEnvironment,
        [`${service.toUpperCase()}_PORT`]: String(port),
        ...settings,
      },
      errors: "inherit",
      ipc: true,
    }),
  );
  const { child, hasExited } = running;
  const timeout = AbortSignal.timeout(testWaitMaxMs);
  while (!running.output().includes("Server listening")) {
    if (hasExited() || timeout.aborted) throw new Error(`the ${service} did not start: ${running.output()}`);
    await sleep(20);
  }
  const opened = opening.move();
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid as number,
    log: running.output,
    hasExited,
    async stalls() {
      child.send("read");
      const exited = running.exit.then(() => [endless]);
      const [stalls] = await Promise.race([once(child, "message"), exited]);
      return stalls;
    },
    memory() {
      const status = existsSync(`/proc/${child.pid}`)
        ? readFileSync(`/proc/${child.pid}/status`, "utf8")
        : "";
      const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
      return { residentMiB: of("VmRSS"), peakMiB: of("VmHWM"), filesMiB: of("RssFile") };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
