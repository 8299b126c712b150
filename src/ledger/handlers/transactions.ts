import { defaults } from "../../../generated/ledger.defaults.ts";
import { effectiveMaxima } from "../../../generated/ledger.maxima.ts";
import type { LimitedSql } from "../../database/database.ts";
import { failure } from "../../http/failure.ts";
import { bodyOf, listBody } from "../../http/json-body.ts";
import type { Currency } from "../../values/currency.ts";
import { microsecondAfter, readInstant } from "../../values/instant.ts";
import { JsonOutput } from "../../values/json-output.ts";
import { mapInTurns } from "../../waiting/turns.ts";
import { pastAsOf } from "../past/past.ts";
import { pastFamily, pastTransaction } from "../past/transaction.ts";
import { asksForCsv, csvResponse } from "../requests/csv.ts";
import type { Cursors } from "../requests/cursor.ts";
import { accountMissing, missing, unknownCursor } from "../requests/failures.ts";
import { firstOfStates, listFamilyEvents, listShortHistoryInOrder } from "../requests/family-events.ts";
import { findWhole, type Reader } from "../requests/lanes.ts";
import { isExtended, listLimits, pageBody, readPage } from "../requests/page.ts";
import { type Reading, withReadings } from "../requests/reading.ts";
import { filterOf, linkParametersOf, statusErrorsOf } from "../requests/search-filter.ts";
import { metadataKeysOf } from "../tables/metadata-key.ts";
import type { Position } from "../tables/page.ts";
import { findTransaction, listChildren } from "../tables/reported-transaction.ts";
import { countTransactions, searchTransactions } from "../tables/search/search.ts";
import type { SearchQuery, TransactionFilter } from "../tables/search/transaction-filter.ts";
import { beginning, end } from "../tables/summary/periods.ts";
import { viewCsv, viewPositionLine } from "../views/csv.ts";
import { transactionEventWriter } from "../views/event.ts";
import { viewNextPage } from "../views/links.ts";
import { paymentWriter, transactionWriter } from "../views/transaction.ts";

const notFound = (id: string) => failure(404, `Transaction with id [${id}] not found`);

export const transactionHandlers = (reader: Reader, cursors: Cursors) =>
  withReadings(reader, cursors, {
    async getTransaction({ path: { transactionExternalId: id }, query, owner }, reading) {
      const { account_id: account } = query;
      if (!account && !query.override_account_id_restriction) return accountMissing;
      const key = {
        external_id: id,
        gateway_account_id: account,
        transaction_type: query.transaction_type,
        parent_external_id: query.parent_external_id,
      };
      const asOf = query.as_of && readInstant(query.as_of);
      const lane = () => reading.at(reader.lanes(owner, account), { ids: [id] });
      const find = async (sql: LimitedSql, bytesMax?: number) =>
        findTransaction(reading.at(sql, { ids: [id] }), key, bytesMax);
      const transaction = await (asOf
        ? pastTransaction(pastAsOf(await lane(), asOf, reader.limitMs), key)
        : (reading.isPast
            ? find(reader.lanes(owner, account))
            : findWhole(reader, find, owner, account)
          ).then((found) => found?.text));
      if (!transaction) return notFound(id);
      return { status: 200, body: bodyOf(transactionWriter(query.status_version), transaction) };
    },

    async getTransactionByGatewayTransactionId({ query, owner }, reading) {
      const { gateway_transaction_id, payment_provider } = query;
      const filter = { gateway_transaction_id, payment_provider, transaction_type: "PAYMENT" } as const;
      const limits = { ...listLimits, countMax: 1 };
      const { rows } = await searchTransactions(reading.at(reader.lanes(owner)), filter, limits);
      const [row] = rows;
      return row
        ? { status: 200, body: bodyOf(paymentWriter, row) }
        : failure(404, `Payment with gateway transaction id [${query.gateway_transaction_id}] not found`);
    },

    async listTransactionEvents({ path: { transactionExternalId: id }, query, url, owner }, reading) {
      const { gateway_account_id: account, status_version: version } = query;
      const asOf = query.as_of && readInstant(query.as_of);
      const after = cursors.event.read(query.cursor);
      if (after === null) return unknownCursor;
      const lane = reading.at(reader.lanes(owner, account), { familyOf: id });
      const family = asOf ? await pastFamily(pastAsOf(lane, asOf, reader.limitMs), id, account) : undefined;
      const isWhole = asOf === undefined && after === undefined && !reading.isPast;
      const page =
        (isWhole && (await listShortHistoryInOrder(reading.at(reader.sql), id, account))) ||
        (await listFamilyEvents(lane, id, account, { after, asOf, ...listLimits }, family));
      if (!page) return notFound(id);

      const last = page.isLast ? undefined : page.events.at(-1);
      const events = query.include_all_events
        ? page.events
        : await firstOfStates(lane, page.events, version, after);
      const { links, headers } = viewNextPage(url, query, last && cursors.event.write(last));
      const write = transactionEventWriter(page.family, { version, isExtended: isExtended(query) });
      const _links = isExtended(query) ? links : undefined;
      const body = await listBody({ transaction_id: id }, "events", { elements: events, write }, { _links });
      return { status: 200, headers, body };
    },

    async listChildTransactions({ path: { parentTransactionExternalId: id }, query, url, owner }, reading) {
      const { gateway_account_id: account, transaction_type: type } = query;
      const after = cursors.child.read(query.cursor);
      if (after === null) return unknownCursor;
      const lane = reading.at(reader.lanes(owner, account), { familyOf: id });
      const [parent, { children, next }] = await Promise.all([
        findTransaction(
          reading.isPast ? lane : reader.sql,
          { external_id: id, gateway_account_id: account },
          0,
        ),
        listChildren(lane, id, account, { type, after, ...listLimits }),
      ]);
      if (!parent) return notFound(id);
      const { links, headers } = viewNextPage(url, query, next && cursors.child.write(next));
      const body = await listBody(
        { parent_transaction_id: id },
        "transactions",
        { elements: children, write: transactionWriter(2) },
        { _links: isExtended(query) ? links : undefined },
      );
      return { status: 200, headers, body };
    },
  });

/** Maximum number of columns for metadata keys. */
const metadataColumnsMax = 100;
/** About the bytes of a line of CSV. */
const csvLineBytes = 512;
/** Limits of the rows that a CSV export holds. */
const csvPage = { countMax: 500, bytesMax: 2 ** 21 };

const { display_size: displaySizeMax } = effectiveMaxima.searchTransactions;
const { limit_total_size: defaultLimit } = defaults.searchTransactions;

export const searchHandlers = (reader: Reader, cursors: Cursors, currency: Currency) =>
  withReadings(reader, cursors, {
    async searchTransactions(request, reading) {
      const { query, owner } = request;
      const errors = statusErrorsOf(query);
      if (errors.length > 0) return failure(400, ...errors);
      const lane = reader.lanes(owner, query.account_id);
      if (asksForCsv(request)) return searchAsCsv(lane, reading, query, currency);
      if (!query.account_id && !query.override_account_id_restriction) return accountMissing;

      const filter = filterOf(query);
      const sql = reading.at(lane, createdIn(filter));
      const limit = query.limit_total_size < query.display_size ? defaultLimit : query.limit_total_size;
      const found = await readPage(request, cursors.page, {
        filters: request.parametersInBody ? [] : linkParametersOf(query),
        displaySizeMax,
        countMax: query.limit_total ? limit : undefined,
        rows: (after, limits) => searchTransactions(sql, { ...filter, after }, limits),
        count: (max) => countTransactions(sql, filter, max),
      });
      if ("status" in found) return found;
      return {
        status: 200,
        headers: found.headers,
        ...(await pageBody(found, transactionWriter(query.status_version))),
      };
    },
  });

/** The transactions that a search can find: those of its accounts that were created between its dates. */
const createdIn = ({ account_id, from_date, to_date = end }: TransactionFilter) => ({
  accounts: account_id,
  created: [
    { from: from_date === undefined ? beginning : (microsecondAfter(from_date) ?? end), to: to_date },
  ],
});

async function searchAsCsv(lane: LimitedSql, reading: Reading, query: SearchQuery, currency: Currency) {
  const { account_id: accounts, columns } = query;
  if (!accounts && !query.override_account_id_restriction)
    return missing("account_id", "account_id is mandatory to search transactions for CSV");
  const filter = filterOf(query);
  const sql = reading.at(lane, createdIn(filter));
  // All accounts together have too many keys.
  const [metadataKeys, first] = await Promise.all([
    accounts && !columns ? metadataKeysOf(sql, accounts, metadataColumnsMax + 1) : [],
    searchTransactions(sql, filter, csvPage),
  ]);
  const metadata = {
    metadataKeys: metadataKeys.slice(0, metadataColumnsMax),
    hasOtherMetadata: !accounts || metadataKeys.length > metadataColumnsMax,
  };
  const { header, writeLine } = viewCsv({ ...query, ...metadata }, currency);
  const write = async ({ rows, next }: typeof first) => {
    const out = new JsonOutput(rows.length * csvLineBytes);
    await mapInTurns(rows, (row) => writeLine(row, out));
    return { lines: out.take<string>(), next };
  };
  if (first.next && !query.position_line) reading.leaveOpen();
  const readAfter = async (after: Position) => {
    const rest = createdIn({ ...filter, to_date: microsecondAfter(after.created_date) });
    return searchTransactions(await reading.rest(lane, rest), { ...filter, after }, csvPage);
  };
  const last = query.position_line ? viewPositionLine(await reading.position(), query) : "";
  return csvResponse("transactions.csv", header, first, write, readAfter, last);
}
