import type { ChangeRecord } from "./store.ts";
import { liveInOrder, type StoredEntry } from "./stored-entry.ts";

/** A change record with its number in the feed. */
export interface NumberedRecord {
  number: number;
  record: ChangeRecord;
}

/**
 * The entries of a resource at an instant in milliseconds since 1970 (UTC), oldest first: those of an earlier state,
 * changed by the records after it up to the first one that is later than the instant.
 */
export function foldHistory(earlier: StoredEntry[], records: Iterable<NumberedRecord>, at: number) {
  const entries = new Map(earlier.map((entry) => [entry.feature, entry]));
  for (const { number, record } of records) {
    if (record.at > at) break;
    const { type, resource, id, feature, expiresAt } = record;
    const place = entries.get(feature)?.place ?? number;
    if (type === "added") entries.set(feature, { resource, id, feature, expiresAt, place });
    else entries.delete(feature);
  }
  return liveInOrder([...entries.values()], at);
}
