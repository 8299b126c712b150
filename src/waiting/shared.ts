/** Concurrent calls share the running work: anyone may call it, and it may take long. */
export function shared<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () =>
    (running ??= work().finally(() => {
      running = undefined;
    }));
}

/** Runs the work once at a time. Calls during a run share the next run, which begins after them. */
export function sharedNext<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<Result> | undefined;
  return () => {
    if (next) return next;
    next = last.then(() => {
      next = undefined;
      return work();
    });
    last = next.catch(() => {});
    return next;
  };
}
