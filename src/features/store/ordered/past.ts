import type { ChangeRecord } from "../store.ts";
import type { StoredEntry } from "../stored-entry.ts";
import { digits, keyOf, keysWithin } from "./keys.ts";
import type { OrderedMap } from "./map.ts";

/**
 * The past of resources, which is recorded for `history.ts`. The keys, besides the keys of the change log:
 *
 *     life, RESOURCE, ID                          -> Life
 *     record, RESOURCE, ID, number                -> the number
 *     list, RESOURCE, ID, instant, number         -> SavedList
 *     version, RESOURCE, FEATURE, ID, instant, number -> Version
 */

/** What the next record of a resource needs to know of the last ones. */
interface Life {
  /** The instant of the latest record. */
  at: number;
  /** Number of records since the last saved list. */
  records: number;
}

/** The list of a resource after its record with this number. */
export interface SavedList {
  number: number;
  entries: StoredEntry[];
}

/** A change of a feature of one resource. */
export interface Version {
  id: string;
  type: "added" | "removed";
  expiresAt?: number | undefined;
}

/** Minimum number of records of a resource between two saved lists. */
const recordsPerList = 100;

const lifeIn = (map: OrderedMap, key: string) => map.get<Life>(key) ?? { at: 0, records: 0 };

/** Records changes within one `write`. At its end `save` writes the lives, each once. */
export function recordPast(map: OrderedMap) {
  const lives = new Map<string, Life>();
  function lifeOf(resource: string, id: string): Life {
    const key = keyOf("life", resource, id);
    const life = lives.get(key) ?? lifeIn(map, key);
    lives.set(key, life);
    return life;
  }
  return {
    /** The instant of the next change of a resource, never before the instant of its last change. */
    nextInstant: (resource: string, id: string): number => Math.max(Date.now(), lifeOf(resource, id).at),
    add(number: number, { type, at, resource, id, feature, expiresAt }: ChangeRecord): void {
      const life = lifeOf(resource, id);
      life.at = Math.max(at, life.at);
      life.records += 1;
      map.put(keyOf("record", resource, id, digits(number)), number);
      // An addition that has an expiry time says when it ends.
      if (type === "expired") return;
      const key = keyOf("version", resource, feature, id, digits(at), digits(number));
      map.put(key, { id, type, expiresAt } satisfies Version);
    },
    save(): void {
      for (const [key, life] of lives) if (life.records > 0) map.put(key, life);
    },
  };
}

/** True if many records of a resource are newer than its last saved list. Within `read` or `write` only. */
export function isListDue(map: OrderedMap, resource: string, id: string): boolean {
  const { records } = lifeIn(map, keyOf("life", resource, id));
  return records >= recordsPerList && records >= map.count(...keysWithin("of", resource, id));
}

/** Saves the list of a resource after the record with this number, if it is due. Within `write` only. */
export function saveList(map: OrderedMap, resource: string, id: string, number: number): void {
  if (!isListDue(map, resource, id)) return;
  const key = keyOf("life", resource, id);
  const { at } = lifeIn(map, key);
  const entries = [...map.range<StoredEntry>(...keysWithin("of", resource, id))];
  map.put(keyOf("list", resource, id, digits(at), digits(number)), { number, entries } satisfies SavedList);
  map.put(key, { at, records: 0 } satisfies Life);
}
