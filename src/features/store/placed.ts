import type { Entry } from "./store.ts";

/** An entry with its place among those of its resource: the number of the change that added it. */
export interface Placed extends Entry {
  place: number;
}

export const isLive = ({ expiresAt }: { expiresAt?: number | undefined }): boolean =>
  expiresAt === undefined || expiresAt > Date.now();

/** Those of a resource that have not expired, in the order of adding. */
export const inOrder = (entries: Placed[]): Placed[] =>
  entries.filter(isLive).sort((one, other) => one.place - other.place);

export const withoutPlace = ({ place: _, ...entry }: Placed): Entry => entry;
