/** Resolves when the signal aborts. */
export const untilStopped = (stop: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener("abort", () => resolve(), { once: true });
  });

/** npm passes on the Ctrl-C that the terminal has sent to every process already; that is not a second one. */
const sameSignalMs = 1000;

/**
 * A signal that aborts at the first SIGINT or SIGTERM of this process. A later one ends the process at once, as it would
 * have without us.
 */
export function stopOnSignals(): AbortController {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    const hear = () => {
      stop.abort();
      setTimeout(() => process.removeListener(name, hear), sameSignalMs).unref();
    };
    process.on(name, hear);
  }
  return stop;
}
