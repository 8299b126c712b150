import type { Owner } from "../../waiting/owner.ts";
import { inTurnsOf } from "../../waiting/turns.ts";
import { openTurnsOfOwners } from "../../waiting/turns-of-owners.ts";
import { comment, giveInTurns, lookEveryMs, nextChunk, ownerOfStreams, type Waiter } from "./event-stream.ts";

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
  read(filter: Filter, after: Cursor, newest: Cursor): Promise<{ text?: string; cursor: Cursor } | undefined>;
  /** A cursor as clients get it. */
  cursorAt(cursor: string): string;
  /** True for an error after which streams stay open, since a later attempt may succeed. */
  isOutage(error: unknown): boolean;
}

/** The length of text after which a chunk has no more records. */
export const chunkLength = 65_536;

/** A record as an event of a stream. */
export const streamEvent = (record: { cursor: string }) =>
  `id: ${record.cursor}\ndata: ${JSON.stringify(record)}\n\n`;

/**
 * Creates streams of server-sent events (WHATWG HTML, section 9.2). A stream sends the records after the cursor that match
 * its filter as they appear. It ends when the signal aborts, and when records after its cursor have been deleted.
 */
export function openStreams<Filter extends object>(feed: Feed<Filter>) {
  const nextAfter = openDistributor(feed);
  return async function* follow(owner: Owner, filter: Filter, after: Cursor, signal: AbortSignal) {
    // Shows the client immediately that the stream is open.
    for (let chunk: Chunk | undefined = { text: comment, cursor: after }; chunk; ) {
      yield chunk.text;
      chunk = await nextAfter(owner, filter, chunk.cursor, signal);
    }
  };
}

/** Streams that wait at the same cursor for records that match the same filter. */
interface Group<Filter> {
  key: string;
  filter: Filter;
  cursor: Cursor;
  streams: Set<WaitingStream<Filter>>;
  /** It needs nothing until the next look at the newest cursor. */
  isSettled: boolean;
}

interface WaitingStream<Filter> extends Waiter<Chunk> {
  owner: Owner;
  group: Group<Filter>;
}

/** The groups of all streams that wait. A stream is in no group while its client has not read its last chunk. */
function openGroups<Filter extends object>() {
  const groups = new Map<string, Group<Filter>>();
  return {
    all: () => [...groups.values()],
    isEmpty: () => groups.size === 0,
    has: (group: Group<Filter>) => groups.get(group.key) === group,
    join(stream: WaitingStream<Filter>, filter: Filter, cursor: Cursor): void {
      const key = JSON.stringify([cursor, filter]);
      const group = groups.get(key) ?? { key, filter, cursor, streams: new Set(), isSettled: false };
      groups.set(key, group);
      group.streams.add(stream);
      stream.group = group;
    },
    leave(stream: WaitingStream<Filter>): void {
      const { key, streams } = stream.group;
      streams.delete(stream);
      if (streams.size === 0 && groups.get(key) === stream.group) groups.delete(key);
    },
    remove: ({ key }: Group<Filter>) => void groups.delete(key),
  };
}

/**
 * Serves all streams with one loop. The next chunk of a group is read and written once. Callers take turns, each with one
 * group, so that the streams of one do not delay those of another. At each look at the newest cursor the groups that were up
 * to date come first, and the others catch up after them, each by one chunk.
 */
function openDistributor<Filter extends object>(feed: Feed<Filter>) {
  const groups = openGroups<Filter>();
  const due = openTurnsOfOwners<Group<Filter>>();
  let isServing = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** The newest cursor at the last look; undefined if that failed. */
  let newest: Cursor;
  let wake = () => {};

  const isBehind = ({ cursor, isSettled }: Group<Filter>) =>
    newest !== undefined && cursor !== newest && !isSettled;

  function join(stream: WaitingStream<Filter>, filter: Filter, cursor: Cursor): void {
    groups.join(stream, filter, cursor);
    if (!isBehind(stream.group)) return;
    due.add(stream.owner, stream.group);
    wake();
  }

  async function serve(): Promise<void> {
    isServing = true;
    while (!groups.isEmpty()) {
      const untilLook = lookedAt + lookEveryMs - performance.now();
      if (untilLook <= 0) {
        await look();
        continue;
      }
      const group = due.take();
      if (!group) await pause(untilLook);
      // It may have been served in the turn of another caller.
      else if (groups.has(group) && isBehind(group)) await advance(group);
    }
    due.clear();
    isServing = false;
  }

  async function look(): Promise<void> {
    const wereBehind = new Set(groups.all().filter(isBehind));
    newest = await feed.newest().catch(() => undefined);
    lookedAt = performance.now();
    for (const group of groups.all()) {
      if (wereBehind.has(group)) continue;
      group.isSettled = false;
      if (isBehind(group)) for (const { owner } of group.streams) due.add(owner, group, true);
    }
  }

  async function pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    const timer = setTimeout(resolve, milliseconds);
    await promise;
    clearTimeout(timer);
  }

  /** Gives a group its next chunk, some streams in each turn of the event loop. */
  async function advance(group: Group<Filter>): Promise<void> {
    const { filter, cursor, streams } = group;
    let give: (stream: WaitingStream<Filter>) => void;
    try {
      const found = await feed.read(filter, cursor, newest);
      if (found && found.text === undefined && found.cursor === cursor) {
        group.isSettled = true;
        return;
      }
      if (found && found.text === undefined) give = (stream) => join(stream, filter, found.cursor);
      else {
        const chunk = found && { text: Buffer.from(found.text as string), cursor: found.cursor };
        give = ({ resolve }) => resolve(chunk);
      }
    } catch (error) {
      // If the streams ended, browsers would reconnect, get an error and give up.
      if (feed.isOutage(error)) {
        group.isSettled = true;
        return;
      }
      give = ({ reject }) => reject(error);
    }
    groups.remove(group);
    await giveInTurns([...streams], give);
  }

  return async (owner: Owner, filter: Filter, cursor: Cursor, signal: AbortSignal) => {
    const stream = { ...Promise.withResolvers<Chunk | undefined>(), owner } as WaitingStream<Filter>;
    join(stream, filter, cursor);
    if (!isServing) void inTurnsOf(ownerOfStreams, serve);
    /** An event without data changes only the cursor from which the client goes on. */
    const heartbeat = () => {
      const { cursor: now } = stream.group;
      return {
        text: now === undefined || now === cursor ? comment : Buffer.from(`id: ${feed.cursorAt(now)}\n\n`),
        cursor: now,
      };
    };
    try {
      return await nextChunk(stream, heartbeat, signal);
    } finally {
      groups.leave(stream);
    }
  };
}
