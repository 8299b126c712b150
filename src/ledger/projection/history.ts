import type { Details, EventRow } from "../tables/event.ts";
import { lifeRank } from "./states.ts";

/** All that was told of one resource. */
export interface History {
  newestFirst: EventRow[];
  /** Of each member the newest value; members are replaced whole. */
  details: Details;
}

/** The history of each resource, by its external id; the order of the events does not matter. */
export function historiesOf(events: EventRow[]): Map<string, History> {
  const byResource = Map.groupBy(events, (event) => event.resource_external_id);
  return new Map([...byResource].map(([id, own]) => [id, readHistory(own)]));
}

function readHistory(events: EventRow[]): History {
  const newestFirst = events.toSorted(compareNewestFirst);
  const members = newestFirst.toReversed().flatMap(({ event_details }) => Object.entries(event_details));
  return { newestFirst, details: Object.fromEntries(members) };
}

/**
 * Newest first by the event's own time. At the same time the type that comes later in a resource's life is newer, then
 * the names decide: nothing here depends on when an event arrived.
 */
export function compareNewestFirst(a: EventRow, b: EventRow): number {
  return (
    compare(b.timestamp, a.timestamp) ||
    lifeRank(b.event_type) - lifeRank(a.event_type) ||
    compare(b.event_type, a.event_type) ||
    compare(b.resource_type, a.resource_type) ||
    compare(b.resource_external_id, a.resource_external_id)
  );
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** What every kind of resource takes from its events in the same way. */
export const commonColumns = ({ newestFirst }: History) => ({
  service_id: firstOf(newestFirst, (event) => event.service_id || undefined) ?? null,
  live: firstOf(newestFirst, (event) => event.live ?? undefined) ?? null,
  created_date: newestFirst.at(-1)?.timestamp ?? "",
  event_count: newestFirst.length,
});

/** The first value that is read from any of the events. */
export function firstOf<Value>(
  newestFirst: EventRow[],
  read: (event: EventRow) => Value | undefined,
): Value | undefined {
  for (const event of newestFirst) {
    const value = read(event);
    if (value !== undefined) return value;
  }
  return undefined;
}
