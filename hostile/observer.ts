import { readdirSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { handleCalls } from "../bench/handle-calls.ts";
import { stolenBetween, stolenMs, waitedMs } from "./machine.ts";

// Loaded into a service before its program (node --import). The service itself does not know it.

const sampleMs = 2;
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();

/** The helpers are read less often, as there are ten of them. */
const samplesPerHelpers = 10;

/** The time for which each other thread of the process has waited for a processor. */
const helpersWaited = () =>
  readdirSync("/proc/self/task")
    .filter((thread) => thread !== String(process.pid))
    .map(waitedMs);

/**
 * The longest stall without the time for which the thread, or another one of the process, on whose part of a garbage
 * collection it waits, waited for a processor, or the processor for the host of the virtual machine, since other programs
 * use the machine and its host, too.
 */
let heldMs = 0;
const read = () => ({ at: performance.now(), waited: waitedMs(process.pid), stolen: stolenMs() });
let last = read();
let helpers = helpersWaited();
let samples = 0;
setInterval(() => {
  const now = read();
  samples += 1;
  let lostMs = now.waited - last.waited + stolenBetween(last.stolen, now.stolen);
  const isLong = now.at - last.at - lostMs > heldMs;
  if (isLong || samples % samplesPerHelpers === 0) {
    const helpersNow = helpersWaited();
    // Threads have waited as the processors of a host have: the one that lost most counts.
    if (isLong) lostMs += stolenBetween(helpers, helpersNow);
    helpers = helpersNow;
  }
  heldMs = Math.max(heldMs, now.at - last.at - lostMs);
  last = now;
}, sampleMs).unref();

/** The longest stall since the previous call, in milliseconds: at most that in the histogram of Node.js. */
handleCalls(async () => {
  const longestMs = Math.min(heldMs, delays.max / 1e6);
  delays.reset();
  heldMs = 0;
  return longestMs;
});
// The channel must not keep the process running.
process.channel?.unref();
