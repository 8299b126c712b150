import type { Sql } from "../../../database/database.ts";
import { mapInTurns } from "../../../waiting/turns.ts";
import { cursorOf, positionOf } from "../cursor.ts";
import type { FeedEntry } from "../store.ts";
import { type ChangeRow, recordIn } from "./rows.ts";

/** The row of the view `feed_state`, with the instant of the record at a cursor. */
interface FeedColumns {
  log: string;
  first_number: bigint;
  last_number: bigint;
  cursor_at: bigint | null;
}

/** The feed with a record after the cursor; without one, the columns of the record are null. */
export type FeedRow = FeedColumns & (ChangeRow | { number: null });

/** The columns of the feed for a cursor after the record with this number, which is an SQL expression. */
export const feedColumns = (number: string) =>
  `log, first_number, last_number, (select at from feature_storage.change where number = ${number}) as cursor_at`;

/** The page of entries in these rows; undefined if the cursor is unknown or a record after it has been deleted. */
export async function pageIn(rows: FeedRow[], after: string | undefined): Promise<FeedEntry[] | undefined> {
  const [feed] = rows;
  if (!feed) return undefined;
  const log = { id: feed.log, first: Number(feed.first_number), last: Number(feed.last_number) };
  if (positionOf(after, log, () => cursorAt(feed)) === undefined) return undefined;
  const records = rows.filter((row) => row.number !== null);
  return await mapInTurns(records, (row) => ({
    record: recordIn(row),
    cursor: cursorOf(feed.log, Number(row.number), Number(row.at)),
  }));
}

/** The cursor after the newest record. */
export async function readNewest(query: Sql["query"]): Promise<string> {
  const [feed] = await query<FeedColumns>(
    `select ${feedColumns("last_number")} from feature_storage.feed_state`,
  );
  return feed ? cursorOf(feed.log, Number(feed.last_number), cursorAt(feed)) : "";
}

const cursorAt = ({ cursor_at }: FeedColumns) => (cursor_at === null ? undefined : Number(cursor_at));
