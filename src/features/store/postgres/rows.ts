import { keyOfName } from "../name-key.ts";
import type { ChangeRecord, Entry } from "../store.ts";
import type { StoredEntry } from "../stored-entry.ts";

interface KeyColumns {
  resource: string;
  id: string;
  feature: string;
  /** The names of an entry in order, if one of them is only a hash in its key. */
  names: [resource: string, id: string, feature: string] | null;
}

/** A row of the table `feature`. */
export interface FeatureRow extends KeyColumns {
  place: bigint;
  expires_at: bigint | null;
}

/** A row of the table `change`. */
export interface ChangeRow extends KeyColumns {
  number: bigint;
  type: ChangeRecord["type"];
  at: bigint;
  expires_at: bigint | null;
}

export const featureColumns = "resource, id, feature, names, place, expires_at";
export const changeColumns = "number, type, at, resource, id, feature, names, expires_at";

/** The condition for rows that have not expired at an instant, which is an SQL expression. */
export const isLiveCondition = (now: string) => `(expires_at is null or expires_at > ${now})`;

/**
 * The key of a name in a cursor, which can be any text. PostgreSQL stores no character 0, and no name has one: what follows
 * it in a cursor decides nothing.
 */
export const keyOfPosition = (name = ""): string => keyOfName(name.split("\0", 1)[0] as string);

/** The expiry time of an entry or a record, from its column. */
export const expiryIn = (instant: bigint | null) => (instant === null ? {} : { expiresAt: Number(instant) });

function namesIn({ resource, id, feature, names }: KeyColumns): Pick<Entry, "resource" | "id" | "feature"> {
  if (!names) return { resource, id, feature };
  return { resource: names[0], id: names[1], feature: names[2] };
}

export const entryIn = (row: FeatureRow): StoredEntry => ({
  ...namesIn(row),
  place: Number(row.place),
  ...expiryIn(row.expires_at),
});

export const recordIn = (row: ChangeRow): ChangeRecord => ({
  type: row.type,
  at: Number(row.at),
  ...namesIn(row),
  ...expiryIn(row.expires_at),
});
