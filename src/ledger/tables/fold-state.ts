/** The state that a row stores, besides its columns, so that newer events can be folded into it. */
export interface FoldState {
  /** Number of events in the fold. */
  event_count: number;
  /** Timestamp of the newest of them: UTC, six fraction digits. */
  timestamp: string;
  /** The newest `live` of the events themselves, without their details. */
  live: boolean | null;
  /** All accounts and all metadata keys that a payment's events have ever had, sorted. */
  accounts: string[];
  metadata_keys: string[];
}

/**
 * The fold state of a row; null if it is unknown. An older version of the ledger does not write it, but increases
 * `event_count` of the row, so the two counts differ.
 */
export const foldStateOf = (row: { event_count: number; folded: FoldState | null }): FoldState | null =>
  row.folded?.event_count === row.event_count ? row.folded : null;
