import { createHash } from "node:crypto";

/** Maximum bytes of a name in a key. Four such names and their separators are less than any engine's limit for keys. */
const nameMaxBytes = 480;

/** A name as a part of a key. A longer name is replaced by its hash, with a first character that no name has. */
export function keyOfName(name: string): string {
  if (name.length <= nameMaxBytes / 4 || Buffer.byteLength(name) <= nameMaxBytes) return name;
  return `\u0001${createHash("sha256").update(name).digest("base64url")}`;
}
