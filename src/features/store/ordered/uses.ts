import type { StoredEntry } from "../stored-entry.ts";
import { digits, keyOf, keysUpTo, keysWithin } from "./keys.ts";
import { firstIn, keyAfter, type OrderedMap, type Range } from "./map.ts";

/** A feature that resources of a kind have, and the number of its entries, also of those that have just expired. */
interface Use {
  feature: string;
  entries: number;
}

/** Present if the uses of all entries are counted. An earlier release did not count them. */
const countedKey = keyOf("counted");

/** Counts the entries of a map by kind of resource and feature. */
export type Uses = Awaited<ReturnType<typeof openUses>>;

/** Opens the numbers of entries, and counts those that are stored if nothing has counted them. */
export async function openUses(map: OrderedMap) {
  const useKey = (resource: string, feature: string) => keyOf("use", resource, feature);
  const expiryKey = ({ resource, feature, expiresAt = 0, place }: StoredEntry) =>
    keyOf("expiry", resource, feature, digits(expiresAt), digits(place));

  const entriesWith = (resource: string, feature: string) =>
    map.get<Use>(useKey(resource, feature))?.entries ?? 0;

  function add(resource: string, feature: string, change: 1 | -1): void {
    const entries = entriesWith(resource, feature) + change;
    if (entries > 0) map.put(useKey(resource, feature), { feature, entries } satisfies Use);
    else map.remove(useKey(resource, feature));
  }

  function stored(entry: StoredEntry): void {
    add(entry.resource, entry.feature, 1);
    if (entry.expiresAt !== undefined) map.put(expiryKey(entry), true);
  }

  if (map.read(() => map.get(countedKey) === undefined)) {
    await map.migrate(() => {
      if (map.get(countedKey) !== undefined) return;
      for (const entry of map.range<StoredEntry>(...keysWithin("with"))) stored(entry);
      map.put(countedKey, true);
    });
  }

  return {
    /** Within `write` only, when an entry is stored. */
    stored,
    /** Within `write` only, when an entry is removed. */
    removed(entry: StoredEntry): void {
      add(entry.resource, entry.feature, -1);
      if (entry.expiresAt !== undefined) map.remove(expiryKey(entry));
    },
    /** The number of entries that have not expired. Within `read` only. */
    count(resource: string, feature: string): number {
      const expired = map.count(...keysUpTo(Date.now(), "expiry", resource, feature));
      return entriesWith(resource, feature) - expired;
    },
    /** Those after the feature `after`. Within `read` only. */
    features(resource: string, after: string | undefined, limit: number): string[] {
      const [start, end] = keysWithin("use", resource);
      const range: Range = [after === undefined ? start : keyAfter(useKey(resource, after)), end];
      return firstIn<Use>(map, range, limit).map(({ feature }) => feature);
    },
  };
}
