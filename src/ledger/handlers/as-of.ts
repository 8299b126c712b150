import type { Sql } from "../database/database.ts";
import { StatementTimeout } from "../database/database.ts";
import { PayoutFolds } from "../projection/payout.ts";
import { projectFrom, TransactionFolds } from "../projection/transaction.ts";
import {
  childIdsAsOf,
  type EventRow,
  eventsInPieces,
  payoutTypes,
  type ResourceType,
  transactionTypes,
} from "../tables/event.ts";
import { findTransaction, type ReportedTransaction, type TransactionRow } from "../tables/transaction.ts";

/**
 * The state as of an instant: the events dated up to it, whenever they arrived, are folded by the fold that also writes the
 * tables. The transaction must belong to the account now, too. That is checked first, by its row, since folding a long
 * history takes time. Rejects with `StatementTimeout` if it takes longer than the limit in milliseconds.
 */
export function asOfReader(sql: Sql, asOf: string, limitMs: number) {
  const deadline = performance.now() + limitMs;
  async function* read(types: ResourceType[], externalIds: string[]): AsyncGenerator<EventRow[]> {
    for await (const events of eventsInPieces(sql, types, externalIds, asOf)) {
      if (performance.now() > deadline) throw new StatementTimeout(limitMs);
      yield events;
    }
  }
  const isOfAccount = async (externalId: string, accountId: string | undefined) =>
    (await findTransaction(sql, { external_id: externalId, gateway_account_id: accountId }, 0)) !== undefined;

  async function paidOutDate(row: TransactionRow): Promise<string | null> {
    if (row.gateway_payout_id === null) return null;
    const folds = new PayoutFolds();
    for await (const events of read(payoutTypes, [row.gateway_payout_id])) folds.add(events);
    const payout = folds.rows().get(row.gateway_payout_id);
    return payout?.gateway_account_id === row.gateway_account_id ? payout.paid_out_date : null;
  }

  return {
    async transaction(
      externalId: string,
      accountId: string | undefined,
    ): Promise<ReportedTransaction | undefined> {
      if (!(await isOfAccount(externalId, accountId))) return undefined;
      const [row] = await projectFrom((ids) => read(transactionTypes, ids), [externalId]);
      return row && { ...row, paid_out_date: await paidOutDate(row) };
    },

    /** The transaction and its children, those that belonged to the account, with their amounts. */
    async family(
      externalId: string,
      accountId: string,
    ): Promise<Pick<TransactionRow, "external_id" | "details">[]> {
      if (!(await isOfAccount(externalId, accountId))) return [];
      const family: Pick<TransactionRow, "external_id" | "details">[] = [];
      for (const id of new Set([externalId, ...(await childIdsAsOf(sql, externalId, asOf))])) {
        const folds = new TransactionFolds();
        for await (const events of read(transactionTypes, [id])) folds.add(events);
        const row = folds.rows().get(id);
        const isRelated = id === externalId || row?.parent_external_id === externalId;
        if (row?.gateway_account_id === accountId && isRelated) {
          family.push({ external_id: id, details: { amount: row.details.amount } });
        }
      }
      return family;
    },
  };
}
