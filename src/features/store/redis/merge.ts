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
  /** True if all has been read. */
  readonly isComplete: boolean;
  /** The commands that read on. */
  commands(): Command[];
  /** Takes their replies. All of the items may have expired, so that none is unread. */
  // biome-ignore lint/suspicious/noExplicitAny: the type of a reply depends on the command.
  take(replies: any[]): void;
}

/** Replies that are longer would hold the event loop while they are decoded. */
const shareMax = 50;
/** Number of items to read from each part at once, so that for a short page one round is usually enough. */
export const shareOf = (limit: number) => Math.min(Math.ceil((3 * limit) / parts.length), shareMax);

/**
 * The items of all readers in order, each with its reader, in batches. Of equal items, that of the first part is first, so
 * that every reader of the parts gets the same order. They end early if a reader is cut.
 */
export async function* merged<Item, Source extends Reader<Item>>(
  servers: Servers,
  readers: Source[],
  compare: (one: Item, other: Item) => number,
): AsyncGenerator<[item: Item, reader: Source][], void, void> {
  type Read = [item: Item, reader: Source];
  const inOrder = ([one, { part }]: Read, [other, { part: otherPart }]: Read) =>
    compare(one, other) || part - otherPart;
  for (;;) {
    await fill(servers, readers);
    const known: Read[] = [];
    /** The next items of a part that has more are not known, so what is after its last item waits. */
    let end: Read | undefined;
    for (const reader of readers) {
      if (reader.isCut) return;
      const unread = reader.unread.map((item): Read => [item, reader]);
      known.push(...unread);
      const last = reader.isComplete ? undefined : unread.at(-1);
      if (last && (!end || inOrder(last, end) < 0)) end = last;
      reader.unread = [];
    }
    if (known.length === 0) return;
    known.sort(inOrder);
    const waiting = end ? known.splice(known.indexOf(end) + 1) : [];
    for (const [item, reader] of waiting) reader.unread.push(item);
    yield known;
    await letOthersRun();
  }
}

/** Reads on in each part without an unread item, up to one or the end. */
async function fill(servers: Servers, readers: Reader<unknown>[]): Promise<void> {
  for (;;) {
    const reads = readers
      .filter(({ unread, isComplete }) => unread.length === 0 && !isComplete)
      .map((reader) => ({ reader, commands: reader.commands() }));
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
