import type { Details, ResourceType } from "./event.ts";

/** An event from which values of a row come. Its columns decide which of two values is newer. */
export type Source = [timestamp: string, event_type: string, resource_type: ResourceType];

/** The columns of a row that the newest event with a value for them sets. */
export const sourcedColumns = ["type", "state", "service_id", "live", "parent"] as const;
export type SourcedColumn = (typeof sourcedColumns)[number];

/** The state that a row stores, besides its columns, so that any event can be folded into it. */
export interface FoldState {
  /** Number of events in the fold. */
  event_count: number;
  /** The newest `live` of the events themselves, without their details. */
  live: boolean | null;
  /** All accounts and all metadata keys that a payment's events have ever had, sorted. */
  accounts: string[];
  metadata_keys: string[];
  /** The events from which the values come, newest first. */
  sources: Source[];
  /** For each column its index in `sources`; -1 if no event has set it. */
  columns: Record<SourcedColumn, number>;
  /** For each member of the details, ordered by name, its index in `sources`. */
  members: number[];
}

/** The names of the members of details, in the order of `FoldState.members`. */
export const memberNames = (details: Details): string[] => Object.keys(details).sort();

/**
 * The fold state of a row; null if it is unknown. The previous release does not write `sources`, and older ones write
 * nothing but increase `event_count` of the row, so that the two counts differ.
 */
export const foldStateOf = (row: { event_count: number; folded: FoldState | null }): FoldState | null =>
  row.folded?.event_count === row.event_count && row.folded.sources ? row.folded : null;
