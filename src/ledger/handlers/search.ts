import { defaults } from "../../../generated/ledger.defaults.ts";
import type { operations } from "../../../generated/ledger.ts";
import type { Handlers } from "../../http/handlers.ts";
import { mapInTurns } from "../../process/turns.ts";
import { readInstant, readInstantUp } from "../../values/instant.ts";
import type { Sql } from "../database/database.ts";
import { metadataKeysOf } from "../tables/metadata-key.ts";
import { countTransactions, searchTransactions } from "../tables/search.ts";
import type { Position, TransactionFilter } from "../tables/transaction-filter.ts";
import { viewCsv } from "../views/csv.ts";
import { lastPage, viewSearchLinks } from "../views/search-links.ts";
import { viewTransaction } from "../views/transaction.ts";
import { asksForCsv, csvResponse } from "./csv.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import { type Lanes, pageBytesMax } from "./lanes.ts";
import { accountMissing, pageMissing, problem, unknownCursor } from "./problem.ts";
import { stateFilterOf, statusErrorsOf } from "./state-filter.ts";

type SearchQuery = operations["searchTransactions"]["parameters"]["query"];

/** Maximum number of columns for metadata keys. */
const metadataColumnsMax = 100;
/** Limits of the rows that a CSV export holds. */
const csvPage = { countMax: 500, bytesMax: 2 ** 19 };

/** The default of `display_size` is also its maximum. */
const { display_size: displaySizeMax, limit_total_size: defaultLimit } = defaults.searchTransactions;

export const searchHandlers = (lanes: Lanes): Pick<Handlers<operations>, "searchTransactions"> => ({
  async searchTransactions(request) {
    const { query, url } = request;
    const errors = statusErrorsOf(query);
    if (errors.length > 0) return problem(400, errors);
    const sql = lanes(query.account_id);
    if (asksForCsv(request)) return searchAsCsv(sql, query);
    if (!query.account_id && !query.override_account_id_restriction) return accountMissing;

    const cursor = query.cursor === undefined ? undefined : readCursor(query.cursor);
    if (query.cursor !== undefined && cursor === undefined) return unknownCursor;
    if (cursor && query.page !== 1) return cursorAndPage;
    const filter = filterOf(query);
    const displaySize = Math.min(query.display_size, displaySizeMax);
    const page = cursor?.page ?? query.page;
    const offset = cursor ? 0 : (page - 1) * displaySize;
    const limits = { offset, countMax: displaySize, bytesMax: pageBytesMax };
    const { rows, isLast } = await searchTransactions(sql, { ...filter, after: cursor }, limits);
    // The last page shows how many matches there are; counting them could take long.
    const isEnd = isLast && (rows.length > 0 || offset === 0);
    const max = countMaxOf(query);
    const total =
      cursor?.total ??
      (isEnd ? Math.min(offset + rows.length, max) : await countTransactions(sql, filter, max));
    const isBeyondLast = page > lastPage(total, displaySize) && total > 0;
    if (isBeyondLast && !cursor && !query.limit_total) return pageMissing;
    const last = isLast ? undefined : rows.at(-1);
    const nextCursor = last && writeCursor({ ...last, page: page + 1, total });
    return {
      status: 200,
      body: {
        total,
        count: rows.length,
        page,
        results: await mapInTurns(rows, (row) => viewTransaction(row, query.status_version)),
        _links: viewSearchLinks({ url, query, displaySize, count: rows.length, total, nextCursor }),
      },
    };
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

const positionOf = ({ created_date, external_id, newest_event_id }: Position): Position => ({
  created_date,
  external_id,
  newest_event_id,
});

const cursorAndPage = problem(400, ["query parameters cursor and page cannot be used together"]);

const countMaxOf = (query: SearchQuery): number => {
  if (!query.limit_total) return Number.POSITIVE_INFINITY;
  return query.limit_total_size < query.display_size ? defaultLimit : query.limit_total_size;
};

function filterOf(query: SearchQuery): TransactionFilter {
  const settled = { from: query.from_settled_date, to: query.to_settled_date };
  return {
    account_ids: query.account_id,
    created_after: query.from_date && readInstant(query.from_date),
    created_before: query.to_date && readInstantUp(query.to_date),
    email: query.email,
    [query.exact_reference_match ? "exact_reference" : "reference"]: query.reference,
    cardholder_name: query.cardholder_name,
    first_digits_card_number: query.first_digits_card_number,
    last_digits_card_number: query.last_digits_card_number,
    ...stateFilterOf(query),
    card_brands: query.card_brands,
    transaction_type: query.transaction_type,
    gateway_payout_id: query.gateway_payout_id,
    gateway_transaction_id: query.gateway_transaction_id,
    settled: settled.from || settled.to ? settled : undefined,
    metadata_value: query.metadata_value,
    agreement_id: query.agreement_id,
  };
}
