import { keyOfName } from "../name-key.ts";
import type { Entry } from "../store.ts";
import type { StoredEntry } from "../stored-entry.ts";
import type { Range } from "./map.ts";

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
export const keysWithin = (...parts: string[]): Range => [
  keyOf(...parts) + separator,
  keyOf(...parts) + afterSeparator,
];

/** The range of the keys with these parts and then an instant up to `at`, inclusive. */
export const keysUpTo = (at: number, ...parts: string[]): Range => [
  keyOf(...parts) + separator,
  keyOf(...parts, digits(at + 1)),
];

/** A number as text that sorts like the number. */
export const digits = (number: number) => String(number).padStart(16, "0");

export const ofKey = ({ resource, id, feature }: StoredEntry) => keyOf("of", resource, id, feature);
export const withKey = ({ resource, id, feature }: Entry) => keyOf("with", resource, feature, id);

/** The keys under which an entry is stored: by resource, by feature, and by its expiry time if it has one. */
export const entryKeys = (entry: StoredEntry): string[] => {
  const { expiresAt, place } = entry;
  const byExpiry = expiresAt === undefined ? [] : [keyOf("due", digits(expiresAt), digits(place))];
  return [ofKey(entry), withKey(entry), ...byExpiry];
};
