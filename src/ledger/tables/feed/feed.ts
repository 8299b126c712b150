import type { Database, Sql } from "../../../database/database.ts";
import { eventSize, type ResourceType, type WholeEvent, wholeColumns } from "../event.ts";
import type { PageLimits } from "../page.ts";

/** The place of an event in the feed. */
export interface FeedPosition {
  /** The SQL transaction that has added the event. */
  sql_transaction: bigint;
  event_id: bigint;
  /** The timestamp of the event: the same numbers can belong to another event when an older database was restored. */
  timestamp: string;
}

/** Before the oldest event. */
export const feedStart: FeedPosition = {
  sql_transaction: 0n,
  event_id: 0n,
  timestamp: "1970-01-01T00:00:00.000000Z",
};

/** An event in the feed. */
export interface FeedRow extends WholeEvent, Pick<FeedPosition, "sql_transaction"> {
  gateway_account_id: string | null;
  /** A JSON object; null if there are none. */
  other_members: string | null;
  accepted_at: string | null;
}

/** The columns of a `FeedRow` that are those of its event. */
export const eventInFeedColumns = `${wholeColumns()}, event.other_members::text, event.accepted_at`;

export const positionOf = ({ sql_transaction, id, timestamp }: FeedRow): FeedPosition => ({
  sql_transaction,
  event_id: id,
  timestamp,
});

/** Undefined is every account or type. */
export interface FeedFilter {
  account_ids?: string[] | undefined;
  resource_types?: ResourceType[] | undefined;
  event_types?: string[] | undefined;
}

/** Maximum number of events that a page reads to find those of its types. */
const readMax = 10_000;

const inOrder = "sql_transaction, event_id";

/**
 * Up to `$3` entries after the position in `$1` and `$2`. Those of the accounts in `$8` are merged. An account is a range,
 * and not equal to a value, so that only its own index has the order. The end of the feed is a subquery, so that no plan
 * computes it for each row.
 */
function entriesOf({ account_ids }: FeedFilter): string {
  if (!account_ids) {
    return `select * from event_feed
      where (${inOrder}) > ($1, $2) and sql_transaction < (select event_feed_end()) and not only_of_account and $8::text[] is null
      order by ${inOrder} limit $3`;
  }
  return `
    select entry.* from unnest($8::text[]) as wanted (account_id) cross join lateral (
      select * from event_feed
      where (gateway_account_id, ${inOrder}) > (wanted.account_id, $1, $2)
        and (gateway_account_id, sql_transaction) < (wanted.account_id, (select event_feed_end()))
      order by gateway_account_id, ${inOrder} limit $3
    ) as entry
    order by ${inOrder} limit $3`;
}

/** One look-up for each entry. With old statistics of the table, a join could read all entries for each event. */
const eventOfEntry = "select * from event where id = event_id limit 1";

/**
 * The events after a position that match the filter, in the order of the feed. It ends below the oldest transaction in flight.
 * `end` is the last position that was read: that of the last event, or of one behind it that does not match. `isLast` is true
 * if there are no more events now, and `isGone` if the event of the position does not exist; see `mayBeInFeed`.
 */
export async function readFeed(
  sql: Sql,
  filter: FeedFilter,
  after: FeedPosition,
  { countMax, bytesMax }: PageLimits,
): Promise<{ events: FeedRow[]; end: FeedPosition; isLast: boolean; isGone: boolean }> {
  const { account_ids, resource_types, event_types } = filter;
  const entriesMax = resource_types || event_types ? readMax : countMax + 1;
  const values = [
    after.sql_transaction,
    after.event_id,
    entriesMax,
    resource_types ?? null,
    event_types ?? null,
    countMax,
    bytesMax,
    account_ids ? [...new Set(account_ids)] : null,
    after.timestamp,
  ];
  const rows = await sql.query<PageRow>(pageStatement(entriesOf(filter)), values, "custom");
  const events: FeedRow[] = [];
  for (const {
    has_more_matches,
    has_more_entries,
    last_sql_transaction,
    last_event_id,
    last_timestamp,
    may_be_after,
    ...row
  } of rows)
    if (row.id !== null) events.push(row);
  const [read] = rows as [PageRow, ...PageRow[]];
  const isGone = !read.may_be_after && after.event_id !== feedStart.event_id;
  const lastEvent = events.at(-1);
  if (read.has_more_matches && lastEvent)
    return { events, end: positionOf(lastEvent), isLast: false, isGone };
  const end = {
    sql_transaction: read.last_sql_transaction ?? after.sql_transaction,
    event_id: read.last_event_id ?? after.event_id,
    timestamp: read.last_timestamp ?? after.timestamp,
  };
  return { events, end, isLast: !read.has_more_entries, isGone };
}

/** An event of a page, if there is one, with what was read for the page: the same in every row. */
type PageRow = (FeedRow | { id: null }) & {
  has_more_matches: boolean;
  has_more_entries: boolean;
  last_sql_transaction: bigint | null;
  last_event_id: bigint | null;
  last_timestamp: string | null;
  may_be_after: boolean;
};

/** Has a row if the event at a position exists: its timestamp is that of a parameter, the rest is in `$1` and `$2`. */
const atPosition = (timestamp: string) => `
  select from event_feed join event on event.id = event_id
  where sql_transaction = $1 and event_id = $2 and event.timestamp = ${timestamp}`;
const mayBeAt = (timestamp: string) => `($1 >= event_feed_end() or exists (${atPosition(timestamp)}))`;

const pageStatement = (entries: string) => `with entry as materialized (${entries}),
  found as materialized (
    select entry.*, ${eventSize} as bytes from entry cross join lateral (${eventOfEntry}) as event
    where ($4::text[] is null or resource_type = any($4)) and ($5::text[] is null or event_type = any($5))
    order by ${inOrder} limit $6 + 1
  ),
  page as materialized (
    select * from (
      select *, sum(bytes) over in_order - bytes as bytes_before, row_number() over in_order as number
      from found window in_order as (order by ${inOrder})
    ) as numbered
    where number <= $6 and bytes_before < $7
  )
  select in_page.*, has_more_matches, has_more_entries, last.sql_transaction as last_sql_transaction, last.event_id as last_event_id,
    (select timestamp from event where id = last.event_id) as last_timestamp, may_be_after
  from (
    select ${mayBeAt("$9")} as may_be_after,
      (select count(*) from page) < (select count(*) from found) as has_more_matches,
      (select count(*) from entry) = $3 as has_more_entries
  ) as counts
  left join lateral (select * from entry order by sql_transaction desc, event_id desc limit 1) as last on true
  left join lateral (
    select sql_transaction, gateway_account_id, ${eventInFeedColumns} from page cross join lateral (${eventOfEntry}) as event
  ) as in_page on true
  order by sql_transaction, id`;

/** The position of the newest event in the feed, or of the newest that is not after a position. */
export async function newestInFeed(sql: Sql, upTo?: FeedPosition): Promise<FeedPosition> {
  const [newest] = await sql.query<FeedPosition>(
    `select sql_transaction, event_id, event.timestamp from event_feed join event on event.id = event_id
     where sql_transaction < event_feed_end() ${upTo ? `and (${inOrder}) <= ($1, $2)` : ""}
     order by sql_transaction desc, event_id desc limit 1`,
    upTo && [upTo.sql_transaction, upTo.event_id],
  );
  return newest ?? feedStart;
}

/** The position of the newest event of these accounts in the feed. An account is a range, as in `entriesOf`. */
export async function newestOfAccounts(sql: Sql, account_ids: string[]): Promise<FeedPosition> {
  const [newest] = await sql.query<FeedPosition>(
    `select sql_transaction, event_id, event.timestamp
     from unnest($1::text[]) as wanted (account_id) cross join lateral (
       select sql_transaction, event_id from event_feed
       where gateway_account_id >= wanted.account_id
         and (gateway_account_id, sql_transaction) < (wanted.account_id, (select event_feed_end()))
       order by gateway_account_id desc, sql_transaction desc, event_id desc limit 1
     ) as entry join event on event.id = event_id
     order by sql_transaction desc, event_id desc limit 1`,
    [account_ids],
  );
  return newest ?? feedStart;
}

/** Resolves with true if the event at a position exists in the primary database, or if it is the start of the feed. */
export async function isInFeed(sql: Sql, { sql_transaction, event_id, timestamp }: FeedPosition) {
  if (event_id === feedStart.event_id) return true;
  return (await sql.query(atPosition("$3"), [sql_transaction, event_id, timestamp])).length > 0;
}

/** As `isInFeed`, also on a replica: a position at which its feed has not arrived yet counts. */
export async function mayBeInFeed(sql: Sql, { sql_transaction, event_id, timestamp }: FeedPosition) {
  if (event_id === feedStart.event_id) return true;
  const [row] = await sql.query<{ exists: boolean }>(`select ${mayBeAt("$3")} as exists`, [
    sql_transaction,
    event_id,
    timestamp,
  ]);
  return row?.exists === true;
}

/** Has a row if the ids of SQL transactions have begun again: a dump of the database was restored in another server. */
const hasBegunAgain = `
  select from event_feed_epoch
  where greatest(
    (select max(sql_transaction) + 1 from event_feed),
    (select max(sql_transaction) + 1 from transaction_change),
    (select sql_transaction + 1 from access_record order by id desc limit 1),
    (select max(sql_transaction) from instant_position)
  ) > (epoch << 40) + pg_snapshot_xmax(pg_current_snapshot())::text::bigint`;

/**
 * Makes new positions follow the existing ones also if a dump of the database was restored in a server whose ids of SQL
 * transactions are lower. No event may be stored in such a server before.
 */
export async function continueFeed(database: Database): Promise<void> {
  if ((await database.query(hasBegunAgain)).length === 0) return;
  await database.transaction(async (sql) => {
    // No event is being stored, and none is until the new epoch can be read.
    await sql.run("lock table event in share row exclusive mode");
    if ((await sql.query(hasBegunAgain)).length > 0)
      await sql.run("update event_feed_epoch set epoch = epoch + 1");
  });
}
