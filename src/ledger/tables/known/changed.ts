import type { Sql } from "../../../database/database.ts";
import { type Bind, binding } from "../conditions.ts";
import { queryIds } from "../query.ts";
import { filterCondition, type TransactionFilter } from "../search/transaction-filter.ts";
import { dayAfter, type Interval, midnightOf } from "../summary/periods.ts";
import { sumColumns } from "../summary/rows.ts";
import { endOf, isKnown, isKnownEvent, type KnownPosition } from "./position.ts";

/** Transactions of accounts (default: of all) that were created in these intervals. */
export interface CreatedIn {
  accounts?: string[] | undefined;
  created: Interval[];
}

/** Maximum number of changes that are read to find the transactions that have changed since a position. */
const changesMax = 20_000;

/** The midnight after the last day on which a transaction had been created. `sql` must have the known summaries. */
export async function lastMidnight(sql: Sql, accounts: string[] | undefined): Promise<string> {
  const ofAccounts = accounts ? "gateway_account_id = any($1::text[])" : "$1::text[] is null";
  const [row] = await sql.query<{ day: string | null }>(
    `select to_char(greatest(
       (select period from transaction_summary
        where ${accounts ? `not all_accounts and ${ofAccounts}` : `all_accounts and gateway_account_id is null and ${ofAccounts}`}
          and grain = 'day' and count > 0
        order by period desc limit 1),
       (select max(day) from transaction_summary_change where ${ofAccounts})
     ), 'YYYY-MM-DD') as day`,
    [accounts ?? null],
  );
  return row?.day ? midnightOf(dayAfter(row.day)) : "-infinity";
}

/**
 * A statement for the changes after a position, up to a limit, of transactions that were created in the intervals then or at
 * any time since. The hours in which something has changed are those of summaries that a later merge has changed, and of
 * changes that are not merged.
 */
function changesSince(
  { position, mergedEnd, accounts, created, condition = "true" }: Since,
  limit: number | "all",
  bind: Bind,
): string {
  const ofAccounts = accounts ? `gateway_account_id = any(${bind(accounts)}::text[])` : "true";
  const ofHours = hoursCondition(created, bind);
  const later = `sql_transaction >= ${mergedEnd} and sql_transaction < 9223372036854775807
    and not ${isKnown("sql_transaction", position)} and ${condition}`;
  const isChanged = `${ofHours} and merged_end > ${mergedEnd}`;
  const change = "select sql_transaction, external_id from transaction_change where";
  return `
    with changed_hour as materialized (${
      accounts
        ? `select distinct account, wanted_hour from unnest(${bind(accounts)}::text[]) as wanted (account)
           cross join lateral (
             select hour as wanted_hour from transaction_hour_summary
             where not all_accounts and gateway_account_id = account and ${isChanged} offset 0
           ) as own`
        : `select distinct gateway_account_id as account, hour as wanted_hour from transaction_hour_summary
           where not all_accounts and ${isChanged}`
    })
    select * from changed_hour cross join lateral (
      ${change} gateway_account_id = account and hour = wanted_hour and ${later}
      union all
      ${change} account is null and gateway_account_id is null and hour = wanted_hour and ${later}
    ) as merged
    union all
    select null, null, * from (
      ${change} sql_transaction >= (select max(merged_end) from transaction_summary_merge) and ${later}
        and ${ofAccounts} and ${ofHours}
    ) as waiting
    limit ${limit}`;
}

const hoursCondition = (created: Interval[], bind: Bind) => {
  const each = created.map(
    ({ from, to }) => `hour >= utc_hour(${bind(from)}::timestamptz) and hour < ${bind(to)}::timestamptz`,
  );
  return `(${each.join(" or ")})`;
};

/** A position, the last merge before it, and what has changed since. */
interface Since extends CreatedIn {
  position: KnownPosition;
  mergedEnd: bigint;
  /** A condition (SQL) for the changes. */
  condition?: string;
}

/** The transactions that existed at a position and have changed since. Undefined if there are more than `max`, or too many changes. */
export async function changedSince(sql: Sql, since: Since, max: number): Promise<string[] | undefined> {
  const { values, bind } = binding();
  const rows = await sql.query<{ id: string | null }>(
    `with changed as materialized (${changesSince(since, changesMax + 1, bind)})
     select null as id where (select count(*) from changed) > ${changesMax}
     union all
     select * from (
       select external_id from (select distinct external_id from changed) as one join transaction using (external_id)
       where ${isKnownEvent("first_event_id", since.position)} limit ${max + 1}
     ) as existing`,
    values,
    "custom",
  );
  const ids = rows.flatMap(({ id }) => id ?? []);
  return ids.length < rows.length || ids.length > max ? undefined : ids;
}

/** As `changedSince`, however many there are. */
export async function everyChangedSince(sql: Sql, since: Since): Promise<string[]> {
  const { values, bind } = binding();
  const rows = await sql.query<{ id: string }>(
    `select external_id as id from (
       select distinct external_id from (${changesSince(since, "all", bind)}) as changed
     ) as one join transaction using (external_id)
     where ${isKnownEvent("first_event_id", since.position)}`,
    values,
    "custom",
  );
  return rows.map(({ id }) => id);
}

/** A transaction that an SQL transaction has changed. */
export interface RecordedChange {
  sql_transaction: bigint;
  external_id: string;
}

/** What has changed between two positions, of transactions that match. */
export interface Between extends Since {
  until: KnownPosition;
  filter: TransactionFilter;
}

/** A page of changes. `next` is the last one that was read if there can be more. */
interface ChangePage {
  changes: RecordedChange[];
  next: RecordedChange | undefined;
}

/**
 * The next changes of numbers, in the order of storage, up to `max`. If too many transactions of the intervals have changed,
 * the changes of all transactions are read in that order, and a page ends when many have been read.
 */
export async function listChanges(
  sql: Sql,
  between: Between,
  after: RecordedChange | undefined,
  max: number,
): Promise<ChangePage> {
  const { values, bind } = binding();
  const changed = changesSince(
    { ...between, condition: betweenCondition(between, after, bind) },
    changesMax + 1,
    bind,
  );
  const found = await sql.query<RecordedChange & { count: bigint }>(
    `with changed as materialized (${changed})
     select distinct sql_transaction, external_id, (select count(*) from changed) as count from (
       select sql_transaction, external_id from changed
       union all
       select sql_transaction, external_id from transaction_change
       where ${isDivided(between)} and ${afterCondition(after, bind)}
     ) as together ${inOrder} limit ${max + 1}`,
    values,
    "custom",
  );
  const isAll = Number(found[0]?.count ?? 0) <= changesMax;
  return isAll ? pageOf(found, max) : listInOrder(sql, between, after, max);
}

const inOrder = "order by sql_transaction, external_id";

/**
 * A condition for the changes of an SQL transaction of which only some events are between the positions. Their effect can be
 * another one than that of all events.
 */
function isDivided({ position, until }: Between): string {
  const divided = [position, until].flatMap(({ before, upTo }) => (upTo ? [before] : []));
  return `sql_transaction = any('{${divided}}'::bigint[])`;
}

/** A condition for changes after a position and another change, up to a position. */
function betweenCondition({ until, filter }: Between, after: RecordedChange | undefined, bind: Bind): string {
  const isUpTo = until.upTo ? `or sql_transaction = ${until.before}` : "";
  return `(${isKnown("sql_transaction", until)} ${isUpTo}) and ${afterCondition(after, bind)}
    and (${["count", ...sumColumns]}) <> (0, 0, 0, 0, 0, 0, 0) and ${eitherStateMatches(filter, bind)}`;
}

/** A condition that a change brings a transaction into the states of the filter, or takes it out. */
const eitherStateMatches = (filter: TransactionFilter, bind: Bind) =>
  `exists (select from (values (state), (state_before)) as own (state) where ${filterCondition(filter, bind)})`;

const afterCondition = (after: RecordedChange | undefined, bind: Bind) =>
  after ? `(sql_transaction, external_id) > (${after.sql_transaction}, ${bind(after.external_id)})` : "true";

async function listInOrder(
  sql: Sql,
  between: Between,
  after: RecordedChange | undefined,
  max: number,
): Promise<ChangePage> {
  const { values, bind } = binding();
  const matching = `${betweenCondition(between, after, bind)} and ${hoursCondition(between.created, bind)}`;
  const found = await sql.query<RecordedChange & { is_match: boolean; count: bigint }>(
    `select sql_transaction, external_id, coalesce(bool_or(is_match), false) as is_match, sum(count(*)) over () as count
     from (
       select sql_transaction, external_id, ${matching} or ${isDivided(between)} as is_match from transaction_change
       where sql_transaction >= ${after?.sql_transaction ?? between.mergedEnd} and sql_transaction < ${endOf(between.until) + 1n}
         and not ${isKnown("sql_transaction", between.position)} and ${afterCondition(after, bind)}
       ${inOrder} limit ${changesMax}
     ) as in_order group by 1, 2 ${inOrder}`,
    values,
    "custom",
  );
  const isEnd = Number(found[0]?.count ?? 0) < changesMax;
  // The rest of the last one may not have been read.
  const whole = isEnd ? found : found.slice(0, -1);
  const matches = whole.filter(({ is_match }) => is_match);
  const page = pageOf(matches, max);
  return { ...page, next: page.next ?? (isEnd ? undefined : whole.at(-1)) };
}

function pageOf(found: RecordedChange[], max: number): ChangePage {
  const changes = found
    .slice(0, max)
    .map(({ sql_transaction, external_id }) => ({ sql_transaction, external_id }));
  return { changes, next: found.length > max ? changes.at(-1) : undefined };
}

/**
 * The transactions that these payouts settle or have settled and that have changed since a position. Undefined if there are
 * more than `max`.
 */
export async function changedOfPayouts(sql: Sql, position: KnownPosition, payoutIds: string[], max: number) {
  const ids = await queryIds(
    sql,
    `select external_id as id from transaction
     where external_id in (
       select external_id from transaction where gateway_payout_id = any($1::text[])
       union all
       select external_id from former_settlement where gateway_payout_id = any($1::text[])
     ) and exists (
       select from event
       where resource_external_id in (external_id, parent_external_id) and not ${isKnownEvent("event.id", position)}
     ) limit ${max + 1}`,
    [payoutIds],
  );
  return ids.length > max ? undefined : ids;
}

/** The resources that an SQL transaction has changed: transactions, also by events of their payments, and payouts. */
export async function changedIn(sql: Sql, sqlTransaction: bigint) {
  const [transactions, payouts] = await Promise.all([
    queryIds(sql, "select distinct external_id as id from transaction_change where sql_transaction = $1", [
      sqlTransaction,
    ]),
    queryIds(
      sql,
      `select distinct resource_external_id as id from event_feed join event on event.id = event_id
       where sql_transaction = $1 and resource_type = 'payout'`,
      [sqlTransaction],
    ),
  ]);
  return { transactions, payouts };
}
