import { writeSync } from "node:fs";
import { isMainThread, workerData } from "node:worker_threads";

// A thread that measures how long the main thread takes to open a store; the main thread blocks meanwhile.
if (!isMainThread) {
  const { isOpen, limitMs, message } = workerData as { isOpen: Int32Array; limitMs: number; message: string };
  if (Atomics.wait(isOpen, 0, 0, limitMs) === "timed-out") {
    writeSync(2, `${message}\n`);
    // `process.exit` would wait for the thread that hangs.
    process.kill(process.pid, "SIGKILL");
  }
}
