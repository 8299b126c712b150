/**
 * The same, but it rejects with `late` when it has not settled within so many milliseconds, also when it then settles
 * late because this thread was busy.
 */
export async function inTime<Result>(work: Promise<Result>, limitMs: number, late: Error): Promise<Result> {
  const begun = performance.now();
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(reject, limitMs, late);
  try {
    const result = await Promise.race([work, tooLate]);
    if (performance.now() - begun > limitMs) throw late;
    return result;
  } finally {
    clearTimeout(timer);
  }
}
