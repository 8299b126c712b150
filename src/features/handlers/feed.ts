import type { components } from "../../../generated/features.ts";
import { type FeatureStore, type FeedEntry, StoreFailure } from "../store/store.ts";
import { comment, giveInTurns, lookEveryMs, nextChunk, recordsMax, type Waiter } from "./event-stream.ts";
import { instantOf, viewExpiry } from "./expiry.ts";

/** The length of text after which a chunk has no more records. */
const chunkLength = 65_536;

/** A feed entry as the contract shows it. */
export function viewRecord({
  cursor,
  record: { type, at, resource, id, feature, expiresAt },
}: FeedEntry): components["schemas"]["ChangeRecord"] {
  return {
    cursor,
    type,
    at: instantOf(at),
    resource,
    id,
    feature,
    ...viewExpiry(expiresAt),
  };
}

/** A cursor; undefined is before the oldest record. */
type Cursor = string | undefined;

/** A part of a stream, and the cursor after it. */
interface Chunk {
  /** The bytes are shared by all streams that send them. */
  text: Buffer;
  cursor: Cursor;
}

/**
 * Creates streams of server-sent events (WHATWG HTML, section 9.2). A stream sends the records after the cursor as they
 * appear. It ends when the signal aborts, and when records after its cursor have been deleted.
 */
export function openFeed(store: FeatureStore) {
  const nextAfter = openDistributor(store);
  return async function* follow(after: Cursor, signal: AbortSignal) {
    // Shows the client immediately that the stream is open.
    for (let chunk: Chunk | undefined = { text: comment, cursor: after }; chunk; ) {
      yield chunk.text;
      chunk = await nextAfter(chunk.cursor, signal);
    }
  };
}

const eventOf = (entry: FeedEntry) => `id: ${entry.cursor}\ndata: ${JSON.stringify(viewRecord(entry))}\n\n`;

/**
 * Serves all streams with one loop. Streams that wait at the same cursor are a group: its next chunk is read and written
 * once. At each look at the newest cursor the groups that were up to date come first. Until the next look the others
 * catch up in turn, each by one chunk. A stream is in no group while its client has not read its last chunk.
 */
function openDistributor(store: FeatureStore) {
  const groups = new Map<Cursor, Set<Waiter<Chunk>>>();
  let isServing = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** The newest cursor at the last look; undefined if the store failed. */
  let newest: Cursor;
  /** The cursors of groups that need nothing until the next look, and what they were before the last one. */
  let settled = new Set<Cursor>();
  let settledBefore = settled;
  let wake = () => {};

  const isBehind = (cursor: Cursor) => newest !== undefined && !settled.has(cursor);

  async function serve(): Promise<void> {
    isServing = true;
    while (groups.size > 0) {
      const untilLook = lookedAt + lookEveryMs - performance.now();
      if (untilLook <= 0) {
        await look();
        continue;
      }
      const behind = [...groups.keys()].filter(isBehind);
      if (behind.length === 0) await pause(untilLook);
      else await advance(behind.find((cursor) => settledBefore.has(cursor)) ?? behind[0]);
    }
    isServing = false;
  }

  async function look(): Promise<void> {
    newest = await store.newest().catch(() => undefined);
    lookedAt = performance.now();
    [settledBefore, settled] = [settled, new Set([newest])];
  }

  async function pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    const timer = setTimeout(resolve, milliseconds);
    await promise;
    clearTimeout(timer);
  }

  /** Gives a group its next chunk, some streams in each turn of the event loop. */
  async function advance(cursor: Cursor): Promise<void> {
    let give: (waiter: Waiter<Chunk>) => void;
    try {
      const entries = await store.changes(cursor, recordsMax, newest);
      if (entries?.length === 0) return void settled.add(cursor);
      const chunk = entries && chunkOf(entries);
      give = ({ resolve }) => resolve(chunk);
    } catch (error) {
      // If the streams ended, browsers would reconnect, get a 500 and give up.
      if (error instanceof StoreFailure) return void settled.add(cursor);
      give = ({ reject }) => reject(error);
    }
    const waiters = [...(groups.get(cursor) ?? [])];
    groups.delete(cursor);
    await giveInTurns(waiters, give);
  }

  return async (cursor: Cursor, signal: AbortSignal): Promise<Chunk | undefined> => {
    const waiter: Waiter<Chunk> = Promise.withResolvers();
    const group = groups.get(cursor) ?? new Set();
    groups.set(cursor, group.add(waiter));
    if (isBehind(cursor)) wake();
    if (!isServing) void serve();
    try {
      return await nextChunk(waiter, { text: comment, cursor }, signal);
    } finally {
      group.delete(waiter);
      if (group.size === 0 && groups.get(cursor) === group) groups.delete(cursor);
    }
  };
}

function chunkOf(entries: FeedEntry[]): Chunk {
  let text = "";
  let cursor: Cursor;
  for (const entry of entries) {
    text += eventOf(entry);
    cursor = entry.cursor;
    if (text.length >= chunkLength) break;
  }
  return { text: Buffer.from(text), cursor };
}
