import { comment, giveInTurns, lookEveryMs, nextChunk, type Waiter } from "./event-stream.ts";

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
  return async function* follow(filter: Filter, after: Cursor, signal: AbortSignal) {
    // Shows the client immediately that the stream is open.
    for (let chunk: Chunk | undefined = { text: comment, cursor: after }; chunk; ) {
      yield chunk.text;
      chunk = await nextAfter(filter, chunk.cursor, signal);
    }
  };
}

/** Streams that wait at the same cursor for records that match the same filter. */
interface Group<Filter> {
  filter: Filter;
  cursor: Cursor;
  streams: Set<WaitingStream<Filter>>;
}

interface WaitingStream<Filter> extends Waiter<Chunk> {
  group: Group<Filter>;
}

/**
 * Serves all streams with one loop. The next chunk of a group is read and written once. At each look at the newest cursor
 * the groups that were up to date come first. Until the next look the others catch up in turn, each by one chunk. A stream
 * is in no group while its client has not read its last chunk.
 */
function openDistributor<Filter extends object>(feed: Feed<Filter>) {
  const groups = new Map<string, Group<Filter>>();
  let isServing = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** The newest cursor at the last look; undefined if that failed. */
  let newest: Cursor;
  /** The groups that need nothing until the next look, and what they were before the last one. */
  let settled = new Set<string>();
  let settledBefore = settled;
  let wake = () => {};

  const keyOf = (filter: Filter, cursor: Cursor) => JSON.stringify([cursor, filter]);
  const isBehind = (key: string, { cursor }: Group<Filter>) =>
    newest !== undefined && cursor !== newest && !settled.has(key);

  function join(stream: WaitingStream<Filter>, filter: Filter, cursor: Cursor): void {
    const key = keyOf(filter, cursor);
    stream.group = groups.get(key) ?? { filter, cursor, streams: new Set() };
    stream.group.streams.add(stream);
    groups.set(key, stream.group);
  }

  function leave(stream: WaitingStream<Filter>): void {
    const { filter, cursor, streams } = stream.group;
    streams.delete(stream);
    const key = keyOf(filter, cursor);
    if (streams.size === 0 && groups.get(key) === stream.group) groups.delete(key);
  }

  async function serve(): Promise<void> {
    isServing = true;
    while (groups.size > 0) {
      const untilLook = lookedAt + lookEveryMs - performance.now();
      if (untilLook <= 0) {
        await look();
        continue;
      }
      const behind = [...groups].filter(([key, group]) => isBehind(key, group));
      const next = behind.find(([key]) => settledBefore.has(key)) ?? behind[0];
      if (next) await advance(...next);
      else await pause(untilLook);
    }
    isServing = false;
  }

  async function look(): Promise<void> {
    settledBefore = new Set([...groups].filter(([key, group]) => !isBehind(key, group)).map(([key]) => key));
    settled = new Set();
    newest = await feed.newest().catch(() => undefined);
    lookedAt = performance.now();
  }

  async function pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    const timer = setTimeout(resolve, milliseconds);
    await promise;
    clearTimeout(timer);
  }

  /** Gives a group its next chunk, some streams in each turn of the event loop. */
  async function advance(key: string, { filter, cursor }: Group<Filter>): Promise<void> {
    let give: (stream: WaitingStream<Filter>) => void;
    try {
      const found = await feed.read(filter, cursor, newest);
      if (found && found.text === undefined && found.cursor === cursor) return void settled.add(key);
      if (found && found.text === undefined) give = (stream) => join(stream, filter, found.cursor);
      else {
        const chunk = found && { text: Buffer.from(found.text as string), cursor: found.cursor };
        give = ({ resolve }) => resolve(chunk);
      }
    } catch (error) {
      // If the streams ended, browsers would reconnect, get an error and give up.
      if (feed.isOutage(error)) return void settled.add(key);
      give = ({ reject }) => reject(error);
    }
    const streams = [...(groups.get(key)?.streams ?? [])];
    groups.delete(key);
    await giveInTurns(streams, give);
  }

  return async (filter: Filter, cursor: Cursor, signal: AbortSignal): Promise<Chunk | undefined> => {
    const stream = Promise.withResolvers<Chunk | undefined>() as WaitingStream<Filter>;
    join(stream, filter, cursor);
    if (isBehind(keyOf(filter, cursor), stream.group)) wake();
    if (!isServing) void serve();
    /** An event without data changes only the cursor from which the client goes on. */
    const heartbeat = () => {
      const { cursor: now } = stream.group;
      return { text: now === cursor ? comment : Buffer.from(`id: ${now}\n\n`), cursor: now };
    };
    try {
      return await nextChunk(stream, heartbeat, signal);
    } finally {
      leave(stream);
    }
  };
}
