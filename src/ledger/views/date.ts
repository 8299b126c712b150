import { instantOf } from "../projection/details.ts";
import type { Details } from "../tables/event.ts";

/** From microseconds to milliseconds, truncated. */
export const viewMilliseconds = (instant: string): string => `${instant.slice(0, 23)}Z`;

/** The day of an instant (UTC). */
export const viewDay = (instant: string): string => instant.slice(0, 10);

/** An instant of a producer in UTC, to the millisecond; undefined if it is not an instant. */
export function viewProducerInstant(details: Details, name: keyof Details): string | undefined {
  const instant = instantOf(details, name);
  return instant && viewMilliseconds(instant);
}

/** The day of an instant of a producer, at its own UTC offset; undefined if it is not an instant. */
export const viewProducerDay = (details: Details, name: keyof Details): string | undefined =>
  instantOf(details, name) && viewDay(details[name] as string);
