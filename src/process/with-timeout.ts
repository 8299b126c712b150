/**
 * Resolves or rejects like `work`, but rejects with `error` if `work` takes longer than `limitMs` milliseconds, also if
 * this thread was too busy to notice in time.
 */
export async function withTimeout<Result>(
  work: Promise<Result>,
  limitMs: number,
  error: Error,
): Promise<Result> {
  const start = performance.now();
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(reject, limitMs, error);
  try {
    const result = await Promise.race([work, timeout]);
    if (performance.now() - start > limitMs) throw error;
    return result;
  } finally {
    clearTimeout(timer);
  }
}
