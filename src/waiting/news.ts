import { EventEmitter } from "node:events";
import { clearTimeout, setTimeout } from "node:timers";

/** Tells those who look for something new from time to time that there may be some. */
export type News = EventEmitter<{ news: [] }>;

export const openNews = (): News => new EventEmitter<{ news: [] }>().setMaxListeners(0);

/** Milliseconds between two looks, however often there are news: a look costs a request to a database. */
const afterNewsMs = 5;
/** The same while there is other work, which each look interrupts. */
const afterNewsBesideWorkMs = 20;

/**
 * When it is time to look again, on the clock of `lastAt`, after this number of looks since the last news. What the news are
 * about can become visible later, so looks go on at growing distances, up to `everyMs`.
 */
export const nextLookAt = (
  lastAt: number,
  everyMs: number,
  looksSinceNews: number,
  hasWork = false,
): number => {
  const shortestMs = hasWork ? afterNewsBesideWorkMs : afterNewsMs;
  return lastAt + Math.min(shortestMs * 2 ** looksSinceNews, everyMs);
};

/** The times of the looks of a loop that runs as long as the process. See `nextLookAt`. */
export function openLooks(everyMs: number, news?: News) {
  let lastAt = Number.NEGATIVE_INFINITY;
  let looksSinceNews = Number.POSITIVE_INFINITY;
  let isLooking = false;
  let endPause = () => {};
  news?.on("news", () => {
    looksSinceNews = 0;
    endPause();
  });
  const untilNext = (hasWork = false) =>
    isLooking ? everyMs : nextLookAt(lastAt, everyMs, looksSinceNews, hasWork) - performance.now();
  return {
    isDue: (hasWork?: boolean) => untilNext(hasWork) <= 0,
    /** Time passes between two looks, however long they take. The end of one ends a pause. */
    async look<Result>(work: () => Promise<Result>): Promise<Result> {
      looksSinceNews += 1;
      isLooking = true;
      return await work().finally(() => {
        lastAt = performance.now();
        isLooking = false;
        endPause();
      });
    },
    /** Waits for the next look, or the end of one; may end earlier. */
    async pause(): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      endPause = resolve;
      const timer = setTimeout(resolve, Math.max(0, untilNext()));
      await promise;
      clearTimeout(timer);
    },
    /** Ends a pause. */
    wake: () => endPause(),
  };
}
