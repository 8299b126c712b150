/** Concurrent calls share one run of the work: anyone may call it, and it may take long. */
export function shared<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () =>
    (running ??= work().finally(() => {
      running = undefined;
    }));
}
