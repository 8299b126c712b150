import { isDeepStrictEqual } from "node:util";
import { sharedNext } from "../../../waiting/shared.ts";
import { letOthersRun } from "../../../waiting/turns.ts";
import {
  type ChangeOutcome,
  type Entry,
  type FeatureChange,
  type FeatureStore,
  type FeedEntry,
  featuresMax,
  ignoreFailure,
} from "../store.ts";
import { isLive, liveInOrder, type StoredEntry, withoutPlace } from "../stored-entry.ts";
import { type Append, type ChangeLog, openChangeLog } from "./change-log.ts";
import { entryKeys, keyAfter, keyOf, keysUpTo, keysWithin, ofKey, withKey } from "./keys.ts";
import type { OrderedMap } from "./map.ts";
import { openUses, type Uses } from "./uses.ts";

/** Maximum number of expiries in one transaction. */
const expiriesPerWrite = 200;
/** Maximum number of entries that are read at once. A list of `featuresMax` is always read at once. */
const entriesPerRead = 2 * featuresMax;
/** Maximum number of entries of a page that are read at once, since many requests can arrive at the same time. */
const pageEntriesPerRead = 100;
/** Number of entries of a list that is read in a turn of its own. */
const longList = 100;
/** Maximum number of changes that are made beside those of other requests. */
const changesMax = 50;
/** Maximum number of records that are read at once. */
const recordsPerRead = 250;

/** A feature store in an ordered map. */
export async function openOrderedStore(map: OrderedMap, recordsKept: number): Promise<FeatureStore> {
  const log = await openChangeLog(map, recordsKept);
  const uses = await openUses(map);
  const entries = entriesIn(map, log, uses);
  const due = (limit: number) =>
    Iterator.from(map.range<StoredEntry>(...keysUpTo("due", Date.now())))
      .take(limit)
      .toArray();
  const expire = sharedNext(async () => {
    if (map.read(() => due(1).length === 0)) return false;
    return await map.write(() => {
      const expired = due(expiriesPerWrite);
      entries.expire(expired);
      return expired.length === expiriesPerWrite;
    });
  });

  /** Long changes are not made in the same turn of the event loop, in which others could not run. */
  let lastLong: Promise<unknown> = Promise.resolve();
  function oneByOne<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = lastLong.then(work);
    lastLong = done.catch(() => {});
    return done;
  }

  /** Saves the list of a resource for the history, if it is due, in a turn of its own. */
  async function saveList(resource: string, id: string): Promise<void> {
    if (!map.read(() => log.isListDue(resource, id))) return;
    await oneByOne(() => map.write(() => log.saveList(resource, id)));
  }

  async function list(resource: string, id: string): Promise<Entry[]> {
    const range = keysWithin("of", resource, id);
    const first = map.read(() =>
      Iterator.from(map.range<StoredEntry>(...range))
        .take(longList)
        .toArray(),
    );
    if (first.length < longList) return liveInOrder(first).map(withoutPlace);
    // Many requests for long lists can arrive at the same time.
    await letOthersRun();
    const found: StoredEntry[] = [];
    for await (const chunk of chunksOf(map, range, ofKey, entriesPerRead)) found.push(...chunk);
    return liveInOrder(found).map(withoutPlace);
  }

  /** Up to `limit` entries under the keys of `withKey` in a range that have not expired. */
  async function liveWithin(range: [start: string, end: string], limit: number): Promise<StoredEntry[]> {
    const found: StoredEntry[] = [];
    for await (const chunk of chunksOf(map, range, withKey, Math.min(limit, pageEntriesPerRead))) {
      for (const entry of chunk) if (isLive(entry)) found.push(entry);
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  return {
    list,
    async has(resource, id, features) {
      return map.read(() => features.map((feature) => entries.find(resource, id, feature) !== undefined));
    },
    async change(resource, id, changes, onlyIf) {
      const make = () => map.write(() => entries.change(resource, id, changes, onlyIf));
      let outcome: ChangeOutcome | undefined;
      while (!outcome) outcome = await (changes.length > changesMax ? oneByOne(make) : make());
      // The changes are made. If the list cannot be saved, a later change tries it again.
      await saveList(resource, id).catch(ignoreFailure);
      return outcome;
    },
    async idsWith(resource, feature, after, limit) {
      const [start, end] = keysWithin("with", resource, feature);
      const from = after === undefined ? start : keyAfter(keyOf("with", resource, feature, after));
      return (await liveWithin([from, end], limit)).map(({ id }) => id);
    },
    async count(resource, feature) {
      return map.read(() => uses.count(resource, feature));
    },
    async featuresInUse(resource, limit) {
      return map.read(() => uses.features(resource, limit));
    },
    async entriesOf(resource, after, limit) {
      const [start, end] = keysWithin("with", resource);
      const from = after === undefined ? start : keyAfter(withKey({ resource, ...after }));
      return (await liveWithin([from, end], limit)).map(withoutPlace);
    },
    history: log.history,
    async changes(after, limit, until) {
      await expire().catch(ignoreFailure);
      const page: FeedEntry[] = [];
      while (page.length < limit) {
        const from = page.at(-1)?.cursor ?? after;
        const size = Math.min(limit - page.length, recordsPerRead);
        const entries = map.read(() => log.after(from, size, until));
        // What has been read is a page; the next one finds out that records after it have been deleted meanwhile.
        if (!entries && page.length === 0) return undefined;
        page.push(...(entries ?? []));
        if (!entries || entries.length < size) break;
        await letOthersRun();
      }
      return page;
    },
    async newest() {
      await expire().catch(ignoreFailure);
      return map.read(log.newest);
    },
    expire,
    async *entries() {
      let [from, end] = keysWithin("of");
      // Reads one resource at a time, since the map may change while the caller works on an entry.
      for (;;) {
        const [next] = map.read(() => Iterator.from(map.range<StoredEntry>(from, end)).take(1).toArray());
        if (!next) return;
        yield* await list(next.resource, next.id);
        [, from] = keysWithin("of", next.resource, next.id);
      }
    },
    [Symbol.asyncDispose]: () => map[Symbol.asyncDispose](),
  };
}

/**
 * The entries in a range, in chunks of up to `size` entries. Each chunk is read on a snapshot
 * of its own, and others run in between.
 */
async function* chunksOf(
  map: OrderedMap,
  [start, end]: [start: string, end: string],
  keyIn: (entry: StoredEntry) => string,
  size: number,
): AsyncGenerator<StoredEntry[]> {
  for (let from = start; ; ) {
    const chunk = map.read(() => Iterator.from(map.range<StoredEntry>(from, end)).take(size).toArray());
    yield chunk;
    const last = chunk.at(-1);
    if (!last || chunk.length < size) return;
    from = keyAfter(keyIn(last));
    await letOthersRun();
  }
}

/** Reads and changes the entries of a map, within its `read` and `write`. */
function entriesIn(map: OrderedMap, log: ChangeLog, uses: Uses) {
  const stored = (resource: string, id: string, feature: string) =>
    map.get<StoredEntry>(keyOf("of", resource, id, feature));
  /** The entry, unless it has expired. */
  function find(resource: string, id: string, feature: string): StoredEntry | undefined {
    const entry = stored(resource, id, feature);
    return entry && isLive(entry) ? entry : undefined;
  }
  const features = (resource: string, id: string) =>
    liveInOrder([...map.range<StoredEntry>(...keysWithin("of", resource, id))]).map(({ feature }) => feature);

  function remove(entry: StoredEntry): void {
    for (const key of entryKeys(entry)) map.remove(key);
    uses.removed(entry);
  }
  function drop(appender: Append, entry: StoredEntry, type: "removed" | "expired", at: number): void {
    remove(entry);
    const { resource, id, feature } = entry;
    appender.append({ type, at, resource, id, feature });
  }
  const dropExpired = (appender: Append, entry: StoredEntry) =>
    drop(appender, entry, "expired", entry.expiresAt as number);
  const expire = (expired: StoredEntry[]) =>
    log.write((appender) => {
      for (const entry of expired) dropExpired(appender, entry);
    });

  /** Makes a change. Returns whether the resource had the feature. */
  function make(appender: Append, resource: string, id: string, change: FeatureChange): boolean {
    const { type, feature } = change;
    let entry = stored(resource, id, feature);
    if (entry && !isLive(entry)) {
      dropExpired(appender, entry);
      entry = undefined;
    }
    const at = appender.instantOf(resource, id);
    if (type === "remove") {
      if (entry) drop(appender, entry, "removed", at);
      return entry !== undefined;
    }
    const { expiresAt } = change;
    if (entry && entry.expiresAt === expiresAt) return true;
    if (entry) remove(entry);
    const added: Entry = { resource, id, feature, ...(expiresAt !== undefined && { expiresAt }) };
    const number = appender.append({ type: "added", at, ...added });
    const next: StoredEntry = { ...added, place: entry?.place ?? number };
    for (const key of entryKeys(next)) map.put(key, next);
    uses.stored(next);
    return entry !== undefined;
  }

  /**
   * Removes what has expired of a resource that may get too many features. Returns whether it has room for the changes;
   * undefined if more may have expired.
   */
  function makeRoom(
    resource: string,
    id: string,
    changes: FeatureChange[],
    onlyIf: string[] | undefined,
  ): boolean | undefined {
    const range = keysWithin("of", resource, id);
    const additions = changes.filter(({ type }) => type === "add").length;
    if (additions === 0 || map.count(...range) + additions <= featuresMax) return true;
    const present = onlyIf && new Set(onlyIf);
    const growth = growthBy(changes, (feature) =>
      present ? present.has(feature) : find(resource, id, feature) !== undefined,
    );
    if (growth <= 0) return true;
    const expired: StoredEntry[] = [];
    let live = 0;
    for (const entry of map.range<StoredEntry>(...range)) {
      if (isLive(entry)) live += 1;
      else expired.push(entry);
      if (live + growth > featuresMax || expired.length === expiriesPerWrite) break;
    }
    if (live + growth > featuresMax) return false;
    expire(expired);
    return expired.length === expiriesPerWrite ? undefined : true;
  }

  return {
    find,
    expire,
    /** See `FeatureStore.change`. Returns undefined if it must be called again in another transaction. */
    change(
      resource: string,
      id: string,
      changes: FeatureChange[],
      onlyIf: string[] | undefined,
    ): ChangeOutcome | undefined {
      if (onlyIf && !isDeepStrictEqual(features(resource, id), onlyIf)) return { rejected: "list differs" };
      const hasRoom = makeRoom(resource, id, changes, onlyIf);
      if (hasRoom === undefined) return undefined;
      if (!hasRoom) return { rejected: "too many features" };
      const had = log.write((appender) => changes.map((change) => make(appender, resource, id, change)));
      return { had };
    },
  };
}

/** By how many features the changes lengthen a list. */
function growthBy(changes: FeatureChange[], isPresent: (feature: string) => boolean): number {
  const last = new Map(changes.map(({ type, feature }) => [feature, type]));
  let growth = 0;
  for (const [feature, type] of last) growth += Number(type === "add") - Number(isPresent(feature));
  return growth;
}
