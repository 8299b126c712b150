import type { Sql } from "../../../database/database.ts";
import { binding } from "../conditions.ts";
import { queryIds } from "../query.ts";
import { dayAfter, type Interval, midnightOf } from "../summary/periods.ts";
import { isKnown, isKnownEvent, type KnownPosition } from "./position.ts";

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
 * The transactions that existed at a position, have changed since, and were created in the intervals then or at any time
 * since. Undefined if there are more than `max`, or too many changes. The hours in which something has changed are those of
 * summaries that a later merge has changed, and of changes that are not merged.
 */
export async function changedSince(
  sql: Sql,
  position: KnownPosition,
  mergedEnd: bigint,
  { accounts, created }: CreatedIn,
  max: number,
): Promise<string[] | undefined> {
  const { values, bind } = binding();
  const ofAccounts = accounts ? `gateway_account_id = any(${bind(accounts)}::text[])` : "true";
  const ofHours = `(${created
    .map(({ from, to }) => `hour >= utc_hour(${bind(from)}::timestamptz) and hour < ${bind(to)}::timestamptz`)
    .join(" or ")})`;
  const later = `sql_transaction >= ${mergedEnd} and sql_transaction < 9223372036854775807
    and not ${isKnown("sql_transaction", position)}`;
  const change = "select external_id from transaction_change where";
  const rows = await sql.query<{ id: string | null }>(
    `with changed_hour as materialized (
       select distinct gateway_account_id as account, hour as wanted_hour from transaction_hour_summary
       where not all_accounts and ${ofAccounts} and ${ofHours} and merged_end > ${mergedEnd}
     ), changed as materialized (
       select external_id from changed_hour cross join lateral (
         ${change} gateway_account_id = account and hour = wanted_hour and ${later}
         union all
         ${change} account is null and gateway_account_id is null and hour = wanted_hour and ${later}
       ) as merged
       union all
       ${change} sql_transaction >= (select max(merged_end) from transaction_summary_merge) and ${later}
         and ${ofAccounts} and ${ofHours}
       limit ${changesMax + 1}
     )
     select null as id where (select count(*) from changed) > ${changesMax}
     union all
     select * from (
       select external_id from (select distinct external_id from changed) as one join transaction using (external_id)
       where ${isKnownEvent("first_event_id", position)} limit ${max + 1}
     ) as existing`,
    values,
    "custom",
  );
  const ids = rows.flatMap(({ id }) => id ?? []);
  return ids.length < rows.length || ids.length > max ? undefined : ids;
}

/** The transactions that these payouts settle now and that have changed since a position. Undefined if there are more than `max`. */
export async function changedOfPayouts(sql: Sql, position: KnownPosition, payoutIds: string[], max: number) {
  const ids = await queryIds(
    sql,
    `select external_id as id from transaction
     where gateway_payout_id = any($1::text[]) and exists (
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
