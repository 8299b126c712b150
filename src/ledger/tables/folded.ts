/** What newer events are folded onto, beside the columns of the row that keeps it. */
export interface Folded {
  /** How many events it is of. */
  event_count: number;
  /** That of the newest of them: UTC, six fraction digits. */
  timestamp: string;
  /** The newest flag that the events carry themselves, their details aside. */
  live: boolean | null;
  /** All accounts that a payment's events ever named, and all metadata keys that they ever had, sorted. */
  accounts: string[];
  metadata_keys: string[];
}

/**
 * What the row keeps of its fold; null when that is not known. An older version of the ledger does not write it, but
 * counts the events that it folds into the row.
 */
export const foldedOf = (row: { event_count: number; folded: Folded | null }): Folded | null =>
  row.folded?.event_count === row.event_count ? row.folded : null;
