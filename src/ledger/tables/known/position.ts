import type { Sql } from "../../../database/database.ts";
import type { FeedPosition } from "../feed/feed.ts";

/**
 * A position in the order in which the ledger stores. What it knew there are the SQL transactions below `before`, those in
 * `also`, and with `upTo` some events of `before`.
 */
export interface KnownPosition {
  before: bigint;
  /** Those that had committed while an older one was in flight. */
  also: bigint[];
  /** The last event that is known of the SQL transaction `before`. */
  upTo?: { event_id: bigint; timestamp?: string };
}

/** A condition (SQL) that an SQL transaction is known as a whole. */
export function isKnown(sqlTransaction: string, { before, also }: KnownPosition): string {
  const isBefore = `${sqlTransaction} < ${before}`;
  return also.length === 0 ? isBefore : `(${isBefore} or ${sqlTransaction} = any('{${also}}'::bigint[]))`;
}

/** A condition (SQL) that the event with an id is known. */
export function isKnownEvent(id: string, position: KnownPosition): string {
  const { before, upTo } = position;
  const known = isKnown("sql_transaction", position);
  const isUpTo = upTo && `or sql_transaction = ${before} and event_id <= ${upTo.event_id}`;
  return `coalesce(
    (select ${known} ${isUpTo ?? ""} from event_feed where event_id = ${id} and not only_of_account), true
  )`;
}

/** The place of an event in the feed. */
export interface Place {
  id: bigint;
  sql_transaction: bigint;
}

export function isKnownPlace({ id, sql_transaction }: Place, { before, also, upTo }: KnownPosition): boolean {
  const isUpTo = upTo !== undefined && sql_transaction === before && id <= upTo.event_id;
  return sql_transaction < before || also.includes(sql_transaction) || isUpTo;
}

/** These events with their places. Those that are older than the feed have the first one. */
export async function eventsWithPlaces<Event extends { id: bigint }>(
  sql: Sql,
  events: Event[],
): Promise<(Event & Place)[]> {
  const rows = await sql.query<{ event_id: bigint; sql_transaction: bigint }>(
    "select event_id, sql_transaction from event_feed where event_id = any($1::bigint[]) and not only_of_account",
    [events.map(({ id }) => id)],
  );
  const places = new Map(rows.map(({ event_id, sql_transaction }) => [event_id, sql_transaction]));
  return events.map((event) => ({ ...event, sql_transaction: places.get(event.id) ?? 0n }));
}

/** The first SQL transaction that is not below the position, and those in it. */
export const endOf = ({ before, also }: KnownPosition): bigint =>
  also.reduce((end, one) => (one < end ? end : one + 1n), before);

/** The last SQL transaction of which anything is known. */
export const lastOf = ({ before, also, upTo }: KnownPosition): bigint =>
  also.at(-1) ?? (upTo ? before : before - 1n);

/** The position with SQL transactions at these distances, separated by commas, from `before`. */
export function positionOf(before: bigint, distances: string): KnownPosition {
  const also = distances === "" ? [] : distances.split(",").map((distance) => before + BigInt(distance));
  return { before, also: also.sort((a, b) => (a < b ? -1 : 1)) };
}

/** The position directly after an event. */
export const positionAfter = (event: FeedPosition): KnownPosition => ({
  before: event.sql_transaction,
  also: [],
  upTo: event,
});

/** What a database has at a position. */
export interface KnownState {
  /** The position from which on everything is known, and the instant at which it was recorded. */
  first: bigint;
  first_instant: string;
  /** The end of the feed: nothing can come before it any more. */
  feed_end: bigint;
  /** The database never had the position: its event does not exist, or its SQL transactions did not begin. */
  is_unknown: boolean;
  /** Everything up to the position is visible. False on a replica that is behind. */
  is_included: boolean;
  /** Nothing can come before the position any more. */
  is_complete: boolean;
  /** The last merge of changes into the summaries before the position. */
  merged_end: bigint;
  /** The position is between two events of one SQL transaction. */
  is_within: boolean;
}

export async function stateAt(sql: Sql, { before, also, upTo }: KnownPosition): Promise<KnownState> {
  const [state] = await sql.query<KnownState>(
    `select first.sql_transaction as first, first.instant as first_instant, feed_end,
       case when $3::bigint is null
         then not pg_is_in_recovery() and $1 > (epoch << 40) + pg_snapshot_xmax(pg_current_snapshot())::text::bigint
         else $1 < feed_end and not exists (
           select from event_feed join event on event.id = event_id
           where sql_transaction = $1 and event_id = $3 and ($4::timestamptz is null or event.timestamp = $4)
         )
       end as is_unknown,
       ($3::bigint is not null or feed_end >= $1) and not exists (
         select from unnest($2::bigint[]) as wanted (id) where id >= feed_end
           and not exists (select from event_feed where sql_transaction = id)
           and not exists (select from transaction_change where sql_transaction = id)
       ) as is_included,
       feed_end > $1 or feed_end = $1 and $3::bigint is null as is_complete,
       (select max(merged_end) from transaction_summary_merge where merged_end <= $1) as merged_end,
       exists (
         select from event_feed where sql_transaction = $1 and event_id > $3 and not only_of_account
       ) as is_within
     from (select * from instant_position order by instant limit 1) as first
     cross join event_feed_epoch cross join (select event_feed_end() as feed_end offset 0) as feed`,
    [before, upTo ? [before] : also, upTo?.event_id ?? null, upTo?.timestamp ?? null],
  );
  return state as KnownState;
}

/** The end of a day, if it is a quarter of an hour of UTC, and what the ledger has recorded for it. */
export interface DayEnd {
  is_quarter: boolean;
  is_future: boolean;
  is_before_first: boolean;
  /** Null if none is recorded yet. */
  sql_transaction: bigint | null;
  first_instant: string;
}

/** The end of a day in a time zone that the database knows. */
export async function endOfDay(sql: Sql, day: string, timeZone: string): Promise<DayEnd> {
  const [end] = await sql.query<DayEnd>(
    `select instant = date_bin('15 minutes', instant, '2000-01-01Z') as is_quarter, instant > now() as is_future,
       instant < first_instant as is_before_first, first_instant,
       (select sql_transaction from instant_position where instant_position.instant >= day_end.instant
        order by instant_position.instant limit 1)
     from (select ($1::date + 1)::timestamp at time zone $2 as instant) as day_end
     cross join (select min(instant) as first_instant from instant_position) as first`,
    [day, timeZone],
  );
  return end as DayEnd;
}
