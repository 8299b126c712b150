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
export type FeedRow = FeedColumns & { cursor_at: bigint | null } & (ChangeRow | { number: null });

/** The columns of the feed, and the instant of the record with the number in `$`*n*. */
export const feedColumns = (number: string) =>
  `log, first_number, last_number, (select at from feature_storage.change where number = ${number}) as cursor_at`;

/** The page of entries in these rows; undefined if the cursor is unknown or a record after it has been deleted. */
export async function pageIn(rows: FeedRow[], after: string | undefined): Promise<FeedEntry[] | undefined> {
  const [feed] = rows;
  if (!feed) return undefined;
  const log = { id: feed.log, first: Number(feed.first_number), last: Number(feed.last_number) };
  const cursorAt = feed.cursor_at === null ? undefined : Number(feed.cursor_at);
  if (positionOf(after, log, () => cursorAt) === undefined) return undefined;
  const records = rows.filter((row) => row.number !== null);
  return await mapInTurns(records, (row) => ({
    record: recordIn(row),
    cursor: cursorOf(feed.log, Number(row.number), Number(row.at)),
  }));
}
