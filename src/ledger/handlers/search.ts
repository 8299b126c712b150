import { defaults } from "../../../generated/ledger.defaults.ts";
import type { operations } from "../../../generated/ledger.ts";
import type { Sql } from "../../database/database.ts";
import type { Handlers } from "../../http/handlers.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { asksForCsv, csvResponse } from "../requests/csv.ts";
import type { Cursors } from "../requests/cursor.ts";
import type { Reader } from "../requests/lanes.ts";
import { readPage } from "../requests/page.ts";
import { accountMissing, problem } from "../requests/problem.ts";
import { filterOf, linkParametersOf } from "../requests/search-filter.ts";
import { statusErrorsOf } from "../requests/state-filter.ts";
import { metadataKeysOf } from "../tables/metadata-key.ts";
import type { Position } from "../tables/page.ts";
import { countTransactions, searchTransactions } from "../tables/search/search.ts";
import type { SearchQuery } from "../tables/search/transaction-filter.ts";
import { viewCsv } from "../views/csv.ts";
import { viewTransaction } from "../views/transaction.ts";

/** Maximum number of columns for metadata keys. */
const metadataColumnsMax = 100;
/** Limits of the rows that a CSV export holds. */
const csvPage = { countMax: 500, bytesMax: 2 ** 19 };

/** The default of `display_size` is also its maximum. */
const { display_size: displaySizeMax, limit_total_size: defaultLimit } = defaults.searchTransactions;

export const searchHandlers = ({ lanes }: Reader, cursors: Cursors) =>
  ({
    async searchTransactions(request) {
      const { query, owner } = request;
      const errors = statusErrorsOf(query);
      if (errors.length > 0) return problem(400, errors);
      const sql = lanes(owner, query.account_id);
      if (asksForCsv(request)) return searchAsCsv(sql, query);
      if (!query.account_id && !query.override_account_id_restriction) return accountMissing;

      const filter = filterOf(query);
      const limit = query.limit_total_size < query.display_size ? defaultLimit : query.limit_total_size;
      const found = await readPage(request, cursors.page, {
        filters: linkParametersOf(query),
        displaySizeMax,
        countMax: query.limit_total ? limit : undefined,
        rows: (after, limits) => searchTransactions(sql, { ...filter, after }, limits),
        count: (max) => countTransactions(sql, filter, max),
      });
      if ("status" in found) return found;
      const { headers, page, rows, links } = found;
      const results = await mapInTurns(rows, (row) => viewTransaction(row, query.status_version));
      return { status: 200, headers, body: { ...page, results, _links: links } };
    },
  }) satisfies Partial<Handlers<operations>>;

async function searchAsCsv(sql: Sql, query: SearchQuery) {
  if (!query.account_id) return problem(400, ["account_id is mandatory to search transactions for CSV"]);
  const filter = filterOf(query);
  const [metadataKeys, first] = await Promise.all([
    metadataKeysOf(sql, query.account_id, metadataColumnsMax + 1),
    searchTransactions(sql, filter, csvPage),
  ]);
  const { header, line } = viewCsv({
    feeHeaders: query.fee_headers,
    motoHeader: query.moto_header,
    metadataKeys: metadataKeys.slice(0, metadataColumnsMax),
    hasOtherMetadata: metadataKeys.length > metadataColumnsMax,
  });
  const write = async ({ rows, isLast }: typeof first) => {
    const lines = (await mapInTurns(rows, line)).join("");
    const { created_date, external_id, arrived } = rows.at(-1) ?? {};
    return { lines, next: isLast ? undefined : ({ created_date, external_id, arrived } as Position) };
  };
  const readAfter = (after: Position) => searchTransactions(sql, { ...filter, after }, csvPage);
  return csvResponse("transactions.csv", header, first, write, readAfter);
}
