import { setTimeout as sleep } from "node:timers/promises";
import type { components } from "../../../generated/features.ts";
import { type FeatureStore, type FeedEntry, StoreFailure } from "../store/store.ts";

/** Milliseconds between polls of the store for all open streams. */
const pollEveryMs = 200;
/** Milliseconds without a change after which a comment is sent. */
const heartbeatMs = 15_000;
const pageMax = 1000;

/** A feed entry as the contract shows it. */
export function viewRecord({
  cursor,
  record: { type, at, resource, id, feature, expiresAt },
}: FeedEntry): components["schemas"]["ChangeRecord"] {
  return {
    cursor,
    type,
    at: new Date(at).toISOString(),
    resource,
    id,
    feature,
    ...(expiresAt !== undefined && { expires_at: new Date(expiresAt).toISOString() }),
  };
}

/**
 * Creates streams of server-sent events (WHATWG HTML, section 9.2). A stream sends the given entries, then the entries
 * after the cursor as they appear. It ends when the signal aborts, and when records after its cursor have been deleted.
 */
export function openFeed(store: FeatureStore) {
  const waitForRecord = openWatch(store);
  return async function* follow(entries: FeedEntry[], cursor: string, signal: AbortSignal) {
    // Shows the client immediately that the stream is open.
    yield comment;
    let page: FeedEntry[] | undefined = entries;
    let position = cursor;
    while (page && !signal.aborted) {
      if (page.length > 0) yield page.map(eventOf).join("");
      else if (!(await waitForRecord(position, signal))) yield comment;
      page = await read(position);
      position = page?.at(-1)?.cursor ?? position;
    }
  };

  /** Returns no entries while the store fails. If the stream ended, a browser would reconnect, get a 500 and give up. */
  async function read(position: string): Promise<FeedEntry[] | undefined> {
    try {
      return await store.changes(position, pageMax);
    } catch (error) {
      if (error instanceof StoreFailure) return [];
      throw error;
    }
  }
}

const comment = ":\n\n";
const eventOf = (entry: FeedEntry) => `id: ${entry.cursor}\ndata: ${JSON.stringify(viewRecord(entry))}\n\n`;

/**
 * Polls the store once for all streams that wait. Resolves with true when there is a record after the cursor, with false
 * after the heartbeat interval or when the signal aborts.
 */
function openWatch(store: FeatureStore) {
  const waiting = new Map<(hasRecord: boolean) => void, string>();
  let isPolling = false;

  async function poll(): Promise<void> {
    isPolling = true;
    while (waiting.size > 0) {
      await sleep(pollEveryMs);
      const newest = await store.newest().catch(() => undefined);
      for (const [resolve, cursor] of waiting) if (newest !== undefined && newest !== cursor) resolve(true);
    }
    isPolling = false;
  }

  return async (cursor: string, signal: AbortSignal): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = () => resolve(false);
    const heartbeat = setTimeout(end, heartbeatMs);
    signal.addEventListener("abort", end);
    waiting.set(resolve, cursor);
    if (!isPolling) void poll();
    try {
      return !signal.aborted && (await promise);
    } finally {
      waiting.delete(resolve);
      signal.removeEventListener("abort", end);
      clearTimeout(heartbeat);
    }
  };
}
