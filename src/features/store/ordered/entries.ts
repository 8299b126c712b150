import { isDeepStrictEqual } from "node:util";
import {
  type ChangeOutcome,
  type ChangeRequest,
  type Entry,
  type FeatureChange,
  featuresMax,
} from "../store.ts";
import { isLive, liveInOrder, type StoredEntry } from "../stored-entry.ts";
import type { Append, ChangeLog } from "./change-log.ts";
import { entryKeys, keyOf, keysWithin } from "./keys.ts";
import type { OrderedMap } from "./map.ts";
import type { Uses } from "./uses.ts";

/** Maximum number of expiries in one transaction. */
export const expiriesPerWrite = 200;

/** The contents of a store in an ordered map: its entries, their change log, and the counts of their uses. */
export interface Contents {
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
export function changeEntries(contents: Contents, request: ChangeRequest): ChangeOutcome | undefined {
  const { map, log } = contents;
  const [resource, id, changes, onlyIf] = request;
  if (onlyIf) {
    const live = liveInOrder([...map.range<StoredEntry>(...keysWithin("of", resource, id))]);
    const features = live.map(({ feature }) => feature);
    if (!isDeepStrictEqual(features, onlyIf)) return { rejected: "list differs" };
  }
  const hasRoom = makeRoom(contents, request);
  if (hasRoom === undefined) return undefined;
  if (!hasRoom) return { rejected: "too many features" };
  const had = log.write((append) => changes.map((change) => make(contents, append, resource, id, change)));
  return { had };
}

/** Removes entries that have expired, and records their expiry. Within `write` only. */
export function expireEntries(contents: Contents, expired: StoredEntry[]): void {
  contents.log.write((log) => {
    for (const entry of expired) drop(contents, log, entry, "expired");
  });
}

/** Makes a change. Returns true if the resource had the feature. */
function make(contents: Contents, log: Append, resource: string, id: string, change: FeatureChange) {
  const { map, uses } = contents;
  const { type, feature } = change;
  let entry = storedIn(map, resource, id, feature);
  if (entry && !isLive(entry)) {
    drop(contents, log, entry, "expired");
    entry = undefined;
  }
  if (type === "remove") {
    if (entry) drop(contents, log, entry, "removed");
    return entry !== undefined;
  }
  const { expiresAt } = change;
  if (entry && entry.expiresAt === expiresAt) return true;
  const at = log.instantOf(resource, id);
  if (entry) remove(contents, entry);
  const added: Entry = { resource, id, feature, ...(expiresAt !== undefined && { expiresAt }) };
  const number = log.append({ type: "added", at, ...added });
  const next: StoredEntry = { ...added, place: entry?.place ?? number };
  for (const key of entryKeys(next)) map.put(key, next);
  uses.stored(next);
  return entry !== undefined;
}

function remove({ map, uses }: Contents, entry: StoredEntry): void {
  for (const key of entryKeys(entry)) map.remove(key);
  uses.removed(entry);
}

function drop(contents: Contents, log: Append, entry: StoredEntry, type: "removed" | "expired"): void {
  const { resource, id, feature, expiresAt } = entry;
  remove(contents, entry);
  const at = type === "expired" ? (expiresAt as number) : log.instantOf(resource, id);
  log.append({ type, at, resource, id, feature });
}

/**
 * Removes what has expired of a resource that may get too many features. Returns whether it has room for the changes;
 * undefined if more may have expired.
 */
function makeRoom(contents: Contents, [resource, id, changes, onlyIf]: ChangeRequest): boolean | undefined {
  const { map } = contents;
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
  expireEntries(contents, expired);
  return expired.length === expiriesPerWrite ? undefined : true;
}
