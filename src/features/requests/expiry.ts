import { epochMillisecondsOf } from "../../values/instant.ts";

/** The expiry time in milliseconds since 1970 (UTC). */
export const expiryOf = (expires_at: string | undefined): number | undefined =>
  expires_at === undefined ? undefined : epochMillisecondsOf(expires_at);

/** A time in milliseconds since 1970 as an instant in UTC, to the millisecond. */
export const instantOf = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** The member `expires_at` of something that expires; nothing if it does not. */
export const viewExpiry = (expiresAt: number | undefined) =>
  expiresAt === undefined ? {} : { expires_at: instantOf(expiresAt) };

export const isPast = (expiry: number | undefined): boolean => expiry !== undefined && expiry <= Date.now();
