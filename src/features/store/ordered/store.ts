import { isDeepStrictEqual } from "node:util";
import { type Entry, type FeatureChange, type FeatureStore, StoreFailure } from "../store.ts";
import { isLive, liveInOrder, type StoredEntry, withoutPlace } from "../stored-entry.ts";
import { type ChangeLog, openChangeLog } from "./change-log.ts";
import { entryKeys, keyOf, keysUpTo, keysWithin } from "./keys.ts";
import type { OrderedMap } from "./map.ts";

/** Maximum number of expiries in one transaction. */
const expiriesPerWrite = 1000;

/** A feature store in an ordered map. */
export async function openOrderedStore(map: OrderedMap, recordsKept: number): Promise<FeatureStore> {
  const log = await openChangeLog(map, recordsKept);
  const entries = entriesIn(map, log);
  const expire = () => expireEntries(map, entries);
  return {
    async list(resource, id) {
      return map.read(() => entries.features(resource, id));
    },
    async has(resource, id, feature) {
      const entry = map.read(() => entries.find(resource, id, feature));
      return entry !== undefined && isLive(entry);
    },
    change: (resource, id, changes, onlyIf) =>
      map.write(() =>
        onlyIf && !isDeepStrictEqual(entries.features(resource, id), onlyIf)
          ? undefined
          : changes.map((change) => entries.change(resource, id, change)),
      ),
    async idsWith(resource, feature, after, limit) {
      const [start, end] = keysWithin("with", resource, feature);
      const from = after === undefined ? start : keyOf("with", resource, feature, after);
      return map.read(() =>
        Iterator.from(map.range<StoredEntry>(from, end))
          .filter((entry) => isLive(entry) && entry.id !== after)
          .take(limit)
          .map(({ id }) => id)
          .toArray(),
      );
    },
    async changes(after, limit) {
      await expire();
      return map.read(() => log.after(after, limit));
    },
    async newest() {
      await expire();
      return map.read(log.newest);
    },
    async *entries() {
      let [from, end] = keysWithin("of");
      // Reads one resource at a time, since the map may change while the caller works on an entry.
      for (;;) {
        const [next, ofResource = []] = map.read(() => {
          const [first] = Iterator.from(map.range<StoredEntry>(from, end)).take(1);
          return first ? [first, entries.list(first.resource, first.id)] : [];
        });
        if (!next) return;
        yield* ofResource.map(withoutPlace);
        [, from] = keysWithin("of", next.resource, next.id);
      }
    },
    [Symbol.asyncDispose]: () => map[Symbol.asyncDispose](),
  };
}

/** Reads and changes the entries of a map, within its `read` and `write`. */
function entriesIn(map: OrderedMap, log: ChangeLog) {
  const find = (resource: string, id: string, feature: string) =>
    map.get<StoredEntry>(keyOf("of", resource, id, feature));
  const list = (resource: string, id: string) =>
    liveInOrder([...map.range<StoredEntry>(...keysWithin("of", resource, id))]);

  function drop(entry: StoredEntry, type: "removed" | "expired", at: number): void {
    for (const key of entryKeys(entry)) map.remove(key);
    const { resource, id, feature } = entry;
    log.append({ type, at, resource, id, feature });
  }

  return {
    find,
    list,
    features: (resource: string, id: string) => list(resource, id).map(({ feature }) => feature),
    expired: () =>
      Iterator.from(map.range<StoredEntry>(...keysUpTo("due", Date.now()))).take(expiriesPerWrite),
    expire: (entry: StoredEntry) => drop(entry, "expired", entry.expiresAt as number),
    /** Returns whether the resource had the feature. */
    change(resource: string, id: string, change: FeatureChange): boolean {
      const { type, feature } = change;
      const at = Date.now();
      let entry = find(resource, id, feature);
      if (entry && !isLive(entry)) {
        drop(entry, "expired", entry.expiresAt as number);
        entry = undefined;
      }
      if (type === "remove") {
        if (entry) drop(entry, "removed", at);
        return entry !== undefined;
      }
      const { expiresAt } = change;
      if (entry && entry.expiresAt === expiresAt) return true;
      for (const key of entry ? entryKeys(entry) : []) map.remove(key);
      const added: Entry = { resource, id, feature, ...(expiresAt !== undefined && { expiresAt }) };
      const number = log.append({ type: "added", at, ...added });
      const stored: StoredEntry = { ...added, place: entry?.place ?? number };
      for (const key of entryKeys(stored)) map.put(key, stored);
      return entry !== undefined;
    },
  };
}

/** Records every expiry that is due. If a write fails, a later read tries again, so that reads still succeed. */
async function expireEntries(map: OrderedMap, entries: ReturnType<typeof entriesIn>): Promise<void> {
  try {
    while (map.read(() => entries.expired().some(() => true))) {
      await map.write(() => entries.expired().toArray().forEach(entries.expire));
    }
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error;
  }
}
