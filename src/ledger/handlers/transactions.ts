import type { operations } from "../../../generated/ledger.ts";
import type { Handlers } from "../../http/handlers.ts";
import { readInstant } from "../../values/instant.ts";
import type { Sql } from "../database/database.ts";
import { eventsOf } from "../tables/event.ts";
import { searchTransactions } from "../tables/search.ts";
import {
  familyOf,
  findTransaction,
  type ReportedTransaction,
  type TransactionKey,
  type TransactionType,
} from "../tables/transaction.ts";
import { viewTransactionEvents } from "../views/event.ts";
import { viewPayment, viewTransaction } from "../views/transaction.ts";
import { familyAsOf, transactionAsOf } from "./as-of.ts";
import { accountMissing, notFound, problem } from "./problem.ts";

type TransactionHandlers = Pick<
  Handlers<operations>,
  | "getTransaction"
  | "getTransactionByGatewayTransactionId"
  | "listTransactionEvents"
  | "listChildTransactions"
>;

export const transactionHandlers = (sql: Sql): TransactionHandlers => ({
  async getTransaction({ path: { transactionExternalId }, query }) {
    if (!query.account_id && !query.override_account_id_restriction) return accountMissing;
    const wanted = {
      external_id: transactionExternalId,
      gateway_account_id: query.account_id,
      transaction_type: typeOf(query.transaction_type),
      parent_external_id: query.parent_external_id,
    };
    const row = await (query.as_of === undefined
      ? findTransaction(sql, wanted)
      : findTransactionAsOf(sql, wanted, readInstant(query.as_of) as string));
    return row
      ? { status: 200, body: viewTransaction(row, query.status_version) }
      : notFound(transactionExternalId);
  },

  async getTransactionByGatewayTransactionId({ query }) {
    const filter = { ...query, transaction_type: "PAYMENT" } as const;
    const [row] = await searchTransactions(sql, filter, { limit: 1 });
    return row
      ? { status: 200, body: viewPayment(row, 2) }
      : problem(404, [`Payment with gateway transaction id [${query.gateway_transaction_id}] not found`]);
  },

  async listTransactionEvents({ path: { transactionExternalId }, query }) {
    const asOf = query.as_of && readInstant(query.as_of);
    const family = await (asOf === undefined
      ? familyOf(sql, transactionExternalId, query.gateway_account_id)
      : familyAsOf(sql, transactionExternalId, query.gateway_account_id, asOf));
    if (!family.some(({ external_id }) => external_id === transactionExternalId)) {
      return notFound(transactionExternalId);
    }
    const events = await eventsOf(
      sql,
      family.map(({ external_id }) => external_id),
      asOf,
    );
    return {
      status: 200,
      body: {
        transaction_id: transactionExternalId,
        events: viewTransactionEvents(family, events, query.include_all_events, query.status_version),
      },
    };
  },

  async listChildTransactions({ path: { parentTransactionExternalId }, query }) {
    const family = await familyOf(sql, parentTransactionExternalId, query.gateway_account_id);
    const isParent = ({ external_id }: { external_id: string }) =>
      external_id === parentTransactionExternalId;
    if (!family.some(isParent)) return notFound(parentTransactionExternalId);
    const type = typeOf(query.transaction_type);
    const children = family.filter(
      (row) => !isParent(row) && (type === undefined || row.transaction_type === type),
    );
    return {
      status: 200,
      body: {
        parent_transaction_id: parentTransactionExternalId,
        transactions: children.map((row) => viewTransaction(row, 2)),
      },
    };
  },
});

/** The type in upper case. */
export const typeOf = (given: string | undefined) => given?.toUpperCase() as TransactionType | undefined;

async function findTransactionAsOf(
  sql: Sql,
  wanted: TransactionKey,
  asOf: string,
): Promise<ReportedTransaction | undefined> {
  const row = await transactionAsOf(sql, wanted.external_id, wanted.gateway_account_id, asOf);
  const matches = Object.entries(wanted).every(
    ([name, value]) => value === undefined || row?.[name as keyof TransactionKey] === value,
  );
  return matches ? row : undefined;
}
