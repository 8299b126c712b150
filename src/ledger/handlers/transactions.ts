import type { operations } from "../../../generated/ledger.ts";
import type { Handlers } from "../../service/contract.ts";
import type { Sql } from "../database/database.ts";
import { eventsOf } from "../tables/event.ts";
import {
  countTransactions,
  familyOf,
  findTransaction,
  searchTransactions,
  type TransactionType,
} from "../tables/transaction.ts";
import { viewTransactionEvents } from "../views/event.ts";
import { lastPage, viewSearchLinks } from "../views/search-links.ts";
import { viewTransaction } from "../views/transaction.ts";
import { notFound, problem } from "./problem.ts";

const displaySizeMax = 500;

type TransactionHandlers = Pick<
  Handlers<operations>,
  "getTransaction" | "searchTransactions" | "listTransactionEvents" | "listChildTransactions"
>;

export const transactionHandlers = (sql: Sql): TransactionHandlers => ({
  async getTransaction({ path: { transactionExternalId }, query }) {
    if (!query.account_id && !query.override_account_id_restriction) return accountMissing;
    const row = await findTransaction(sql, {
      external_id: transactionExternalId,
      account_ids: query.account_id === undefined ? undefined : [query.account_id],
      transaction_type: query.transaction_type?.toUpperCase() as TransactionType | undefined,
      parent_external_id: query.parent_external_id,
    });
    return row ? { status: 200, body: viewTransaction(row) } : notFound(transactionExternalId);
  },

  async searchTransactions({ query, origin }) {
    if (!query.account_id && !query.override_account_id_restriction) return accountMissing;
    const { page } = query;
    const displaySize = Math.min(query.display_size, displaySizeMax);
    const filter = { account_ids: query.account_id, reference: query.reference };
    const [rows, total] = await Promise.all([
      searchTransactions(sql, filter, { limit: displaySize, offset: (page - 1) * displaySize }),
      countTransactions(sql, filter),
    ]);
    if (page > lastPage(total, displaySize) && total > 0)
      return problem(404, ["the requested page not found"]);
    const links = viewSearchLinks({ origin, filters: filtersOf(query), page, displaySize, total });
    return {
      status: 200,
      body: { total, count: rows.length, page, results: rows.map(viewTransaction), _links: links },
    };
  },

  async listTransactionEvents({ path: { transactionExternalId }, query }) {
    const family = await familyOf(sql, transactionExternalId, query.gateway_account_id);
    if (!family.some(({ external_id }) => external_id === transactionExternalId)) {
      return notFound(transactionExternalId);
    }
    const events = await eventsOf(
      sql,
      family.map(({ external_id }) => external_id),
    );
    return {
      status: 200,
      body: {
        transaction_id: transactionExternalId,
        events: viewTransactionEvents(family, events, query.include_all_events),
      },
    };
  },

  async listChildTransactions({ path: { parentTransactionExternalId }, query }) {
    const family = await familyOf(sql, parentTransactionExternalId, query.gateway_account_id);
    const isParent = ({ external_id }: { external_id: string }) =>
      external_id === parentTransactionExternalId;
    if (!family.some(isParent)) return notFound(parentTransactionExternalId);
    return {
      status: 200,
      body: {
        parent_transaction_id: parentTransactionExternalId,
        transactions: family.filter((row) => !isParent(row)).map(viewTransaction),
      },
    };
  },
});

const accountMissing = problem(400, ["Field [account_id] cannot be empty"]);

type SearchQuery = operations["searchTransactions"]["parameters"]["query"];

function filtersOf(query: SearchQuery): [string, string][] {
  const filters: [string, string | undefined][] = [
    ["account_id", query.account_id?.join(",")],
    ["override_account_id_restriction", query.override_account_id_restriction ? "true" : undefined],
    ["reference", query.reference],
  ];
  return filters.filter((filter): filter is [string, string] => filter[1] !== undefined);
}
