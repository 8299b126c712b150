import type { Caller } from "./security.ts";

/** Who a caller is, for records of accesses. */
export interface Identity {
  /** The claim `sub`. */
  subject: string | null;
  /** The claim `client_id` (RFC 9068) or, of an OpenID provider, `azp`. */
  client: string | null;
}

const textMax = 255;

export function identityOf({ claims }: Pick<Caller, "claims">): Identity {
  const identity = identities.get(claims) ?? {
    subject: textOf(claims.sub),
    client: textOf(claims.client_id ?? claims.azp),
  };
  identities.set(claims, identity);
  return identity;
}

/** Of tokens that are in use. */
const identities = new WeakMap<Caller["claims"], Identity>();

/** A claim; null if it is no text. */
const textOf = (claim: unknown): string | null =>
  typeof claim === "string" ? storable(claim.slice(0, textMax)) || null : null;

/** A text that every database can store: one that it rejects would hold back all later records. */
export const storable = (text: string): string => text.replaceAll(/\p{Cc}/gu, "\ufffd").toWellFormed();
