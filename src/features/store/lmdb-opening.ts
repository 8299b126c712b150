import { writeSync } from "node:fs";
import { isMainThread, workerData } from "node:worker_threads";

// A thread beside the one that opens a store, which cannot look at the clock while it waits.
if (!isMainThread) {
  const { isOpen, limitMs, words } = workerData as { isOpen: Int32Array; limitMs: number; words: string };
  if (Atomics.wait(isOpen, 0, 0, limitMs) === "timed-out") {
    writeSync(2, `${words}\n`);
    // No other end is sure: one by `process.exit` waits for the thread that hangs.
    process.kill(process.pid, "SIGKILL");
  }
}
