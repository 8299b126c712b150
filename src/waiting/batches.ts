import { setImmediate as afterThisTurn } from "node:timers/promises";

/** A request that waits for a batch, until the timer rejects it. */
interface Waiting<Request, Outcome> extends PromiseWithResolvers<Outcome> {
  request: Request;
  timer: NodeJS.Timeout;
}

/** The limits of a batch. */
interface BatchLimits<Request> {
  /** Maximum number of requests in a batch. */
  requests: number;
  /** Maximum size of a batch, the sum of the sizes of its requests. A larger request is a batch of its own. */
  size: number;
  sizeOf(request: Request): number;
  /** After this time in milliseconds a request that waits or runs rejects. It does not run if it has not begun. */
  maxMs: number;
  late: Error;
}

/**
 * Combines requests into batches: one batch runs at a time, and what arrives meanwhile is in the next one. Batches of
 * small requests and large requests take turns, so a small request waits for one large request at most. `run` resolves
 * with one outcome for each request.
 */
export function inBatches<Request, Outcome>(
  run: (requests: Request[]) => Promise<Outcome[]>,
  limits: BatchLimits<Request>,
): (request: Request) => Promise<Outcome> {
  const small = new Set<Waiting<Request, Outcome>>();
  const large = new Set<Waiting<Request, Outcome>>();
  let isRunning = false;
  let isLargeNext = false;

  function nextBatch(): Waiting<Request, Outcome>[] {
    const isLarge = large.size > 0 && (isLargeNext || small.size === 0);
    isLargeNext = !isLarge;
    if (isLarge) return large.values().take(1).toArray();
    const batch: Waiting<Request, Outcome>[] = [];
    let size = 0;
    for (const waiting of small.values().take(limits.requests)) {
      size += limits.sizeOf(waiting.request);
      if (size > limits.size) break;
      batch.push(waiting);
    }
    return batch;
  }

  async function runBatch(batch: Waiting<Request, Outcome>[]): Promise<void> {
    try {
      const outcomes = await run(batch.map(({ request }) => request));
      for (const [index, { resolve }] of batch.entries()) resolve(outcomes[index] as Outcome);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    for (const { timer } of batch) clearTimeout(timer);
  }

  async function runAll(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    // What arrives in the same turn of the event loop is in the same batch.
    await afterThisTurn();
    while (small.size + large.size > 0) {
      const batch = nextBatch();
      for (const one of batch) small.delete(one) || large.delete(one);
      await runBatch(batch);
    }
    isRunning = false;
  }

  return (request) => {
    const queue = limits.sizeOf(request) > limits.size ? large : small;
    const timer = setTimeout(() => {
      queue.delete(waiting);
      waiting.reject(limits.late);
    }, limits.maxMs);
    const waiting: Waiting<Request, Outcome> = { request, timer, ...Promise.withResolvers() };
    queue.add(waiting);
    void runAll();
    return waiting.promise;
  };
}
