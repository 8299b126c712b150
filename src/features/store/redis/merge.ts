import { letOthersRun } from "../../../waiting/turns.ts";
import { parts } from "./keys.ts";
import type { Command, PartCommand, Servers } from "./servers.ts";

/** Reads the sorted items of a part, some at a time. */
export interface Reader<Item> {
  readonly part: number;
  /** The items that have been read and not taken, in order. */
  unread: Item[];
  /** True if the next items can no longer be read. */
  readonly isCut?: boolean;
  /** The commands that read on; none if all has been read. */
  commands(): Command[];
  /** Takes their replies. All of the items may have expired, so that none is unread. */
  // biome-ignore lint/suspicious/noExplicitAny: the type of a reply depends on the command.
  take(replies: any[]): void;
}

/** Replies that are longer would hold the event loop while they are decoded. */
const shareMax = 50;
/** Number of items to read from each part at once, so that for a short page one round is usually enough. */
export const shareOf = (limit: number) => Math.min(Math.ceil((3 * limit) / parts.length), shareMax);

/** The items of all readers in order, each with its reader, in batches. They end early if a reader is cut. */
export async function* merged<Item, Source extends Reader<Item>>(
  servers: Servers,
  readers: Source[],
  compare: (one: Item, other: Item) => number,
): AsyncGenerator<[item: Item, reader: Source][], void, void> {
  /** Of equal items, that of the first part is first, so that every reader of the parts gets the same order. */
  const byFirst = (one: Source, other: Source) =>
    compare(one.unread[0] as Item, other.unread[0] as Item) || one.part - other.part;
  for (;;) {
    await fill(servers, readers);
    const waiting = readers.filter(({ unread }) => unread.length > 0).sort(byFirst);
    if (waiting.length === 0 || readers.some(({ isCut }) => isCut)) return;
    const batch: [Item, Source][] = [];
    // The first of all is next, as long as the first of each part is known.
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      batch.push([next.unread.shift() as Item, next]);
      if (next.unread.length === 0) break;
      insert(waiting, next, byFirst);
    }
    yield batch;
    await letOthersRun();
  }
}

/** Reads on in each part without an unread item, up to one or the end. */
async function fill(servers: Servers, readers: Reader<unknown>[]): Promise<void> {
  for (;;) {
    const reads = readers
      .filter(({ unread }) => unread.length === 0)
      .map((reader) => ({ reader, commands: reader.commands() }))
      .filter(({ commands }) => commands.length > 0);
    if (reads.length === 0) return;
    const replies = await servers.sendAll(
      reads.flatMap(({ reader, commands }) => commands.map((command): PartCommand => [reader.part, command])),
    );
    for (const { reader, commands } of reads) {
      reader.take(replies.splice(0, commands.length));
      // Many requests can get long replies at the same time.
      await letOthersRun();
    }
  }
}

/** Inserts an item in its place in a sorted list. */
function insert<Item>(sorted: Item[], item: Item, compare: (one: Item, other: Item) => number): void {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compare(sorted[middle] as Item, item) < 0) from = middle + 1;
    else to = middle;
  }
  sorted.splice(from, 0, item);
}
