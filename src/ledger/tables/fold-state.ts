import type { Details, ResourceType } from "./event.ts";

/** An event from which values of a row come. Its columns decide which of two values is newer. */
export type Source = [timestamp: string, event_type: string, resource_type: ResourceType];

/** A value with the event from which it comes. */
export interface Sourced<Value = unknown> {
  value: Value;
  source: Source;
}

/** The columns of a row that the newest event with a value for them sets. */
export const sourcedColumns = ["type", "state", "service_id", "live", "parent"] as const;
export type SourcedColumn = (typeof sourcedColumns)[number];

/** The columns that the rows of every resource have from its events. */
export interface ResourceRow {
  service_id: string | null;
  /** UTC, six fraction digits. */
  created_date: string;
  event_count: number;
  /** The newest value of each member. Members are replaced, not merged. */
  details: Details;
  folded: StoredFoldState | null;
}

/** The columns of resources that belong to an account, too. */
export interface AccountResourceRow extends ResourceRow {
  gateway_account_id: string | null;
  live: boolean | null;
}

/** The state of a fold, besides the columns of its row, so that any event can be folded into it. */
export interface FoldState extends Common {
  /** The events from which the values come, newest first. */
  sources: Source[];
  /** For each of the `sourcedColumns`, then for each member of the details, its index in `sources`; -1 if no event has set it. */
  places: number[];
}

interface Common {
  /** Number of events in the fold. */
  event_count: number;
  /** The newest `live` of the events themselves, without their details. */
  live: boolean | null;
  /** All accounts and all metadata keys that a payment's events have ever had, sorted. */
  accounts: string[];
  metadata_keys: string[];
  /** The newest account that an event names beside its details. It is that of the resource if no details name one. */
  account_beside?: Sourced<string>;
}

/**
 * A fold state as it is stored. The values of a source, and all places, are one text each, with spaces between them: each
 * number of a JSON array would take 12 bytes in PostgreSQL, and all of them together a quarter of the row.
 */
export interface StoredFoldState extends Common {
  /** Timestamp, resource type and event type of each source. Only the last can have a space. */
  origins: string[];
  places: string;
}

/** The names of the members of details, in the order of `FoldState.places`. */
export const memberNames = (details: Details): string[] => Object.keys(details).sort();

export const storedFoldState = ({ sources, places, ...common }: FoldState): StoredFoldState => ({
  ...common,
  origins: sources.map(([timestamp, eventType, resourceType]) => `${timestamp} ${resourceType} ${eventType}`),
  places: places.join(" "),
});

/**
 * The fold state of a row; null if it is unknown. The previous release does not write `origins`, and older ones write
 * nothing but increase `event_count` of the row, so that the two counts differ.
 */
export function foldStateOf(row: Pick<ResourceRow, "event_count" | "folded">): FoldState | null {
  if (row.folded?.event_count !== row.event_count || !row.folded.origins) return null;
  const { origins, places, ...common } = row.folded;
  return { ...common, sources: origins.map(sourceOf), places: places.split(" ").map(Number) };
}

function sourceOf(origin: string): Source {
  const [timestamp, resource_type, ...event_type] = origin.split(" ");
  return [timestamp as string, event_type.join(" "), resource_type as ResourceType];
}
