import { defaults } from "../../../generated/ledger.defaults.ts";
import type { operations } from "../../../generated/ledger.ts";
import type { Sql } from "../../database/database.ts";
import type { Handlers } from "../../http/handlers.ts";
import { ceilInstant, readInstant } from "../../values/instant.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { asksForCsv, csvResponse } from "../requests/csv.ts";
import type { Cursors } from "../requests/cursor.ts";
import type { Lanes } from "../requests/lanes.ts";
import { readPage } from "../requests/page.ts";
import { accountMissing, problem } from "../requests/problem.ts";
import { stateFilterOf, statusErrorsOf } from "../requests/state-filter.ts";
import type { Position } from "../tables/conditions.ts";
import { metadataKeysOf } from "../tables/metadata-key.ts";
import { countTransactions, searchTransactions } from "../tables/search/search.ts";
import type { TransactionFilter } from "../tables/search/transaction-filter.ts";
import { viewCsv } from "../views/csv.ts";
import { viewSearchFilters } from "../views/search-filters.ts";
import { viewTransaction } from "../views/transaction.ts";

type SearchQuery = operations["searchTransactions"]["parameters"]["query"];

/** Maximum number of columns for metadata keys. */
const metadataColumnsMax = 100;
/** Limits of the rows that a CSV export holds. */
const csvPage = { countMax: 500, bytesMax: 2 ** 19 };

/** The default of `display_size` is also its maximum. */
const { display_size: displaySizeMax, limit_total_size: defaultLimit } = defaults.searchTransactions;

export const searchHandlers = (
  lanes: Lanes,
  cursors: Cursors,
): Pick<Handlers<operations>, "searchTransactions"> => ({
  async searchTransactions(request) {
    const { query, owner } = request;
    const errors = statusErrorsOf(query);
    if (errors.length > 0) return problem(400, errors);
    const sql = lanes(owner, query.account_id);
    if (asksForCsv(request)) return searchAsCsv(sql, query);
    if (!query.account_id && !query.override_account_id_restriction) return accountMissing;

    const filter = filterOf(query);
    const found = await readPage(request, cursors.page, {
      filters: viewSearchFilters(query),
      displaySizeMax,
      countMax: countMaxOf(query),
      rows: (after, limits) => searchTransactions(sql, { ...filter, after }, limits),
      count: (max) => countTransactions(sql, filter, max),
    });
    if ("status" in found) return found;
    const { headers, page, rows, links } = found;
    const results = await mapInTurns(rows, (row) => viewTransaction(row, query.status_version));
    return { status: 200, headers, body: { ...page, results, _links: links } };
  },
});

/** Reads the first rows before it returns, so that a failure until then gets an error response. */
async function searchAsCsv(sql: Sql, query: SearchQuery) {
  if (!query.account_id) return problem(400, ["account_id is mandatory to search transactions for CSV"]);
  const filter = filterOf(query);
  const [metadataKeys, firstPage] = await Promise.all([
    metadataKeysOf(sql, query.account_id, metadataColumnsMax + 1),
    searchTransactions(sql, filter, csvPage),
  ]);
  const csv = viewCsv({
    feeHeaders: query.fee_headers,
    motoHeader: query.moto_header,
    metadataKeys: metadataKeys.slice(0, metadataColumnsMax),
    hasOtherMetadata: metadataKeys.length > metadataColumnsMax,
  });
  /** The lines of a page, and the position after it. While the caller reads slowly, nothing else is in memory. */
  async function writePage({ rows, isLast }: typeof firstPage) {
    const lines = (await mapInTurns(rows, csv.line)).join("");
    const last = isLast ? undefined : rows.at(-1);
    return { lines, position: last && positionOf(last) };
  }
  let written = await writePage(firstPage);
  async function* write() {
    yield csv.header;
    for (;;) {
      yield written.lines;
      if (!written.position) return;
      written = await writePage(
        await searchTransactions(sql, { ...filter, after: written.position }, csvPage),
      );
    }
  }
  return csvResponse("transactions.csv", write());
}

const positionOf = ({ created_date, external_id, arrived }: Position): Position => ({
  created_date,
  external_id,
  arrived,
});

const countMaxOf = (query: SearchQuery): number | undefined => {
  if (!query.limit_total) return undefined;
  return query.limit_total_size < query.display_size ? defaultLimit : query.limit_total_size;
};

/** A consumer of alphagov/pay-ledger names the parameter `card_brand`, as the links of that service do. */
const cardBrandsOf = ({ card_brands, card_brand }: SearchQuery): string[] | undefined =>
  card_brands || card_brand ? [...(card_brands ?? []), ...(card_brand ?? [])] : undefined;

function filterOf(query: SearchQuery): TransactionFilter {
  const settled = { from: query.from_settled_date, to: query.to_settled_date };
  return {
    account_ids: query.account_id,
    created_after: query.from_date && readInstant(query.from_date),
    created_before: query.to_date && ceilInstant(query.to_date),
    email: query.email,
    [query.exact_reference_match ? "exact_reference" : "reference"]: query.reference,
    cardholder_name: query.cardholder_name,
    first_digits_card_number: query.first_digits_card_number,
    last_digits_card_number: query.last_digits_card_number,
    ...stateFilterOf(query),
    card_brands: cardBrandsOf(query),
    transaction_type: query.transaction_type,
    gateway_payout_id: query.gateway_payout_id,
    gateway_transaction_id: query.gateway_transaction_id,
    settled: settled.from || settled.to ? settled : undefined,
    metadata_value: query.metadata_value,
    agreement_id: query.agreement_id,
  };
}
