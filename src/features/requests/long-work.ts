import { overloaded } from "../../http/http-error.ts";
import { openLane } from "../../waiting/lane.ts";
import type { Owner } from "../../waiting/owner.ts";

/** Runs work of a caller on this number of features, records or entries. Much of it takes turns with that of others. */
export type LongWork = <Result>(owner: Owner, size: number, work: () => Promise<Result>) => Promise<Result>;

/** The size of work of which a few records are wanted, but many may be read. */
export const unknownSize = Number.POSITIVE_INFINITY;

/** The size of work on the state at `as_of`. Of the past, many records may be read for each item. */
export const sizeAt = (as_of: string | undefined, items = 1) => (as_of === undefined ? items : unknownSize);

/** Work on up to so many does not wait. */
const quickMax = 100;

export function openLongWork(): LongWork {
  const lane = openLane({
    // Of them a caller has two.
    runningMax: 6,
    waitingMax: 100,
    limitMs: 30_000,
    busy: overloaded("too many long requests are in flight; try again later"),
  });
  return (owner, size, work) => (size > quickMax ? lane.run(owner, work) : work());
}
