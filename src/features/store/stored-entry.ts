import type { Entry } from "./store.ts";

/** An entry with its position among those of its resource: the number of the change that added it. */
export interface StoredEntry extends Entry {
  place: number;
}

/** True if it has not expired at an instant in milliseconds since 1970 (UTC). */
export const isLiveAt = (at: number, { expiresAt }: { expiresAt?: number | undefined }): boolean =>
  expiresAt === undefined || expiresAt > at;

export const isLive = ({ expiresAt }: { expiresAt?: number | undefined }): boolean =>
  expiresAt === undefined || expiresAt > Date.now();

/** The entries of a resource that have not expired at an instant, oldest first. */
export const liveInOrder = (entries: StoredEntry[], at = Date.now()): StoredEntry[] =>
  entries.filter((entry) => isLiveAt(at, entry)).sort((one, other) => one.place - other.place);

/** A copy, which its reader may change. */
export const withoutPlace = ({ resource, id, feature, expiresAt }: StoredEntry): Entry =>
  expiresAt === undefined ? { resource, id, feature } : { resource, id, feature, expiresAt };
