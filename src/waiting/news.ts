import { EventEmitter } from "node:events";
import { clearTimeout, setTimeout } from "node:timers";

/** Tells those who look for something new from time to time that there may be some. */
export type News = EventEmitter<{ news: [] }>;

export const openNews = (): News => new EventEmitter<{ news: [] }>().setMaxListeners(0);

/** Milliseconds between two looks, however often there are news: a look costs a request to a database. */
const afterNewsMs = 20;

/** When it is time to look again, on the clock of `lastAt`: `everyMs` after the last look, and earlier if there were news since. */
export const nextLookAt = (lastAt: number, everyMs: number, hasNews: boolean): number =>
  lastAt + (hasNews ? Math.min(afterNewsMs, everyMs) : everyMs);

/** The times of the looks of a loop that runs as long as the process. See `nextLookAt`. */
export function openLooks(everyMs: number, news?: News) {
  let lastAt = Number.NEGATIVE_INFINITY;
  /** There were news since the last look began. */
  let hasNews = false;
  let endPause = () => {};
  news?.on("news", () => {
    hasNews = true;
    endPause();
  });
  const untilNext = () => nextLookAt(lastAt, everyMs, hasNews) - performance.now();
  return {
    isDue: () => untilNext() <= 0,
    /** Time passes between two looks, however long they take. */
    async look<Result>(work: () => Promise<Result>): Promise<Result> {
      hasNews = false;
      return await work().finally(() => {
        lastAt = performance.now();
      });
    },
    /** Waits for the next look; may end earlier. */
    async pause(): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      endPause = resolve;
      const timer = setTimeout(resolve, untilNext());
      await promise;
      clearTimeout(timer);
    },
    /** Ends a pause. */
    wake: () => endPause(),
  };
}
