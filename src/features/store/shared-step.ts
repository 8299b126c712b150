/**
 * Runs a step at most once at a time. Those who ask while it runs share the next run, which begins after they asked.
 */
export function sharedStep<Result>(step: () => Promise<Result>): () => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;
  return () => {
    if (next) return next;
    next = last.then(() => {
      next = undefined;
      return step();
    });
    last = next.catch(() => {});
    return next;
  };
}
