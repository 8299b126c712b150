import { isDeepStrictEqual } from "node:util";
import { type ChangeOutcome, type Entry, type FeatureChange, featuresMax } from "../store.ts";
import { isLive, liveInOrder, type StoredEntry } from "../stored-entry.ts";
import type { Append, ChangeLog } from "./change-log.ts";
import { entryKeys, keyOf, keysWithin } from "./keys.ts";
import type { OrderedMap } from "./map.ts";
import type { Uses } from "./uses.ts";

/** Maximum number of expiries in one transaction. */
export const expiriesPerWrite = 200;

/** The parts of an ordered store. */
export interface Parts {
  map: OrderedMap;
  log: ChangeLog;
  uses: Uses;
}

const storedIn = (map: OrderedMap, resource: string, id: string, feature: string) =>
  map.get<StoredEntry>(keyOf("of", resource, id, feature));

/** True if the resource has the feature. Within `read` or `write` only. */
export function hasFeature(map: OrderedMap, resource: string, id: string, feature: string): boolean {
  const entry = storedIn(map, resource, id, feature);
  return entry !== undefined && isLive(entry);
}

/**
 * See `Features.change`. Returns undefined if it must be called again in another transaction, since more may have expired
 * than one transaction removes. Within `write` only.
 */
export function changeEntries(
  parts: Parts,
  resource: string,
  id: string,
  changes: FeatureChange[],
  onlyIf: string[] | undefined,
): ChangeOutcome | undefined {
  const { map, log } = parts;
  if (onlyIf) {
    const live = liveInOrder([...map.range<StoredEntry>(...keysWithin("of", resource, id))]);
    const features = live.map(({ feature }) => feature);
    if (!isDeepStrictEqual(features, onlyIf)) return { rejected: "list differs" };
  }
  const hasRoom = makeRoom(parts, resource, id, changes, onlyIf);
  if (hasRoom === undefined) return undefined;
  if (!hasRoom) return { rejected: "too many features" };
  return {
    had: log.write((appender) => changes.map((change) => make(parts, appender, resource, id, change))),
  };
}

/** Removes entries that have expired, and records their expiry. Within `write` only. */
export function expireEntries(parts: Parts, expired: StoredEntry[]): void {
  parts.log.write((appender) => {
    for (const entry of expired) dropExpired(parts, appender, entry);
  });
}

/** Makes a change. Returns whether the resource had the feature. */
function make(parts: Parts, appender: Append, resource: string, id: string, change: FeatureChange): boolean {
  const { map, uses } = parts;
  const { type, feature } = change;
  let entry = storedIn(map, resource, id, feature);
  if (entry && !isLive(entry)) {
    dropExpired(parts, appender, entry);
    entry = undefined;
  }
  const at = appender.instantOf(resource, id);
  if (type === "remove") {
    if (entry) drop(parts, appender, entry, "removed", at);
    return entry !== undefined;
  }
  const { expiresAt } = change;
  if (entry && entry.expiresAt === expiresAt) return true;
  if (entry) remove(parts, entry);
  const added: Entry = { resource, id, feature, ...(expiresAt !== undefined && { expiresAt }) };
  const number = appender.append({ type: "added", at, ...added });
  const next: StoredEntry = { ...added, place: entry?.place ?? number };
  for (const key of entryKeys(next)) map.put(key, next);
  uses.stored(next);
  return entry !== undefined;
}

function remove({ map, uses }: Parts, entry: StoredEntry): void {
  for (const key of entryKeys(entry)) map.remove(key);
  uses.removed(entry);
}

function drop(parts: Parts, log: Append, entry: StoredEntry, type: "removed" | "expired", at: number): void {
  remove(parts, entry);
  const { resource, id, feature } = entry;
  log.append({ type, at, resource, id, feature });
}

const dropExpired = (parts: Parts, log: Append, entry: StoredEntry) =>
  drop(parts, log, entry, "expired", entry.expiresAt as number);

/**
 * Removes what has expired of a resource that may get too many features. Returns whether it has room for the changes;
 * undefined if more may have expired.
 */
function makeRoom(
  parts: Parts,
  resource: string,
  id: string,
  changes: FeatureChange[],
  onlyIf: string[] | undefined,
): boolean | undefined {
  const { map } = parts;
  const range = keysWithin("of", resource, id);
  const additions = changes.filter(({ type }) => type === "add").length;
  if (additions === 0 || map.count(...range) + additions <= featuresMax) return true;
  const present = onlyIf && new Set(onlyIf);
  const last = new Map(changes.map(({ type, feature }) => [feature, type]));
  /** By how many features the changes lengthen the list. */
  let growth = 0;
  for (const [feature, type] of last) {
    const isPresent = present?.has(feature) ?? hasFeature(map, resource, id, feature);
    growth += Number(type === "add") - Number(isPresent);
  }
  if (growth <= 0) return true;
  const expired: StoredEntry[] = [];
  let live = 0;
  for (const entry of map.range<StoredEntry>(...range)) {
    if (isLive(entry)) live += 1;
    else expired.push(entry);
    if (live + growth > featuresMax || expired.length === expiriesPerWrite) break;
  }
  if (live + growth > featuresMax) return false;
  expireEntries(parts, expired);
  return expired.length === expiriesPerWrite ? undefined : true;
}
