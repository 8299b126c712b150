import { epochMillisecondsOf } from "../../values/instant.ts";

/** The instant at which something expires, as milliseconds since 1970 (UTC). */
export const expiryOf = (expires_at: string | undefined): number | undefined =>
  expires_at === undefined ? undefined : epochMillisecondsOf(expires_at);

/** The text of an instant in UTC, to the millisecond. */
export const instantOf = (instant: number): string => new Date(instant).toISOString();

/** The member `expires_at` of something that expires; nothing if it does not. */
export const viewExpiry = (expiresAt: number | undefined) =>
  expiresAt === undefined ? {} : { expires_at: instantOf(expiresAt) };

export const isPast = (instant: number | undefined): boolean =>
  instant !== undefined && instant <= Date.now();
