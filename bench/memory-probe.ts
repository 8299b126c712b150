import { answer } from "./answer.ts";

/** What a process holds, in MiB, after what it does not need is collected. */
export interface Held {
  /** Of JavaScript, with what its objects keep outside of its heap. */
  objects: number;
  /** Of the machine's memory. */
  resident: number;
}

const MiB = 2 ** 20;

/** What a connection or a timer leaves behind is let go of in turns of the event loop. */
const settleMs = 200;

answer(async (): Promise<Held> => {
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { objects: (heapUsed + external) / MiB, resident: rss / MiB };
});
// It is not what keeps the process running.
process.channel?.unref();
