import { type Writer, writer } from "../../values/json-writer.ts";
import { type News, openLooks } from "../../waiting/news.ts";
import type { Owner } from "../../waiting/owner.ts";
import { inTurnsOf } from "../../waiting/turns.ts";
import { openTurnsOfOwners } from "../../waiting/turns-of-owners.ts";
import {
  comment,
  deliverInTurns,
  lookEveryMs,
  nextChunk,
  ownerOfStreams,
  type Waiter,
} from "./event-stream.ts";

/** A cursor; undefined is before the oldest record. */
export type Cursor = string | undefined;

/** A part of a stream, and the cursor after it. */
export interface Chunk {
  /** The bytes are shared by all streams that send them. */
  text: Buffer;
  cursor: Cursor;
}

/** A feed of records in one order, of which each stream sends those that match its filter. */
export interface Feed<Filter> {
  /** The cursor of the newest record. */
  newest(): Promise<Cursor>;
  /**
   * The next records after a cursor, up to that of `newest`. Without text none of those that were read matches; the cursor
   * is the same if there are no more. Undefined if records after the cursor have been deleted.
   */
  read(filter: Filter, after: Cursor, newest: Cursor): Promise<{ text?: Buffer; cursor: Cursor } | undefined>;
  /** A cursor as clients get it. */
  cursorAt(cursor: string): string;
  /** Default: changes are found at the next look. */
  news?: News | undefined;
  /** True for an error after which streams stay open, since a later attempt may succeed. */
  isOutage(error: unknown): boolean;
}

/** The length of text after which a chunk has no more records. */
export const chunkLength = 65_536;

/** Writes a record as an event of a stream. */
export const streamEventWriter = <Source extends { cursor: string }>(write: Writer<Source, unknown>) =>
  writer<Source, string>((source, out) => {
    out.ascii(`id: ${source.cursor}\ndata: `);
    write(source, out);
    out.ascii("\n\n");
    return true;
  });

/**
 * Creates streams of server-sent events (WHATWG HTML, section 9.2). A stream sends the records after the cursor that match
 * its filter as they appear. It ends when the signal aborts, and when records after its cursor have been deleted.
 */
export function openStreams<Filter extends object>(feed: Feed<Filter>) {
  const distribution = newDistribution(feed);
  return async function* follow(owner: Owner, filter: Filter, after: Cursor, signal: AbortSignal) {
    // Shows the client immediately that the stream is open.
    for (let chunk: Chunk | undefined = { text: comment, cursor: after }; chunk; ) {
      yield chunk.text;
      chunk = await nextOf(distribution, owner, filter, chunk.cursor, signal);
    }
  };
}

/**
 * All streams that wait, which one loop serves. The next chunk of a group is read and written once. Owners take turns, each
 * with one group, so that the streams of one do not delay those of another. At each look at the newest cursor the groups
 * that were up to date come first, and the others catch up after them, each by one chunk.
 */
type Distribution = ReturnType<typeof newDistribution>;

const newDistribution = (feed: Feed<object>) => ({
  feed,
  /** A stream is in no group while its client has not read its last chunk. */
  groups: new Map<string, Group>(),
  /** The groups that are behind and have not been served since the last look. */
  due: openTurnsOfOwners<Group>(),
  isServing: false,
  /** The times at which the newest cursor is read. */
  looks: openLooks(lookEveryMs, feed.news),
  /** The newest cursor at the last look; undefined if that failed. */
  newest: undefined as Cursor,
});

/** Streams that wait at the same cursor for records that match the same filter. */
interface Group {
  key: string;
  filter: object;
  cursor: Cursor;
  streams: Set<WaitingStream>;
  /** It needs nothing until the next look at the newest cursor. */
  isSettled: boolean;
}

interface WaitingStream extends Waiter<Chunk> {
  owner: Owner;
  group: Group;
}

/** The next chunk of a stream; undefined if the stream ends. */
async function nextOf(
  distribution: Distribution,
  owner: Owner,
  filter: object,
  cursor: Cursor,
  signal: AbortSignal,
): Promise<Chunk | undefined> {
  const stream = { ...Promise.withResolvers<Chunk | undefined>(), owner } as WaitingStream;
  join(distribution, stream, filter, cursor);
  if (!distribution.isServing) void inTurnsOf(ownerOfStreams, () => serve(distribution));
  /** An event without data changes only the cursor from which the client goes on. */
  const heartbeat = () => {
    const { cursor: now } = stream.group;
    const isSame = now === undefined || now === cursor;
    const text = isSame ? comment : Buffer.from(`id: ${distribution.feed.cursorAt(now)}\n\n`);
    return { text, cursor: now };
  };
  try {
    return await nextChunk(stream, heartbeat, signal);
  } finally {
    leave(distribution, stream);
  }
}

function join(distribution: Distribution, stream: WaitingStream, filter: object, cursor: Cursor): void {
  const { groups, due } = distribution;
  const key = JSON.stringify([cursor, filter]);
  const group = groups.get(key) ?? { key, filter, cursor, streams: new Set(), isSettled: false };
  groups.set(key, group);
  group.streams.add(stream);
  stream.group = group;
  if (!isBehind(distribution, group)) return;
  due.add(stream.owner, group);
  distribution.looks.wake();
}

function leave({ groups }: Distribution, stream: WaitingStream): void {
  const { key, streams } = stream.group;
  streams.delete(stream);
  if (streams.size === 0 && groups.get(key) === stream.group) groups.delete(key);
}

const isBehind = ({ newest }: Distribution, { cursor, isSettled }: Group) =>
  newest !== undefined && cursor !== newest && !isSettled;

/** The loop: it ends when no stream waits. */
async function serve(distribution: Distribution): Promise<void> {
  const { groups, due, looks } = distribution;
  distribution.isServing = true;
  while (groups.size > 0) {
    // Groups that are behind need not wait for it.
    if (looks.isDue(due.hasItems())) void look(distribution);
    const group = due.take();
    if (!group) await looks.pause();
    // It may have been served in the turn of another owner.
    else if (groups.get(group.key) === group && isBehind(distribution, group))
      await advance(distribution, group);
  }
  due.clear();
  distribution.isServing = false;
}

async function look(distribution: Distribution): Promise<void> {
  const { feed, groups, due, looks } = distribution;
  const wereBehind = new Set([...groups.values()].filter((group) => isBehind(distribution, group)));
  distribution.newest = await looks.look(() => feed.newest()).catch(() => undefined);
  for (const group of groups.values()) {
    if (wereBehind.has(group) && !group.isSettled) continue;
    group.isSettled = false;
    if (!isBehind(distribution, group)) continue;
    for (const { owner } of group.streams) due.add(owner, group, true);
  }
}

/** Gives a group its next chunk, some streams in each turn of the event loop. */
async function advance(distribution: Distribution, group: Group): Promise<void> {
  const deliver = await nextFor(distribution, group);
  if (!deliver) {
    group.isSettled = true;
    return;
  }
  distribution.groups.delete(group.key);
  await deliverInTurns([...group.streams], deliver);
}

/** Reads what is next for the streams of a group; undefined if there is nothing until the next look. */
async function nextFor(distribution: Distribution, { filter, cursor }: Group) {
  const { feed, newest } = distribution;
  try {
    const found = await feed.read(filter, cursor, newest);
    if (!found) return ({ resolve }: WaitingStream) => resolve(undefined);
    if (found.text !== undefined) {
      const chunk = { text: found.text, cursor: found.cursor };
      return ({ resolve }: WaitingStream) => resolve(chunk);
    }
    if (found.cursor === cursor) return undefined;
    return (stream: WaitingStream) => join(distribution, stream, filter, found.cursor);
  } catch (error) {
    // If the streams ended, browsers would reconnect, get an error and give up.
    return feed.isOutage(error) ? undefined : ({ reject }: WaitingStream) => reject(error);
  }
}
