import { mapInTurns } from "../../../process/turns.ts";
import { cursorOf, positionOf } from "../cursor.ts";
import type { FeedEntry } from "../store.ts";
import { type ChangeRow, recordIn } from "./rows.ts";

/** The row of the view `feed_state`. */
export interface FeedColumns {
  log: string;
  first_number: bigint;
  last_number: bigint;
}

/** The feed with a record after the cursor; without one, the columns of the record are null. */
export type FeedRow = FeedColumns & (ChangeRow | { number: null });

/** The page of entries in these rows; undefined if the cursor is unknown or a record after it has been deleted. */
export async function pageIn(rows: FeedRow[], after: string | undefined): Promise<FeedEntry[] | undefined> {
  const [feed] = rows;
  if (!feed) return undefined;
  const log = { id: feed.log, first: Number(feed.first_number), last: Number(feed.last_number) };
  if (positionOf(after, log) === undefined) return undefined;
  const records = rows.filter((row) => row.number !== null);
  return await mapInTurns(records, (row) => ({
    record: recordIn(row),
    cursor: cursorOf(feed.log, Number(row.number)),
  }));
}
