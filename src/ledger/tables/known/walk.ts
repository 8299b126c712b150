import type { Sql } from "../../../database/database.ts";
import { microsecondAfter } from "../../../values/instant.ts";
import { type Bind, binding } from "../conditions.ts";
import { eventSize, type WholeEvent, wholeColumns } from "../event.ts";
import { type FoundPayout, shownPayoutColumns } from "../payout.ts";
import { type ReportedTransaction, reportedText, transactionSize } from "../reported-transaction.ts";
import { end, type Interval } from "../summary/periods.ts";
import type { CreatedIn } from "./changed.ts";
import { isKnown, isKnownEvent, type KnownPosition } from "./position.ts";

/** Limits of a page. It has one more row than the bytes permit. */
export const walkPageMax = 1000;
const pageBytesMax = 8 * 2 ** 20;

/** The place of a row in a walk: its instant, then its id by code points, so that no collation of a database has an effect. */
export interface Place {
  instant: string;
  id: string;
}

/** What a walk passes, oldest first: rows of an account (default: of all) dated in an interval. */
export interface Walked {
  account?: string | undefined;
  dated: Interval;
}

const idInOrder = (id: string) => `${id} collate "C"`;

/** A condition for rows after one place, up to another, inclusive. The index has the instant only in this form. */
function placeCondition(
  [instant, id]: [instant: string, id: string],
  { dated }: Walked,
  after: Place | undefined,
  upTo: Place | undefined,
  bind: Bind,
): string {
  const compare = (operator: string, place: Place) => {
    const first = bind(place.instant);
    return `${instant} ${operator}= ${first} and (${instant}, ${id}) ${operator}${operator === "<" ? "=" : ""} (${first}, ${bind(place.id)})`;
  };
  return [
    `${instant} >= ${bind(dated.from)} and ${instant} < ${bind(dated.to)}`,
    ...(after ? [compare(">", after)] : []),
    ...(upTo ? [compare("<", upTo)] : []),
  ].join(" and ");
}

const accountCondition = ({ account }: Walked, bind: Bind) =>
  account === undefined ? "true" : `gateway_account_id = ${bind(account)}`;

const transactionOrder: [string, string] = ["created_date", idInOrder("external_id")];

/** The place at which a page of present transactions ends; undefined if the page is the last one. */
export async function transactionsPageEnd(sql: Sql, walked: Walked, after: Place | undefined) {
  const { values, bind } = binding();
  const [found] = await sql.query<Place & { is_end: boolean }>(
    `select instant, id, number = count and count < ${walkPageMax} as is_end from (
       select created_date as instant, external_id as id, row_number() over in_order as number, count(*) over () as count,
         sum(bytes) over in_order - bytes as bytes_before
       from (
         select created_date, external_id, ${transactionSize} as bytes from transaction
         where ${accountCondition(walked, bind)} and ${placeCondition(transactionOrder, walked, after, undefined, bind)}
         order by ${transactionOrder} limit ${walkPageMax}
       ) as page window in_order as (order by ${transactionOrder})
     ) as sized where bytes_before < ${pageBytesMax} order by number desc limit 1`,
    values,
    "custom",
  );
  return found && !found.is_end ? { instant: found.instant, id: found.id } : undefined;
}

/** The transactions after one place, up to another. */
export async function transactionsBetween(
  sql: Sql,
  walked: Walked,
  after: Place | undefined,
  upTo: Place | undefined,
): Promise<ReportedTransaction[]> {
  const { values, bind } = binding();
  const rows = await sql.query<{ text: ReportedTransaction }>(
    `select ${reportedText(String(Number.MAX_SAFE_INTEGER))} as text from transaction
     where ${accountCondition(walked, bind)} and ${placeCondition(transactionOrder, walked, after, upTo, bind)}
     order by ${transactionOrder}`,
    values,
    "custom",
  );
  return rows.map(({ text }) => text);
}

/** What contains the instants between two places. */
export const createdBetween = (
  { account, dated }: Walked,
  after: Place | undefined,
  upTo: Place | undefined,
): CreatedIn => ({
  accounts: account === undefined ? undefined : [account],
  created: [
    {
      from: after?.instant ?? dated.from,
      to: upTo ? (microsecondAfter(upTo.instant) ?? end) : dated.to,
    },
  ],
});

/** Compares places as the walks of a database do. */
export const comparePlaces = (one: Place, other: Place): number =>
  one.instant === other.instant
    ? Buffer.compare(Buffer.from(one.id), Buffer.from(other.id))
    : one.instant < other.instant
      ? -1
      : 1;

/** The place of an event, whose id is a number. */
export const placeOfEvent = ({ timestamp, id }: WholeEvent): Place => ({
  instant: timestamp,
  id: String(id),
});

/** A page of events. `next` is the place of the last one that was read; undefined if the page is the last one. */
interface EventPage {
  rows: WholeEvent[];
  next: Place | undefined;
}

/**
 * The next events that were known at a position. An event belongs to an account if the feed gives it to the account. Others
 * are passed without their details, so that a page is short also if few events match.
 */
export async function eventsAfter(
  sql: Sql,
  position: KnownPosition,
  walked: Walked,
  after: Place | undefined,
): Promise<EventPage> {
  const { values, bind } = binding();
  const { account, dated } = walked;
  const { before, upTo } = position;
  const isWithin = upTo ? `or sql_transaction = ${before} and event_id <= ${upTo.event_id}` : "";
  const isOfAccount =
    account === undefined
      ? isKnownEvent("event.id", position)
      : `exists (
           select from event_feed where event_id = event.id and gateway_account_id = ${bind(account)}
             and (${isKnown("sql_transaction", position)} ${isWithin})
         )`;
  const instant = after && bind(after.instant);
  const rows = await sql.query<WholeEvent & { is_wanted: boolean; is_end: boolean }>(
    `select ${wholeColumns("is_wanted")}, is_wanted, number = count and count < ${walkPageMax} as is_end from (
       select *, row_number() over in_order as number, count(*) over () as count,
         sum(bytes) over in_order - bytes as bytes_before
       from (
         select event.*, is_wanted, case when is_wanted then ${eventSize} else 0 end as bytes
         from (
           select * from event where timestamp >= ${bind(dated.from)} and timestamp < ${bind(dated.to)}
             ${after ? `and (timestamp, id) > (${instant}, ${bind(after.id)}::bigint)` : ""}
           order by timestamp, id limit ${walkPageMax}
         ) as event cross join lateral (select ${isOfAccount} as is_wanted offset 0) as matching
       ) as event window in_order as (order by timestamp, id)
     ) as event where bytes_before < ${pageBytesMax} order by number`,
    values,
    "custom",
  );
  const last = rows.at(-1);
  return {
    rows: rows.flatMap(({ is_wanted, is_end: _, ...row }) => (is_wanted ? [row] : [])),
    next: !last || last.is_end ? undefined : placeOfEvent(last),
  };
}

const payoutOrder: [string, string] = ["created_date", idInOrder("gateway_payout_id")];

/** The next payouts. */
export const payoutsAfter = (sql: Sql, walked: Walked, after: Place | undefined): Promise<FoundPayout[]> => {
  const { values, bind } = binding();
  return sql.query<FoundPayout>(
    `select ${shownPayoutColumns} from payout
     where ${accountCondition(walked, bind)} and ${placeCondition(payoutOrder, walked, after, undefined, bind)}
     order by ${payoutOrder} limit ${walkPageMax}`,
    values,
    "custom",
  );
};

/** True if anything has ever belonged to an account. */
export async function isAccount(sql: Sql, account: string): Promise<boolean> {
  const [found] = await sql.query<{ is_account: boolean }>(
    `select exists (select from event_feed where gateway_account_id = $1)
       or exists (select from transaction where gateway_account_id = $1)
       or exists (select from payout where gateway_account_id = $1) as is_account`,
    [account],
  );
  return found?.is_account === true;
}
