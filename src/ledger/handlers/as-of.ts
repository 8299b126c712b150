import type { Sql } from "../database/database.ts";
import { projectPayouts } from "../projection/payout.ts";
import { projectTransactions } from "../projection/transaction.ts";
import { childIdsAsOf, eventsOf, eventsWithParentsOf, payoutEventsOf } from "../tables/event.ts";
import { findTransaction, type ReportedTransaction, type TransactionRow } from "../tables/transaction.ts";

/**
 * What the ledger would have known from the events dated up to an instant, whenever they arrived: folded from those
 * events by the same fold that writes the tables. An account sees only what is its own now, too: a row says so at once,
 * however long the history that would have to be folded.
 */

export async function transactionAsOf(
  sql: Sql,
  externalId: string,
  accountId: string | undefined,
  asOf: string,
): Promise<ReportedTransaction | undefined> {
  if (!(await isOfAccount(sql, externalId, accountId))) return undefined;
  const events = await eventsWithParentsOf(sql, [externalId], asOf);
  const row = projectTransactions(events).find(({ external_id }) => external_id === externalId);
  return row && { ...row, paid_out_date: await paidOutDateAsOf(sql, row, asOf) };
}

const isOfAccount = async (sql: Sql, externalId: string, accountId: string | undefined): Promise<boolean> =>
  (await findTransaction(sql, { external_id: externalId, gateway_account_id: accountId })) !== undefined;

async function paidOutDateAsOf(sql: Sql, row: TransactionRow, asOf: string): Promise<string | null> {
  if (row.gateway_payout_id === null) return null;
  const [payout] = projectPayouts(await payoutEventsOf(sql, [row.gateway_payout_id], asOf));
  return payout?.gateway_account_id === row.gateway_account_id ? payout.paid_out_date : null;
}

/** The transaction and its children, as far as they belonged to the account. */
export async function familyAsOf(
  sql: Sql,
  externalId: string,
  accountId: string,
  asOf: string,
): Promise<TransactionRow[]> {
  if (!(await isOfAccount(sql, externalId, accountId))) return [];
  const ids = [externalId, ...(await childIdsAsOf(sql, externalId, asOf))];
  const rows = projectTransactions(await eventsOf(sql, [...new Set(ids)], asOf));
  return rows.filter(
    (row) =>
      (row.external_id === externalId || row.parent_external_id === externalId) &&
      row.gateway_account_id === accountId,
  );
}
