/** How often those who wait look for messages of other processes, and for those that become visible. */
const everyMs = 50;

export type Waits = ReturnType<typeof openWaits>;

/** Receivers that wait for messages. */
export function openWaits(mayReceive: () => boolean) {
  const waiting = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  function look(): void {
    try {
      if (mayReceive()) wake(waiting.size);
    } catch {
      // Another process has the file; the next look may succeed.
    }
  }
  /** Wakes so many, those first that have waited longest. */
  function wake(count: number): void {
    for (const resolve of [...waiting].slice(0, count)) resolve();
  }
  return {
    wake,
    /** Resolves after this time, or earlier if there may be a message or the signal aborts. */
    wait: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        function end() {
          waiting.delete(end);
          clearTimeout(timeout);
          signal.removeEventListener("abort", end);
          if (waiting.size === 0) {
            clearInterval(timer);
            timer = undefined;
          }
          resolve();
        }
        const timeout = setTimeout(end, ms);
        if (signal.aborted) return end();
        signal.addEventListener("abort", end);
        waiting.add(end);
        timer ??= setInterval(look, everyMs);
      }),
  };
}
