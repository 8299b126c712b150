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

/** The items of all readers in order, each with its reader. They end early if a reader is cut. */
export async function* merged<Item, Source extends Reader<Item>>(
  readers: Source[],
  isBefore: (one: Item, other: Item) => boolean,
): AsyncGenerator<[item: Item, reader: Source], void, void> {
  const firstOf = ({ unread }: Reader<Item>) => unread[0] as Item;
  for (;;) {
    await Promise.all(readers.map((reader) => reader.fill()));
    const waiting = readers.filter(({ unread }) => unread.length > 0);
    if (waiting.length === 0 || readers.some(({ isCut }) => isCut)) return;
    // The first of all is next, as long as the first of each part is known.
    while (waiting.every(({ unread }) => unread.length > 0)) {
      await letOthersRun();
      const next = waiting.reduce((one, other) => (isBefore(firstOf(other), firstOf(one)) ? other : one));
      yield [next.unread.shift() as Item, next];
    }
  }
}
