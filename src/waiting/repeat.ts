import { setTimeout as sleep } from "node:timers/promises";

/**
 * Repeats work until it is disposed, which waits for a run that is under way. A run resolves with the delay until the next
 * one, in milliseconds. It must not reject: it logs its own errors. `stop` aborts when the run is to end.
 * Unless `keepsProcess`, the wait for the next run does not keep the process alive.
 */
export function repeat(work: (stop: AbortSignal) => Promise<number>, { keepsProcess = true } = {}) {
  const stop = new AbortController();
  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      const delayMs = await work(stop.signal);
      await sleep(delayMs, undefined, { signal: stop.signal, ref: keepsProcess }).catch(() => {});
    }
  }
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
