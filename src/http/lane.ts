import { withTimeout } from "../process/with-timeout.ts";
import { unavailable } from "./http-error.ts";

/** A queue in front of a limited number of places. */
export interface Lane {
  /** Runs work when a place is free. Rejects with a 503 if too much work waits. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  isIdle(): boolean;
}

export interface LaneLimits {
  runningMax: number;
  waitingMax: number;
  /** How long work waits, in milliseconds, and then rejects with `timeout`. */
  limitMs: number;
  timeout: Error;
  /** The message if too much work waits. */
  busy: string;
}

/** Opens a lane, which runs up to `runningMax` pieces of work at the same time, the others in the order of their arrival. */
export function openLane({ runningMax, waitingMax, limitMs, timeout, busy }: LaneLimits): Lane {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function enter(): Promise<void> {
    if (running < runningMax) {
      running += 1;
      return;
    }
    if (waiting.length >= waitingMax) throw unavailable(`${busy}; try again later`);
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    await withTimeout(promise, limitMs, timeout).catch((error) => {
      const place = waiting.indexOf(resolve);
      // Its turn may have come too late, while this thread was busy: then the next one gets it.
      if (place === -1) leave();
      else waiting.splice(place, 1);
      throw error;
    });
  }

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }

  return {
    async run(work) {
      await enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
    isIdle: () => running === 0,
  };
}
