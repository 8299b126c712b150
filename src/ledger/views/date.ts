/** From microseconds to milliseconds, truncated. */
export const viewMilliseconds = (instant: string): string => `${instant.slice(0, 23)}Z`;

/** The day of an instant (UTC). */
export const viewDay = (instant: string): string => instant.slice(0, 10);
