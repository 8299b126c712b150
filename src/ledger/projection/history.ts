import type { Details, EventRow, Since } from "../tables/event.ts";
import { type Folded, foldedOf } from "../tables/folded.ts";
import { textOf } from "./details.ts";
import { metadataOf } from "./metadata.ts";
import { lifeRank } from "./states.ts";

/** The columns that every kind of resource takes from its events in the same way. */
export interface CommonColumns<State> {
  gateway_account_id: string | null;
  service_id: string | null;
  live: boolean | null;
  state: State | "UNDEFINED";
  created_date: string;
  event_count: number;
  /** Of each member the newest value; members are replaced whole. */
  details: Details;
  folded: Folded | null;
}

/** A kept row whose fold goes on, and how many of the events it goes on with are not in the row yet. */
export interface Base<Row> {
  row: Row;
  added: number;
}

/** By the external ids of resources. */
export type Bases<Row> = ReadonlyMap<string, Base<Row>>;

/**
 * Folds the events of one resource, in any order, onto its kept row, or onto nothing. They are all that there are from
 * some instant on: so what they tell is newer than all the rest, and of what they do not tell the row has the newest.
 * Those that are in the row already make no difference.
 */
export function foldCommon<State>(
  events: EventRow[],
  stateSetBy: (eventType: string) => State | undefined,
  base?: Base<CommonColumns<State>>,
): CommonColumns<State> & { newestFirst: EventRow[]; folded: Folded } {
  const newestFirst = events.toSorted(compareNewestFirst);
  const kept = base?.row;
  const keptFold = kept && foldedOf(kept);
  const oldestFirst = [kept?.details ?? {}, ...newestFirst.toReversed().map((event) => event.event_details)];
  const details: Details = Object.fromEntries(oldestFirst.flatMap((told) => Object.entries(told)));
  const oldest = newestFirst.at(-1)?.timestamp ?? "";
  const event_count = base ? base.row.event_count + base.added : events.length;
  const live = firstOf(newestFirst, (event) => event.live ?? undefined) ?? keptFold?.live ?? null;
  const ofPayment = events.filter(({ resource_type }) => resource_type === "payment");
  const accounts = ofPayment.flatMap((event) => textOf(event.event_details, "gateway_account_id") ?? []);
  const metadataKeys = ofPayment.flatMap(({ event_details }) => Object.keys(metadataOf(event_details)));
  return {
    newestFirst,
    gateway_account_id: textOf(details, "gateway_account_id") ?? null,
    service_id: firstOf(newestFirst, (event) => event.service_id || undefined) ?? kept?.service_id ?? null,
    live,
    state: firstOf(newestFirst, (event) => stateSetBy(event.event_type)) ?? kept?.state ?? "UNDEFINED",
    created_date: kept && kept.created_date < oldest ? kept.created_date : oldest,
    event_count,
    details,
    folded: {
      event_count,
      timestamp: newestFirst[0]?.timestamp ?? "",
      live,
      accounts: union(keptFold?.accounts, accounts),
      metadata_keys: union(keptFold?.metadata_keys, metadataKeys),
    },
  };
}

const union = (kept: string[] = [], told: string[]) => [...new Set([...kept, ...told])].sort();

/**
 * How the folds of these resources go on with the events that were added: the rows they go on from, the events that need
 * not be read, since they are newer than any in their row, and from when on the others have to be.
 */
export function goingOn<Row extends CommonColumns<unknown>>(
  ids: Iterable<string>,
  added: EventRow[],
  kept: ReadonlyMap<string, Row>,
): { bases: Bases<Row>; newer: EventRow[]; toRead: Since[] } {
  const byResource = Map.groupBy(added, (event) => event.resource_external_id);
  const bases = new Map<string, Base<Row>>();
  const newer: EventRow[] = [];
  const toRead: Since[] = [];
  for (const id of ids) {
    const own = byResource.get(id) ?? [];
    const row = kept.get(id);
    const folded = row && foldedOf(row);
    const [since] = own.map(({ timestamp }) => timestamp).sort();
    if (!row || !folded || since === undefined) {
      toRead.push({ id, since: "-infinity" });
      continue;
    }
    bases.set(id, { row, added: own.length });
    if (since > folded.timestamp) newer.push(...own);
    else toRead.push({ id, since });
  }
  return { bases, newer, toRead };
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
