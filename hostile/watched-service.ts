import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { call } from "../testing/child-process.ts";
import { disposing } from "../testing/disposing.ts";
import { root } from "../testing/project.ts";
import { startService } from "../testing/services.ts";
import { openMemoryGroup } from "./memory-group.ts";

/** The memory that `deploy/` gives a process. */
export const memoryMaxMiB = 512;

export type WatchedService = Awaited<ReturnType<typeof startWatched>>;

const observer = join(root, "hostile/observer.ts");

/**
 * Starts a service as an operator does, in a folder of its own and in a process whose event loop and memory are watched.
 * With `isLimited`, its memory is limited where the system permits it.
 */
export async function startWatched(
  service: "ledger" | "features",
  settings: Record<string, string>,
  isLimited: boolean,
) {
  await using opening = new AsyncDisposableStack();
  const group = isLimited ? openMemoryGroup(memoryMaxMiB) : undefined;
  if (group) opening.use(group);
  const env = { TRUSTED_PROXIES: "loopback", ...settings };
  const options = { env, options: ["--import", observer], ...(group && { wrap: group.wrap }) };
  const running = opening.use(await startService(service, options));
  const child = running.child();
  /** The resident memory, the most it has ever had, and the part of it that are pages of files, in MiB. */
  function memory() {
    const status = existsSync(`/proc/${child.pid}`) ? readFileSync(`/proc/${child.pid}/status`, "utf8") : "";
    const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
    return { residentMiB: of("VmRSS"), peakMiB: of("VmHWM"), filesMiB: of("RssFile") };
  }
  return disposing(opening, {
    url: running.url,
    hasExited: () => !running.isRunning(),
    /** The longest stall of its event loop since the previous call, in milliseconds; endless once it has exited. */
    longestStall: () => call<number>(child, "read").catch(() => Number.POSITIVE_INFINITY),
    /** Its memory after its start. */
    started: memory(),
    memory,
  });
}
