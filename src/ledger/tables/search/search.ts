import type { Plan, Sql } from "../../../database/database.ts";
import { microsecondAfter } from "../../../values/instant.ts";
import { type Bind, binding } from "../conditions.ts";
import { newestFirst, type PageLimits, type Position } from "../page.ts";
import { bytesBefore, type ReportedTransaction, reported, reportedColumns } from "../reported-transaction.ts";
import { beginning, end } from "../summary/periods.ts";
import type { SummaryFilter } from "../summary/rows.ts";
import { countSummarised } from "../summary/summary.ts";
import { hasOnlyRanges } from "./ranges.ts";
import { type Column, readAll, type Scan, scansFor } from "./scans.ts";
import type { TransactionFilter } from "./transaction-filter.ts";

/** A transaction in a search result, which is also a position. */
export type FoundTransaction = ReportedTransaction & Position;

/**
 * A page of the transactions that match the filter, newest first; ties are ordered by id, descending. A search from a position
 * excludes transactions that arrived after its first page was read.
 */
export async function searchTransactions(
  sql: Sql,
  filter: TransactionFilter,
  { offset = 0, countMax, bytesMax }: PageLimits & { offset?: number },
): Promise<{ rows: FoundTransaction[]; isLast: boolean }> {
  // One row more than the page shows whether there is another page.
  const limit = countMax + 1;
  const scans = scansFor(filter, offset + limit);
  const plan = hasOnlyRanges(filter) ? "repeated" : "custom";
  const rows = await firstKnown<FoundTransaction & { is_last: boolean }>(sql, scans, plan, (scan, bind) => {
    const arrived = filter.after ? bind(filter.after.arrived) : "(select arrived_events())";
    // `is_known` is joined to the page, since an empty page and an unknown one both have no rows.
    return `
      with found as materialized (
        select * from (${scan(pageColumns, bind)} offset 0) as found
        order by ${newestFirst} limit ${bind(offset + limit)}
      )
      select * from (select coalesce(bool_and(not is_cut_off), true) as is_known from found) as completeness
      left join lateral (
        select ${reported}, ${arrived}::text as arrived, number = count as is_last
        from (
          select *, ${bytesBefore(newestFirst)} as bytes_before, row_number() over (order by ${newestFirst}) as number,
            count(*) over () as count
          from (select * from found order by ${newestFirst} limit ${bind(limit)} offset ${bind(offset)}) as page
        ) as transaction
        where is_known and number <= ${bind(countMax)} and bytes_before < ${bind(bytesMax)}
      ) as page on true
      order by ${newestFirst}`;
  });
  const found = rows.filter(({ external_id }) => external_id !== null);
  return { rows: found, isLast: found.at(-1)?.is_last ?? true };
}

/** The number of transactions that match the filter, up to `max`. Without summaries counting stops at `max`. */
export async function countTransactions(sql: Sql, filter: TransactionFilter, max = Number.POSITIVE_INFINITY) {
  const summarised = summaryFilterOf(filter);
  if (summarised) return Math.min(await countSummarised(sql, summarised), max);
  const isExact = max === Number.POSITIVE_INFINITY;
  const scans = isExact ? [readAll(filter)] : scansFor(filter, max);
  const [row] = await firstKnown<{ count: bigint }>(sql, scans, "custom", (scan, bind) => {
    const matching = scan([], bind);
    return isExact
      ? `select count(*), true as is_known from (${matching}) as found`
      : `select count(*), coalesce(bool_and(not is_cut_off), true) as is_known
         from (${matching} limit ${bind(max)}) as found`;
  });
  return Number(row?.count);
}

/** The filter in terms of the summaries; undefined if they do not know a part of it. */
function summaryFilterOf(filter: TransactionFilter): SummaryFilter | undefined {
  const { account_id, transaction_type, state, states_by_type, from_date, to_date, ...others } = filter;
  if (Object.values(others).some((value) => value !== undefined)) return undefined;
  const created = {
    from: from_date === undefined ? beginning : (microsecondAfter(from_date) ?? end),
    to: to_date ?? end,
  };
  return { account_id, transaction_type, state, states_by_type, created };
}

/** Makes the scans in order and resolves with the rows of the first whose result is known (`is_known`). */
async function firstKnown<Row>(
  sql: Sql,
  scans: Scan[],
  plan: Plan,
  statementOf: (scan: Scan, bind: Bind) => string,
): Promise<Row[]> {
  for (const scan of scans) {
    const { values, bind } = binding();
    const rows = await sql.query<Row & { is_known: boolean }>(statementOf(scan, bind), values, plan);
    if (rows[0]?.is_known) return rows;
  }
  throw new Error("the result of the last scan must be known");
}

const pageColumns: Column[] = [...reportedColumns, "gateway_payout_id", "size"];
