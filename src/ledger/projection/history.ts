import type { Details, EventRow, Since } from "../tables/event.ts";
import { type FoldState, foldStateOf } from "../tables/fold-state.ts";
import { textOf } from "./details.ts";
import { metadataOf } from "./metadata.ts";
import { lifeCyclePosition } from "./states.ts";

/** The columns that rows of every resource type have from their events. */
export interface FoldedRow<State> {
  service_id: string | null;
  state: State | "UNDEFINED";
  created_date: string;
  event_count: number;
  /** The newest value of each member. Members are replaced, not merged. */
  details: Details;
  folded: FoldState | null;
}

/** A row into which events are folded, and how many of these events are new. */
export interface Base<Row> {
  row: Row;
  added: number;
}

/** Rows by external id. */
export type Bases<Row> = ReadonlyMap<string, Base<Row>>;

/** The columns that are folded alike for every resource type. */
interface Common<State> extends FoldedRow<State> {
  newestFirst: EventRow[];
  gateway_account_id: string | null;
  live: boolean | null;
  folded: FoldState;
}

/**
 * Folds the events of one resource, in any order, into its row or into nothing. The events must be all events from some
 * instant on: their values are newer than those of the row, and the row has the newest of the earlier values. Events that
 * the row already contains have no effect.
 */
export function foldCommon<State>(
  events: EventRow[],
  stateSetBy: (eventType: string) => State | undefined,
  base?: Base<FoldedRow<State>>,
): Common<State> {
  const newestFirst = events.toSorted(compareNewestFirst);
  const row = base?.row;
  const state = row && foldStateOf(row);
  const oldestFirst = [row?.details ?? {}, ...newestFirst.toReversed().map((event) => event.event_details)];
  const details: Details = Object.fromEntries(oldestFirst.flatMap((part) => Object.entries(part)));
  const oldest = newestFirst.at(-1)?.timestamp ?? "";
  const event_count = base ? base.row.event_count + base.added : events.length;
  const live = firstOf(newestFirst, (event) => event.live ?? undefined) ?? state?.live ?? null;
  const ofPayment = events.filter(({ resource_type }) => resource_type === "payment");
  const accounts = ofPayment.flatMap((event) => textOf(event.event_details, "gateway_account_id") ?? []);
  const metadataKeys = ofPayment.flatMap(({ event_details }) => Object.keys(metadataOf(event_details)));
  return {
    newestFirst,
    gateway_account_id: textOf(details, "gateway_account_id") ?? null,
    service_id: firstOf(newestFirst, (event) => event.service_id || undefined) ?? row?.service_id ?? null,
    live,
    state: firstOf(newestFirst, (event) => stateSetBy(event.event_type)) ?? row?.state ?? "UNDEFINED",
    created_date: row && row.created_date < oldest ? row.created_date : oldest,
    event_count,
    details,
    folded: {
      event_count,
      timestamp: newestFirst[0]?.timestamp ?? "",
      live,
      accounts: union(state?.accounts, accounts),
      metadata_keys: union(state?.metadata_keys, metadataKeys),
    },
  };
}

const union = (known: string[] = [], added: string[]) => [...new Set([...known, ...added])].sort();

/**
 * Plans the fold of added events: the rows into which they are folded, the events that are known, and the resources whose
 * events must be read, with the first instant. Nothing must be read for added events that are newer than every event of
 * the row, or that are all events of a resource without a row, of which `withoutRow` has the count.
 */
export function planFold<Row extends FoldedRow<unknown>>(
  ids: Iterable<string>,
  added: EventRow[],
  rows: ReadonlyMap<string, Row>,
  withoutRow: ReadonlyMap<string, number | null>,
): { bases: Bases<Row>; known: EventRow[]; missing: Since[] } {
  const byResource = Map.groupBy(added, (event) => event.resource_external_id);
  const bases = new Map<string, Base<Row>>();
  const known: EventRow[] = [];
  const missing: Since[] = [];
  for (const id of ids) {
    const own = byResource.get(id) ?? [];
    const [oldest] = own.map(({ timestamp }) => timestamp).sort();
    const row = rows.get(id);
    const folded = row && foldStateOf(row);
    if (row && folded && oldest !== undefined) {
      bases.set(id, { row, added: own.length });
      if (oldest > folded.timestamp) known.push(...own);
      else missing.push({ id, since: oldest });
    } else if (withoutRow.get(id) === own.length) known.push(...own);
    else missing.push({ id, since: "-infinity" });
  }
  return { bases, known, missing };
}

/**
 * Orders events newest first, as `x-state-machine` in the contract states: by timestamp, then by the position of the type in
 * the life cycle, then by names. The order of arrival has no effect.
 */
export function compareNewestFirst(a: EventRow, b: EventRow): number {
  return (
    compare(b.timestamp, a.timestamp) ||
    lifeCyclePosition(b.event_type) - lifeCyclePosition(a.event_type) ||
    compare(b.event_type, a.event_type) ||
    compare(b.resource_type, a.resource_type) ||
    compare(b.resource_external_id, a.resource_external_id)
  );
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The first value that `read` returns for an event. */
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
