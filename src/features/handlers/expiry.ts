import { millisecondsOf } from "../../values/instant.ts";

/** The expiry time in milliseconds since 1970 (UTC). */
export const expiryOf = (expires_at: string | undefined): number | undefined =>
  expires_at === undefined ? undefined : millisecondsOf(expires_at);

/** A time in milliseconds since 1970 as an instant in UTC, to the millisecond. */
export const instantOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

export const isPast = (expiry: number | undefined): boolean => expiry !== undefined && expiry <= Date.now();
