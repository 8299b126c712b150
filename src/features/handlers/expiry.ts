import { millisecondsOf } from "../../values/instant.ts";

/** When a feature is to expire, in milliseconds since 1970 (UTC), if it is. */
export const expiryOf = (expires_at: string | undefined): number | undefined =>
  expires_at === undefined ? undefined : millisecondsOf(expires_at);

export const isPast = (expiry: number | undefined): boolean => expiry !== undefined && expiry <= Date.now();
