import type { components } from "../../../generated/features.ts";
import { type FeatureStore, StoreFailure, type ToldChange } from "../store/store.ts";

/** Milliseconds after which those who wait for changes look again. */
const lookEveryMs = 200;
/** Milliseconds after which something is sent although nothing has changed. */
const heartbeatMs = 15_000;
const pageMax = 1000;

/** A change as the contract shows it. */
export function viewChange({
  cursor,
  change: { type, at, resource, id, feature, expiresAt },
}: ToldChange): components["schemas"]["Change"] {
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
 * What makes a stream of server-sent events (WHATWG HTML, section 9.2): these changes, then those behind the cursor as
 * they come. It ends when it is not wanted any more, and when changes behind its cursor are not kept any more.
 */
export function openFeed(store: FeatureStore) {
  const moved = openWatch(store);
  return async function* follow(told: ToldChange[], cursor: string, ended: AbortSignal) {
    // A comment, so that the caller hears at once that the stream is open.
    yield comment;
    let page: ToldChange[] | undefined = told;
    let position = cursor;
    while (page && !ended.aborted) {
      if (page.length > 0) yield page.map(eventOf).join("");
      else if (!(await moved(position, ended))) yield comment;
      page = await read(position);
      position = page?.at(-1)?.cursor ?? position;
    }
  };

  /** A store that fails has nothing to tell now: who comes back would be refused, and browsers take that for good. */
  async function read(position: string): Promise<ToldChange[] | undefined> {
    try {
      return await store.changes(position, pageMax);
    } catch (error) {
      if (error instanceof StoreFailure) return [];
      throw error;
    }
  }
}

const comment = ":\n\n";
const eventOf = (told: ToldChange) => `id: ${told.cursor}\ndata: ${JSON.stringify(viewChange(told))}\n\n`;

/**
 * One look at the store for all who wait. Resolves with true when the newest change lies behind the cursor, with false
 * after a heartbeat's time or at an end.
 */
function openWatch(store: FeatureStore) {
  const waiting = new Map<(moved: boolean) => void, string>();
  let isLooking = false;

  async function look(): Promise<void> {
    const newest = await store.newest().catch(() => undefined);
    for (const [resolve, cursor] of waiting) if (newest !== undefined && newest !== cursor) resolve(true);
    lookLater();
  }

  function lookLater(): void {
    isLooking = waiting.size > 0;
    if (isLooking) setTimeout(look, lookEveryMs);
  }

  return async (cursor: string, ended: AbortSignal): Promise<boolean> => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const end = AbortSignal.any([ended, AbortSignal.timeout(heartbeatMs)]);
    end.addEventListener("abort", () => resolve(false));
    if (end.aborted) return false;
    waiting.set(resolve, cursor);
    if (!isLooking) lookLater();
    try {
      return await promise;
    } finally {
      waiting.delete(resolve);
    }
  };
}
