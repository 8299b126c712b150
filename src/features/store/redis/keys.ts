import { crc32 } from "node:zlib";

/**
 * Keys are divided into parts. The keys of a part have its hash tag, so one server of a cluster has them all and a script
 * can change them atomically. These tags spread evenly over the slots of clusters of 2 to 16 masters.
 */
export const parts = Array.from({ length: 16 }, (_, part) => part);
export const tagOf = (part: number) => `{${part}/${parts.length}}`;

/** The part of a resource. Names contain no control characters, so a tab can separate them. */
export const partOf = (resource: string, id: string) => crc32(`${resource}\t${id}`) % parts.length;

const prefixes = parts.map((part) => `features:${tagOf(part)}:`);

/** Names are percent-encoded: an encoded name contains neither a separator nor the braces of a hash tag. */
const suffixOf = (kind: string, names: string[]): string =>
  names.length === 0 ? kind : `${kind}:${names.map(encodeURIComponent).join("/")}`;

export const keyOf = (part: number, kind: string, ...names: string[]): string =>
  `${prefixes[part]}${suffixOf(kind, names)}`;

/** The keys of some parts. */
export function keysOf(some: number[], kind: string, ...names: string[]): string[] {
  const suffix = suffixOf(kind, names);
  return some.map((part) => `${prefixes[part]}${suffix}`);
}

/** The names in a key. */
export const namesIn = (key: string) => key.split(":").at(-1)?.split("/").map(decodeURIComponent);

/** The fields and values of a hash or a stream entry. */
export const pairs = (fields: string[]) =>
  Array.from(
    { length: fields.length / 2 },
    (_, index) => fields.slice(2 * index, 2 * index + 2) as [string, string],
  );

/** The value of a feature in the hash of its resource. */
export function readEntry(value: string): { place: number; expiresAt?: number } {
  const [place, expiresAt] = value.split(" ");
  return { place: Number(place), ...(expiresAt && { expiresAt: Number(expiresAt) }) };
}

/** The name and the expiry time in a member of a sorted set; a \0 is between them. */
export function readMember(member: string): { name: string; expiresAt?: number } {
  const end = member.indexOf("\0");
  return end < 0
    ? { name: member }
    : { name: member.slice(0, end), expiresAt: Number(member.slice(end + 1)) };
}

/** Sorts after every member with the name, since names contain no control characters. */
export const afterName = (name: string) => `${name}\u0001`;
