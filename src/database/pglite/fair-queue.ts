import { presentOwner } from "../../waiting/turns.ts";

/** A `quick` statement takes a few milliseconds, a `slow` one may take much longer. */
type Kind = "quick" | "slow" | "transaction";

/** The work of one kind of an owner. */
interface Queue {
  waiting: (() => Promise<unknown>)[];
  /** The time that its work has used, in milliseconds, counted from when it was not empty. */
  usedMs: number;
}

/**
 * Returns a function that runs one work at a time. Work of one kind and owner runs in the order of the calls. The kinds and
 * owners share the time of the engine (start-time fair queueing), so that none waits for all work of another.
 */
export function openFairQueue() {
  const queues = new Map<string, Queue>();
  let isRunning = false;
  /** What the queue had used whose work began last. It only grows. */
  let nowMs = 0;

  const next = (): Queue | undefined =>
    [...queues.values()]
      .filter(({ waiting }) => waiting.length > 0)
      .sort((one, other) => one.usedMs - other.usedMs)[0];

  async function runAll(): Promise<void> {
    isRunning = true;
    for (let queue = next(); queue; queue = next()) {
      nowMs = Math.max(nowMs, queue.usedMs);
      const startedAt = performance.now();
      await queue.waiting.shift()?.();
      queue.usedMs += performance.now() - startedAt;
    }
    isRunning = false;
  }

  /** Time in which a queue was empty is not made up for, so one that is behind is not needed. */
  function queueOf(name: string): Queue {
    for (const [other, { waiting, usedMs }] of queues)
      if (waiting.length === 0 && usedMs < nowMs) queues.delete(other);
    const queue = queues.get(name) ?? { waiting: [], usedMs: nowMs };
    queues.set(name, queue);
    return queue;
  }

  return <Result>(kind: Kind, work: () => Promise<Result>): Promise<Result> => {
    const { promise, resolve } = Promise.withResolvers<Result>();
    queueOf(`${kind} ${presentOwner()}`).waiting.push(async () => {
      const done = work();
      resolve(done);
      await done.catch(() => {});
    });
    if (!isRunning) void runAll();
    return promise;
  };
}
