import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { call } from "../testing/child-process.ts";
import { root } from "../testing/project.ts";
import { startService } from "../testing/services.ts";
import { openMemoryGroup } from "./memory-group.ts";
import type { Stalls } from "./observer.ts";

/** The memory that `deploy/` gives a process. */
export const memoryMaxMiB = 512;

/** A service as an operator starts it, in a process whose event loop and memory are watched. */
export interface WatchedService extends AsyncDisposable {
  url: string;
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
  const group = isLimited ? openMemoryGroup(memoryMaxMiB) : undefined;
  if (group) opening.use(group);
  const options = { env: settings, options: ["--import", observer], ...(group && { wrap: group.wrap }) };
  const running = opening.use(await startService(service, options));
  const child = running.child();
  const opened = opening.move();
  return {
    url: running.url,
    hasExited: () => !running.isRunning(),
    stalls: () => call<Stalls>(child, "read").catch(() => endless),
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
