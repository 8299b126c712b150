import type { eventTypes } from "../../../generated/ledger.event-types.ts";
import type { Sql } from "../../database/database.ts";
import {
  allConditions,
  binding,
  type Conditions,
  createdAfter,
  createdBefore,
  equals,
  oneOf,
} from "./conditions.ts";
import type { AccountResourceRow } from "./fold-state.ts";
import { queryCount } from "./query.ts";
import { accountTypes, resourceTable } from "./resource-table.ts";
import type { TransactionType } from "./transaction.ts";

/** The state of a payout; `UNDEFINED` if no event has set one. */
export type PayoutState = "UNDEFINED" | Extract<PayoutEvent, { state: string }>["state"];
type PayoutEvent = (typeof eventTypes.payout)[number];

export interface PayoutRow extends AccountResourceRow {
  gateway_payout_id: string;
  state: PayoutState;
  /** UTC, six fraction digits. */
  paid_out_date: string | null;
}

export const payoutTable = resourceTable<PayoutRow>("payout", "gateway_payout_id", {
  gateway_payout_id: "text",
  ...accountTypes,
  paid_out_date: "timestamptz",
});

/** A payout as responses show it. */
export type FoundPayout = Omit<PayoutRow, "event_count" | "folded">;

export const shownPayoutColumns = `gateway_payout_id, gateway_account_id, service_id, live, state, created_date, paid_out_date,
  jsonb_build_object('amount', details -> 'amount') as details`;

/** All given conditions must hold. Instants are in UTC, and exclusive. */
export interface PayoutFilter {
  gateway_account_id?: string[] | undefined;
  state?: PayoutState | undefined;
  from_date?: string | undefined;
  to_date?: string | undefined;
  live?: boolean | undefined;
}

const conditions: Conditions<PayoutFilter> = {
  gateway_account_id: oneOf("gateway_account_id"),
  state: equals("state"),
  from_date: createdAfter,
  to_date: createdBefore,
  live: equals("live"),
};

/** A page of the payouts that match the filter, newest first, and the number of all. The details have the amount only. */
export async function searchPayouts(
  sql: Sql,
  filter: PayoutFilter,
  { offset, countMax }: { offset: number; countMax: number },
): Promise<{ rows: FoundPayout[]; total: number }> {
  const { values, bind } = binding();
  const matching = `from payout where ${allConditions(conditions, filter, bind)}`;
  const ofFilter = [...values];
  const [rows, total] = await Promise.all([
    sql.query<FoundPayout>(
      `select ${shownPayoutColumns} ${matching} order by created_date desc, gateway_payout_id desc
       limit ${bind(countMax)} offset ${bind(offset)}`,
      values,
      "custom",
    ),
    queryCount(sql, `select count(*) ${matching}`, ofFilter, "custom"),
  ]);
  return { rows, total };
}

/** A payout, if it belongs to the account. The details have the amount only. */
export async function findPayout(sql: Sql, payoutId: string, accountId: string | undefined) {
  const [row] = await sql.query<FoundPayout>(
    `select ${shownPayoutColumns} from payout
     where gateway_payout_id = $1 and ($2::text is null or gateway_account_id = $2)`,
    [payoutId, accountId ?? null],
  );
  return row;
}

/** The condition that a `payout` settles a `transaction`. It settles only transactions of its own account. */
export const payoutCondition = `
  payout.gateway_payout_id = transaction.gateway_payout_id
  and payout.gateway_account_id = transaction.gateway_account_id`;

/** The transactions of one type that a payout settles. Sums are in pence. */
export interface SettledTransactions {
  transaction_type: TransactionType;
  count: bigint;
  amount: bigint;
  fee: bigint;
  /** What they add to the payout: the column `Net` of the CSV (views/csv.ts). */
  settled_amount: bigint;
}

/** What these payouts settle, by payout and type. A type without transactions is missing. Reads all of the transactions. */
export async function settledBy(sql: Sql, payoutIds: string[]): Promise<Map<string, SettledTransactions[]>> {
  const rows = await sql.query<SettledTransactions & { gateway_payout_id: string }>(
    `select gateway_payout_id, settled.* from payout cross join lateral (
       select transaction_type, count(*), sum(amount)::text as amount, sum(fee)::text as fee,
         sum(case transaction_type
           when 'REFUND' then -coalesce(net, gross_amount)
           when 'DISPUTE' then coalesce(net, 0)
           else coalesce(net, case transaction.state when 'SUCCESS' then gross_amount else 0 end)
         end)::text as settled_amount
       from transaction cross join lateral summarised_details(transaction.details)
         cross join lateral (select pence_of(transaction.details -> 'net_amount') as net) as given
       where ${payoutCondition}
       group by transaction_type
     ) as settled
     where gateway_payout_id = any($1::text[])`,
    [payoutIds],
    "custom",
  );
  const sums = rows.map(({ gateway_payout_id, amount, fee, settled_amount, ...row }) => ({
    gateway_payout_id,
    settled: { ...row, amount: BigInt(amount), fee: BigInt(fee), settled_amount: BigInt(settled_amount) },
  }));
  const byPayout = Map.groupBy(sums, (one) => one.gateway_payout_id);
  return new Map([...byPayout].map(([id, own]) => [id, own.map(({ settled }) => settled)]));
}
