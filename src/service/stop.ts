/** Resolves when the signal aborts. */
export const untilStopped = (stop: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (stop.aborted) resolve();
    else stop.addEventListener("abort", () => resolve(), { once: true });
  });

/**
 * A signal that aborts at the first SIGINT or SIGTERM of this process. A second one ends the process at once, as it
 * would have without us.
 */
export function stopOnSignals(): AbortController {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
  return stop;
}
