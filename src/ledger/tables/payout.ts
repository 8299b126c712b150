import type { eventTypes } from "../../../generated/ledger.event-types.ts";
import type { Sql } from "../../database/database.ts";
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

const shownColumns = `gateway_payout_id, gateway_account_id, service_id, live, state, created_date, paid_out_date,
  jsonb_build_object('amount', details -> 'amount') as details`;
const matching = `from payout
  where ($1::text[] is null or gateway_account_id = any($1)) and ($2::text is null or state = $2)`;

/** A page of the payouts that match the filter, newest first, and the number of all. The details have the amount only. */
export async function searchPayouts(
  sql: Sql,
  accountIds: string[] | undefined,
  state: PayoutState | undefined,
  { offset, countMax }: { offset: number; countMax: number },
): Promise<{ rows: FoundPayout[]; total: number }> {
  const filter = [accountIds ?? null, state ?? null];
  const [rows, total] = await Promise.all([
    sql.query<FoundPayout>(
      `select ${shownColumns} ${matching} order by created_date desc, gateway_payout_id desc limit $3 offset $4`,
      [...filter, countMax, offset],
      "custom",
    ),
    queryCount(sql, `select count(*) ${matching}`, filter, "custom"),
  ]);
  return { rows, total };
}

/** A payout, if it belongs to the account. The details have the amount only. */
export async function findPayout(sql: Sql, payoutId: string, accountId: string | undefined) {
  const [row] = await sql.query<FoundPayout>(
    `select ${shownColumns} from payout
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

/** What a payout settles, by type. A type without transactions is missing. Reads all of the transactions. */
export async function settledBy(sql: Sql, payoutId: string): Promise<SettledTransactions[]> {
  const rows = await sql.query<SettledTransactions>(
    `select transaction_type, count(*), sum(amount)::text as amount, sum(fee)::text as fee,
       sum(case transaction_type
         when 'REFUND' then -coalesce(net, gross_amount)
         when 'DISPUTE' then coalesce(net, 0)
         else coalesce(net, case transaction.state when 'SUCCESS' then gross_amount else 0 end)
       end)::text as settled_amount
     from payout join transaction on ${payoutCondition}
       cross join lateral summarised_details(transaction.details)
       cross join lateral (select pence_of(transaction.details -> 'net_amount') as net) as given
     where payout.gateway_payout_id = $1
     group by transaction_type`,
    [payoutId],
    "custom",
  );
  return rows.map((row) => ({
    ...row,
    amount: BigInt(row.amount),
    fee: BigInt(row.fee),
    settled_amount: BigInt(row.settled_amount),
  }));
}
