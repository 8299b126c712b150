import { defaults } from "../../../generated/ledger.defaults.ts";
import type { operations } from "../../../generated/ledger.ts";
import type { Handlers } from "../../http/handlers.ts";
import { readInstant } from "../../values/instant.ts";
import type { Sql } from "../database/database.ts";
import { metadataKeysOf } from "../tables/metadata-key.ts";
import {
  countTransactions,
  type FoundTransaction,
  searchTransactions,
  type TransactionFilter,
} from "../tables/search.ts";
import type { TransactionState, TransactionType } from "../tables/transaction.ts";
import { viewCsv } from "../views/csv.ts";
import { lastPage, viewSearchLinks } from "../views/search-links.ts";
import { statesShownAs, statusesOf } from "../views/state.ts";
import { viewTransaction } from "../views/transaction.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import { accountMissing, problem } from "./problem.ts";
import { typeOf } from "./transactions.ts";

type SearchQuery = operations["searchTransactions"]["parameters"]["query"];

const csvRowsPerQuery = 500;

/** The default of `display_size` is also its maximum. */
const { display_size: displaySizeMax, limit_total_size: defaultLimit } = defaults.searchTransactions;

export const searchHandlers = (sql: Sql): Pick<Handlers<operations>, "searchTransactions"> => ({
  async searchTransactions({ query, url, mediaType }) {
    const errors = statusErrorsOf(query);
    if (errors.length > 0) return problem(400, errors);
    if (mediaType === "text/csv") return searchAsCsv(sql, query);
    if (!query.account_id && !query.override_account_id_restriction) return accountMissing;

    const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor);
    if (query.cursor !== undefined && cursor === undefined) return unknownCursor;
    if (cursor && query.page !== 1) return cursorAndPage;
    const filter = filterOf(query);
    const displaySize = Math.min(query.display_size, displaySizeMax);
    const page = cursor?.page ?? query.page;
    const offset = cursor ? 0 : (page - 1) * displaySize;
    // One row more than the page shows whether there is a next page.
    const range = { limit: displaySize + 1, offset };
    const rows = await searchTransactions(sql, { ...filter, after: cursor }, range);
    // The last page shows how many matches there are; counting them could take long.
    const isEnd = rows.length <= displaySize && (rows.length > 0 || offset === 0);
    const max = countMaxOf(query, displaySize);
    const total =
      cursor?.total ??
      (isEnd ? Math.min(offset + rows.length, max) : await countTransactions(sql, filter, max));
    const isBeyondLast = page > lastPage(total, displaySize) && total > 0;
    if (isBeyondLast && !cursor && !query.limit_total) return problem(404, ["the requested page not found"]);
    const shown = rows.slice(0, displaySize);
    const last = rows.length > displaySize ? shown.at(-1) : undefined;
    const nextCursor = last && writeCursor({ ...last, page: page + 1, total });
    return {
      status: 200,
      body: {
        total,
        count: shown.length,
        page,
        results: shown.map((row) => viewTransaction(row, query.status_version)),
        _links: viewSearchLinks({ url, query, displaySize, count: shown.length, total, nextCursor }),
      },
    };
  },
});

/** Reads the first rows before it returns, so that a failure until then gets an error response. */
async function searchAsCsv(sql: Sql, query: SearchQuery) {
  if (!query.account_id) return problem(400, ["account_id is mandatory to search transactions for CSV"]);
  const filter = filterOf(query);
  const [metadataKeys, first] = await Promise.all([
    metadataKeysOf(sql, query.account_id),
    searchTransactions(sql, filter, { limit: csvRowsPerQuery }),
  ]);
  const csv = viewCsv({ feeHeaders: query.fee_headers, motoHeader: query.moto_header, metadataKeys });
  const rowsAfter = async (rows: FoundTransaction[]) =>
    rows.length < csvRowsPerQuery
      ? []
      : searchTransactions(sql, { ...filter, after: rows.at(-1) }, { limit: csvRowsPerQuery });
  async function* write() {
    yield csv.header;
    for (let rows = first; rows.length > 0; ) {
      const next = rowsAfter(rows);
      // If the caller stops reading here, nobody awaits this.
      next.catch(() => {});
      yield rows.map(csv.line).join("");
      rows = await next;
    }
  }
  return {
    status: 200 as const,
    type: "text/csv" as const,
    headers: { "Content-Disposition": 'attachment; filename="transactions.csv"' },
    body: write(),
  };
}

const unknownCursor = problem(400, ["query parameter cursor must be from a link next_cursor"]);
const cursorAndPage = problem(400, ["query parameters cursor and page cannot be used together"]);

const countMaxOf = (query: SearchQuery, displaySize: number): number => {
  if (!query.limit_total) return Number.POSITIVE_INFINITY;
  return query.limit_total_size < displaySize ? defaultLimit : query.limit_total_size;
};

/** A status that the version does not have would match nothing, which is never intended. */
function statusErrorsOf(query: SearchQuery): string[] {
  const version = query.status_version;
  const given = {
    state: query.state && [query.state],
    payment_states: query.payment_states,
    refund_states: query.refund_states,
    dispute_states: query.dispute_states,
  };
  return Object.entries(given)
    .filter(([, statuses]) => statuses?.some((status) => statesShownAs(status, version).length === 0))
    .map(
      ([name]) =>
        `query parameter ${name} must be one of ${statusesOf(version).join(", ")} with status_version ${version}`,
    );
}

function filterOf(query: SearchQuery): TransactionFilter {
  const statesOf = (statuses: SearchQuery["payment_states"]): TransactionState[] | undefined =>
    statuses?.flatMap((status) => statesShownAs(status, query.status_version));
  const byType: [TransactionType, TransactionState[] | undefined][] = [
    ["PAYMENT", statesOf(query.payment_states)],
    ["REFUND", statesOf(query.refund_states)],
    ["DISPUTE", statesOf(query.dispute_states)],
  ];
  const given = byType.filter((one): one is [TransactionType, TransactionState[]] => one[1] !== undefined);
  const settled = { from: query.from_settled_date, to: query.to_settled_date };
  return {
    account_ids: query.account_id,
    created_after: query.from_date && readInstant(query.from_date),
    created_before: query.to_date && readInstant(query.to_date),
    email: query.email,
    [query.exact_reference_match ? "exact_reference" : "reference"]: query.reference,
    cardholder_name: query.cardholder_name,
    first_digits_card_number: query.first_digits_card_number,
    last_digits_card_number: query.last_digits_card_number,
    states_by_type: given.length > 0 ? given : undefined,
    card_brands: query.card_brands,
    states: query.state && statesOf([query.state]),
    transaction_type: typeOf(query.transaction_type),
    gateway_payout_id: query.gateway_payout_id,
    gateway_transaction_id: query.gateway_transaction_id,
    settled: settled.from || settled.to ? settled : undefined,
    metadata_value: query.metadata_value,
    agreement_id: query.agreement_id,
  };
}
