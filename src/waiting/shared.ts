/** Concurrent calls share the running work: anyone may call it, and it may take long. */
export function shared<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () =>
    (running ??= work().finally(() => {
      running = undefined;
    }));
}

/** `sharedNext` for each key. Remembers only keys with calls in flight. */
export function sharedNextOf<Result>(
  work: (key: string) => Promise<Result>,
): (key: string) => Promise<Result> {
  const inFlight = new Map<string, { run: () => Promise<Result>; calls: number }>();
  return async (key) => {
    const entry = inFlight.get(key) ?? { run: sharedNext(() => work(key)), calls: 0 };
    inFlight.set(key, entry);
    entry.calls++;
    try {
      return await entry.run();
    } finally {
      entry.calls--;
      if (entry.calls === 0) inFlight.delete(key);
    }
  };
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
