import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { handleCalls } from "../bench/handle-calls.ts";
import { stolenBetween, stolenMs } from "./machine.ts";

// Loaded into a service before its program (node --import). The service itself does not know it.

/** The longest stalls of the event loop, in milliseconds. */
export interface Stalls {
  /** By the histogram of Node.js. */
  longestMs: number;
  /**
   * Without the time for which the thread waited for a processor, or the processor for the host of the virtual machine,
   * since other programs use the machine and its host, too.
   */
  heldMs: number;
}

const sampleMs = 2;
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();

/** The time for which the main thread has waited for a processor, in milliseconds; 0 where the system does not count it. */
function waitedMs(): number {
  try {
    const [, nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
    return Number(nanoseconds) / 1e6;
  } catch {
    return 0;
  }
}

let heldMs = 0;
const read = () => ({ at: performance.now(), waited: waitedMs(), stolen: stolenMs() });
let last = read();
setInterval(() => {
  const now = read();
  const lostMs = now.waited - last.waited + stolenBetween(last.stolen, now.stolen);
  heldMs = Math.max(heldMs, now.at - last.at - lostMs);
  last = now;
}, sampleMs).unref();

/** The stalls since the previous call. */
handleCalls(async (): Promise<Stalls> => {
  const longestMs = delays.max / 1e6;
  const stalls = { longestMs, heldMs: Math.min(heldMs, longestMs) };
  delays.reset();
  heldMs = 0;
  return stalls;
});
// The channel must not keep the process running.
process.channel?.unref();
