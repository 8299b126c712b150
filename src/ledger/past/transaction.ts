import { payoutProjection } from "../projection/payout.ts";
import { projectFrom, transactionProjection } from "../projection/transaction.ts";
import { childIdsAsOf, type EventRow, transactionTypes } from "../tables/event.ts";
import type { FamilyEvents } from "../tables/event-list.ts";
import { type ReportedTransaction, reportedOf, type TransactionKey } from "../tables/reported-transaction.ts";
import { idsOfAccount, type TransactionRow } from "../tables/transaction.ts";
import { foldPast, hasValues, type Past, pastEvents } from "./past.ts";

/** A transaction that has these values. */
export async function pastTransaction(
  past: Past,
  wanted: TransactionKey,
): Promise<ReportedTransaction | undefined> {
  /** The events of those of these transactions that belong to the account now. */
  async function* ownEvents(externalIds: string[]): AsyncGenerator<EventRow[]> {
    const ids = await idsOfAccount(past.sql, externalIds, wanted.gateway_account_id);
    yield* pastEvents(past, transactionTypes, ids);
  }
  const [row] = await projectFrom(ownEvents, [wanted.external_id]);
  if (!row || !hasValues(row, wanted)) return undefined;
  return reportedOf(row, await paidOutDateOf(past, row));
}

async function paidOutDateOf(past: Past, row: TransactionRow): Promise<string | null> {
  if (row.gateway_payout_id === null) return null;
  const payout = await foldPast(past, ["payout"], payoutProjection, row.gateway_payout_id);
  return payout?.gateway_account_id === row.gateway_account_id ? payout.paid_out_date : null;
}

/** The transaction and its children, those that belonged to the account and belong to it now, with their amounts. */
export async function pastFamily(past: Past, externalId: string, accountId: string) {
  const { sql, asOf } = past;
  const [own] = await idsOfAccount(sql, [externalId], accountId);
  if (own === undefined) return [];
  const children = await idsOfAccount(sql, await childIdsAsOf(sql, externalId, asOf), accountId);
  const family: FamilyEvents["family"] = [];
  for (const id of new Set([own, ...children])) {
    const row = await foldPast(past, transactionTypes, transactionProjection, id);
    const isRelated = id === externalId || row?.parent_external_id === externalId;
    if (row?.gateway_account_id === accountId && isRelated) {
      family.push({ external_id: id, details: { amount: row.details.amount } });
    }
  }
  return family;
}
