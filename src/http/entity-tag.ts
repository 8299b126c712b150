import { hash } from "node:crypto";

/** The strong tag of a body (RFC 9110, section 8.8.3): the same for the same bytes, and for no others. */
export const entityTag = (body: string | Buffer): string => `"${hash("sha256", body, "base64url")}"`;

/** Whether the header If-Match names this tag, or `*`. Weak tags do not count. */
export function isMatched(ifMatch: string, tag: string): boolean {
  const named: string[] = ifMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return ifMatch.trim() === "*" || named.includes(tag);
}
