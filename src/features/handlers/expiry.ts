import { millisecondsOf } from "../../values/instant.ts";

/** The expiry time in milliseconds since 1970 (UTC). */
export const expiryOf = (expires_at: string | undefined): number | undefined =>
  expires_at === undefined ? undefined : millisecondsOf(expires_at);

export const isPast = (expiry: number | undefined): boolean => expiry !== undefined && expiry <= Date.now();
