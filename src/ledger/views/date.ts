import { instantOf } from "../projection/details.ts";
import type { Details } from "../tables/event.ts";

/** From microseconds to milliseconds, cut off, not rounded. */
export const viewMilliseconds = (instant: string): string => `${instant.slice(0, 23)}Z`;

/** The day of an instant in UTC. */
export const viewDay = (instant: string): string => instant.slice(0, 10);

/** Milliseconds of an instant that a producer wrote; undefined when it is none. */
export function viewProducerInstant(details: Details, name: keyof Details): string | undefined {
  const instant = instantOf(details, name);
  return instant && viewMilliseconds(instant);
}

/** The day of an instant that a producer wrote, in the zone it was written in; undefined when it is none. */
export const viewProducerDay = (details: Details, name: keyof Details): string | undefined =>
  instantOf(details, name) && viewDay(details[name] as string);
