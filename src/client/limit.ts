/** `setTimeout` fires at once beyond this. */
export const timerMaxMs = 2 ** 31 - 1;

/** The end of a call: its timeout, if it is not infinite, and the signal of its caller, whichever comes first. */
export type Limit = ReturnType<typeof openLimit>;

/**
 * Opens a limit. After the timeout the signal has a `TimeoutError` with the message of that time. `AbortSignal.any` would
 * require browsers of 2024.
 */
export function openLimit(timeoutMs: number, signal: AbortSignal | undefined, message: () => string) {
  const controller = new AbortController();
  const deadline = performance.now() + timeoutMs;
  const expire = () => controller.abort(new DOMException(message(), "TimeoutError"));
  const isLimited = timeoutMs !== Number.POSITIVE_INFINITY;
  const timer = isLimited ? setTimeout(expire, Math.min(timeoutMs, timerMaxMs)) : undefined;
  const cancel = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();
  return {
    signal: controller.signal,
    abort: (reason: unknown) => controller.abort(reason),
    /** Milliseconds until the timeout, which can be infinite. */
    remainingMs: () => deadline - performance.now(),
    /** Must be called after the call, or the timer keeps the process running. */
    release() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    },
  };
}

/** Resolves with the value, or rejects with the reason of the signal when it aborts. */
export function within<Value>(signal: AbortSignal, value: Value | Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    Promise.resolve(value)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Resolves after a time, or rejects with the reason of the signal when it aborts. */
export function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout>;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, delayMs);
  });
  return within(signal, elapsed).finally(() => clearTimeout(timer));
}
