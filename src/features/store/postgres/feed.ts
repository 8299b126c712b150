import type { Sql } from "../../../database/database.ts";
import { mapInTurns } from "../../../waiting/turns.ts";
import { cursorOf, positionOf, readCursor } from "../cursor.ts";
import { type ChangeFeed, type FeedEntry, ignoreFailure } from "../store.ts";
import { type ChangeRow, changeColumns, recordIn } from "./rows.ts";

/** The row of the view `feed_state`, with the instant of the record at a cursor. */
interface FeedColumns {
  log: string;
  first_number: bigint;
  last_number: bigint;
  cursor_at: bigint | null;
}

/** The columns of the feed for a cursor after the record with this number, which is an SQL expression. */
const feedColumns = (number: string) =>
  `log, first_number, last_number, (select at from feature_storage.change where number = ${number}) as cursor_at`;

const cursorAt = ({ cursor_at }: FeedColumns) => (cursor_at === null ? undefined : Number(cursor_at));

/** The change feed. */
export const feedOf = (query: Sql["query"], expire: () => Promise<boolean>): ChangeFeed => ({
  async changes(after, limit, until) {
    await expire().catch(ignoreFailure);
    const end = readCursor(until ?? "");
    return await readRecords(
      query,
      "number >= first_number and number <= case when log = $3 then $4 else last_number end",
      [end?.logId ?? "", end?.number ?? 0],
      after,
      limit,
    );
  },
  async newest(before = 0) {
    await expire().catch(ignoreFailure);
    const [feed] = await query<FeedColumns & { cursor_number: bigint }>(
      `select ${feedColumns("cursor_number")}, cursor_number from feature_storage.feed_state
      cross join lateral (select greatest(last_number - $1, first_number - 1) as cursor_number) as position`,
      [before],
    );
    return feed ? cursorOf(feed.log, Number(feed.cursor_number), cursorAt(feed)) : "";
  },
});

/**
 * The first records after a cursor that fulfil a condition, whose values begin with `$3`. Resolves with undefined if the
 * cursor is unknown or a record after it has been deleted.
 */
export async function readRecords(
  query: Sql["query"],
  condition: string,
  values: unknown[],
  after: string | undefined,
  limit: number,
): Promise<FeedEntry[] | undefined> {
  // Without a record after the cursor, the columns of the record are null.
  const rows = await query<FeedColumns & (ChangeRow | { number: null })>(
    `select ${feedColumns("$1")}, page.* from feature_storage.feed_state
    left join lateral (
      select ${changeColumns} from feature_storage.change
      where number > $1 and ${condition} order by number limit $2
    ) as page on true`,
    [readCursor(after ?? "")?.number ?? 0, limit, ...values],
    "repeated",
  );
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
