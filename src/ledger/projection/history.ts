import type { Details, EventRow, Since } from "../tables/event.ts";
import { type Folded, foldedOf } from "../tables/folded.ts";
import { textOf } from "./details.ts";
import { metadataOf } from "./metadata.ts";
import { lifeRank } from "./states.ts";

/** What a row keeps of its events in the same way, of whatever kind the resource is. */
export interface Kept<State> {
  service_id: string | null;
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

/** The columns that every kind of resource takes from its events in the same way. */
interface Common<State> extends Kept<State> {
  newestFirst: EventRow[];
  gateway_account_id: string | null;
  live: boolean | null;
  folded: Folded;
}

/**
 * Folds the events of one resource, in any order, onto its kept row, or onto nothing. They must be all that there are from
 * some instant on: so what they have is newer than all the rest, and of what they do not have the row has the newest.
 * Those that are in the row already make no difference.
 */
export function foldCommon<State>(
  events: EventRow[],
  stateSetBy: (eventType: string) => State | undefined,
  base?: Base<Kept<State>>,
): Common<State> {
  const newestFirst = events.toSorted(compareNewestFirst);
  const kept = base?.row;
  const keptFold = kept && foldedOf(kept);
  const oldestFirst = [kept?.details ?? {}, ...newestFirst.toReversed().map((event) => event.event_details)];
  const details: Details = Object.fromEntries(oldestFirst.flatMap((part) => Object.entries(part)));
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

const union = (kept: string[] = [], added: string[]) => [...new Set([...kept, ...added])].sort();

/**
 * How the folds of these resources go on with the events that were added: onto which rows, with which of the events that
 * are at hand, and from when on other resources' events have to be read. None have to be when the added ones are newer
 * than any in the row, or all that there are of a resource without a row: `withoutRow` counts those.
 */
export function goingOn<Row extends Kept<unknown>>(
  ids: Iterable<string>,
  added: EventRow[],
  kept: ReadonlyMap<string, Row>,
  withoutRow: ReadonlyMap<string, number | null>,
): { bases: Bases<Row>; atHand: EventRow[]; toRead: Since[] } {
  const byResource = Map.groupBy(added, (event) => event.resource_external_id);
  const bases = new Map<string, Base<Row>>();
  const atHand: EventRow[] = [];
  const toRead: Since[] = [];
  for (const id of ids) {
    const own = byResource.get(id) ?? [];
    const [oldest] = own.map(({ timestamp }) => timestamp).sort();
    const row = kept.get(id);
    const folded = row && foldedOf(row);
    if (row && folded && oldest !== undefined) {
      bases.set(id, { row, added: own.length });
      if (oldest > folded.timestamp) atHand.push(...own);
      else toRead.push({ id, since: oldest });
    } else if (withoutRow.get(id) === own.length) atHand.push(...own);
    else toRead.push({ id, since: "-infinity" });
  }
  return { bases, atHand, toRead };
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
