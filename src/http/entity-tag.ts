import { hash } from "node:crypto";

/** The strong entity tag of a body (RFC 9110, section 8.8.3), a hash of its bytes. */
export const entityTag = (body: string | Buffer): string => `"${hash("sha256", body, "base64url")}"`;

/** True if the header If-Match contains this tag or `*`. Weak tags do not match. */
export function isMatched(ifMatch: string, tag: string): boolean {
  const named: string[] = ifMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return ifMatch.trim() === "*" || named.includes(tag);
}
