import { keyOfName } from "../name-key.ts";
import type { Entry } from "../store.ts";
import type { StoredEntry } from "../stored-entry.ts";

/** Names contain no control characters, so neither character can be part of a name. */
const separator = "\t";
const afterSeparator = "\n";

/** The key with these parts, the first of which is its kind. */
export function keyOf(...parts: string[]): string {
  let key = "";
  for (const part of parts) key += key === "" ? part : separator + keyOfName(part);
  return key;
}

/** The range of all keys that begin with these parts. */
export const keysWithin = (...parts: string[]): [start: string, end: string] => [
  keyOf(...parts) + separator,
  keyOf(...parts) + afterSeparator,
];

/** The range of the keys of a kind up to a time in milliseconds, inclusive. */
export const keysUpTo = (kind: string, time: number): [start: string, end: string] => [
  keyOf(kind, ""),
  keyOf(kind, digits(time + 1)),
];

/** A number as text that sorts like the number. */
export const digits = (number: number) => String(number).padStart(16, "0");

/** The smallest key after a key. */
export const keyAfter = (key: string) => `${key}\u0000`;

export const ofKey = ({ resource, id, feature }: StoredEntry) => keyOf("of", resource, id, feature);
export const withKey = ({ resource, id, feature }: Entry) => keyOf("with", resource, feature, id);

/** The keys under which an entry is stored: by resource, by feature, and by expiry time if it has one. */
export const entryKeys = (entry: StoredEntry): string[] => {
  const { expiresAt, place } = entry;
  const byExpiry = expiresAt === undefined ? [] : [keyOf("due", digits(expiresAt), digits(place))];
  return [ofKey(entry), withKey(entry), ...byExpiry];
};
