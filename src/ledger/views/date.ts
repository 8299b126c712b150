import { readInstant } from "../../service/instant.ts";

/** From microseconds to milliseconds, cut off, not rounded. */
export const viewMilliseconds = (instant: string): string => `${instant.slice(0, 23)}Z`;

/** Milliseconds of an instant that a producer wrote; undefined when it is none. */
export function viewProducerInstant(value: unknown): string | undefined {
  const instant = typeof value === "string" ? readInstant(value) : undefined;
  return instant === undefined ? undefined : viewMilliseconds(instant);
}

/** The day of an instant that a producer wrote, in the zone it was written in; undefined when it is none. */
export const viewProducerDay = (value: unknown): string | undefined =>
  viewProducerInstant(value) === undefined ? undefined : (value as string).slice(0, 10);
