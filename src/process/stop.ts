import { once } from "node:events";

/** Resolves when the signal aborts. */
export async function untilStopped(stop: AbortSignal): Promise<void> {
  if (!stop.aborted) await once(stop, "abort");
}

/** npm forwards a Ctrl-C that the terminal has already sent to every process; within this time it is not a second one. */
const sameSignalMs = 1000;

/**
 * Aborts at the first SIGINT or SIGTERM of this process. A later one has its default effect and ends the process.
 */
export function stopOnSignals(): AbortController {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    const listener = () => {
      stop.abort();
      setTimeout(() => process.removeListener(name, listener), sameSignalMs).unref();
    };
    process.on(name, listener);
  }
  return stop;
}
