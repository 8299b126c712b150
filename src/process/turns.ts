import { setImmediate } from "node:timers/promises";

/** Milliseconds of work after which others get their turn. */
const turnMaxMs = 10;

/**
 * Divides long work into turns of the event loop. The returned function is awaited between its steps: it lets others run
 * when the work has held the event loop for 10 ms.
 */
export function takeTurns(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < turnMaxMs) return;
    await setImmediate();
    since = performance.now();
  };
}
