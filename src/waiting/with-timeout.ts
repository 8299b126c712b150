/**
 * Resolves or rejects like `work`, but rejects with `error` if `work` takes longer than `limitMs` milliseconds, also if
 * this thread was too busy to notice in time.
 */
export function withTimeout<Result>(work: Promise<Result>, limitMs: number, error: Error): Promise<Result> {
  const start = performance.now();
  // Small requests pay for this. `Promise.race` would make three more promises.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(reject, limitMs, error);
    work.then(
      (result) => {
        clearTimeout(timer);
        if (performance.now() - start > limitMs) reject(error);
        else resolve(result);
      },
      (reason) => {
        clearTimeout(timer);
        reject(reason);
      },
    );
  });
}
