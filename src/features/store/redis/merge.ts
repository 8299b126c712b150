import { letOthersRun } from "../../../waiting/turns.ts";
import { parts } from "./keys.ts";

/** Reads the sorted items of a part, some at a time. */
export interface Reader<Item> {
  /** The items that have been read and not taken, in order. */
  unread: Item[];
  /** True if the next items can no longer be read. */
  isCut?: boolean;
  /** Reads on if no item is left. */
  fill(): Promise<void>;
}

/** Replies that are longer would hold the event loop while they are decoded. */
const shareMax = 50;
/** Number of items to read from each part at once, so that for a short page one round is usually enough. */
export const shareOf = (limit: number) => Math.min(Math.ceil((3 * limit) / parts.length), shareMax);

/** The items of all readers in order, each with its reader, in batches. They end early if a reader is cut. */
export async function* merged<Item, Source extends Reader<Item>>(
  readers: Source[],
  compare: (one: Item, other: Item) => number,
): AsyncGenerator<[item: Item, reader: Source][], void, void> {
  const firstOf = ({ unread }: Reader<Item>) => unread[0] as Item;
  for (;;) {
    await Promise.all(readers.map((reader) => reader.fill()));
    const waiting = readers
      .filter(({ unread }) => unread.length > 0)
      .sort((one, other) => compare(firstOf(one), firstOf(other)));
    if (waiting.length === 0 || readers.some(({ isCut }) => isCut)) return;
    const batch: [Item, Source][] = [];
    // The first of all is next, as long as the first of each part is known.
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      batch.push([next.unread.shift() as Item, next]);
      if (next.unread.length === 0) break;
      insert(waiting, next, (other) => compare(firstOf(other), firstOf(next)) < 0);
    }
    yield batch;
    await letOthersRun();
  }
}

/** Inserts an item after those that are before it in a sorted list. */
function insert<Item>(sorted: Item[], item: Item, isBefore: (other: Item) => boolean): void {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isBefore(sorted[middle] as Item)) from = middle + 1;
    else to = middle;
  }
  sorted.splice(from, 0, item);
}
