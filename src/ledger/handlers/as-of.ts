import type { Sql } from "../database/database.ts";
import { projectPayouts } from "../projection/payout.ts";
import { projectTransactions } from "../projection/transaction.ts";
import { childIdsAsOf, eventsOf, eventsWithParentsOf, payoutEventsOf } from "../tables/event.ts";
import { findTransaction, type ReportedTransaction, type TransactionRow } from "../tables/transaction.ts";

/**
 * The state as of an instant: the events dated up to it, whenever they arrived, are folded by the fold that also writes the
 * tables. The transaction must belong to the account now, too. That is checked first, by its row, since folding a long
 * history takes time.
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

/** The transaction and its children as of an instant, those that belonged to the account. */
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
