import { hash } from "node:crypto";

/** The strong entity tag of a body (RFC 9110, section 8.8.3), a hash of its bytes. */
export const entityTag = (body: string | Buffer): string => `"${hash("sha256", body, "base64url")}"`;

/** The mark of Apache, Caddy and Jetty in the tag of a body that they have compressed: `"TAG-gzip"`. */
const compressionMark = /--?(?:gzip|br|zstd|deflate)"$/;

const tagsIn = (ifMatch: string): string[] =>
  (ifMatch.match(/(?:W\/)?"[^"]*"/g) ?? []).map((tag) => tag.replace(compressionMark, '"'));

/** True if the header If-Match contains this tag or `*`. Weak tags do not match (RFC 9110, section 13.1.1). */
export const isMatched = (ifMatch: string, tag: string): boolean =>
  ifMatch.trim() === "*" || tagsIn(ifMatch).includes(tag);

/** True if the header If-Match contains this tag in its weak form, as a proxy sends it that has compressed the body. */
export const isWeakened = (ifMatch: string, tag: string): boolean => tagsIn(ifMatch).includes(`W/${tag}`);
