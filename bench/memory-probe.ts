import { handleCalls } from "./handle-calls.ts";

/** The memory of a process after a garbage collection, in MiB. */
export interface MemoryUse {
  /** The JavaScript heap, and the memory outside of the heap that its objects own. */
  objects: number;
  /** The resident memory of the process. */
  resident: number;
}

const MiB = 2 ** 20;

/** Connections and timers release their memory in later turns of the event loop. */
const settleMs = 200;

handleCalls(async (): Promise<MemoryUse> => {
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { objects: (heapUsed + external) / MiB, resident: rss / MiB };
});
// The channel must not keep the process running.
process.channel?.unref();
