import type { Sql } from "../../../database/database.ts";
import { microsecondAfter } from "../../../values/instant.ts";
import { type Bind, binding } from "../conditions.ts";
import { newestFirst, type PageLimits, type Position, readWithin } from "../page.ts";
import {
  foundTransaction,
  placeOf,
  type ReportedTransaction,
  reportedColumns,
  reportedText,
} from "../reported-transaction.ts";
import { beginning, end } from "../summary/periods.ts";
import type { SummaryFilter } from "../summary/rows.ts";
import { countStatement, countSummarised } from "../summary/summary.ts";
import { hasOnlyRanges } from "./ranges.ts";
import { readAll, type Scan, scansFor } from "./scans.ts";
import type { TransactionFilter } from "./transaction-filter.ts";

interface Page {
  rows: ReportedTransaction[];
  /** The position of the next page, if there is one. */
  next: Position | undefined;
  /** The number of all matches, if the summaries have it and the page has a row. */
  total: number | undefined;
}

/**
 * A page of the transactions that match the filter, newest first; ties are ordered by id, descending. A search from a position
 * excludes transactions that arrived after its first page was read. The page is read with its total if it has no position.
 */
export async function searchTransactions(
  sql: Sql,
  filter: TransactionFilter,
  { offset = 0, ...limits }: PageLimits & { offset?: number },
): Promise<Page> {
  const { rows: found, isLast } = await readWithin(limits, async (max, rowBytesMax) => {
    const rows = await searchRows(sql, filter, { offset, max, rowBytesMax });
    return rows.map(foundTransaction);
  });
  const rows = found.map(({ text }) => text);
  const last = rows.at(-1);
  if (last === undefined) return { rows, next: undefined, total: undefined };
  const { position, others } = placeOf(last);
  const [arrived = "", total] = others;
  return {
    rows,
    next: isLast ? undefined : { ...position, arrived },
    total: total === undefined ? undefined : Number(total),
  };
}

/** The rows of a search. Their last lines are the events that had arrived, and the total if it is read. */
async function searchRows(
  sql: Sql,
  filter: TransactionFilter,
  { offset, max, rowBytesMax }: { offset: number; max: number; rowBytesMax: number },
): Promise<{ text: string }[]> {
  const scans = scansFor(filter, offset + max);
  const textOf = (bind: Bind, ...others: string[]) => {
    const arrived = filter.after ? `${bind(filter.after.arrived)}::text` : "(select arrived_events())";
    return reportedText(bind(rowBytesMax), arrived, ...others);
  };
  const pageOf = (from: string, bind: Bind) =>
    `from ${from} as transaction order by ${newestFirst} limit ${bind(max)} offset ${bind(offset)}`;

  if (hasOnlyRanges(filter)) {
    const { values, bind } = binding();
    const [scan] = scans as [Scan];
    const text = textOf(bind, ...totalOf(filter, bind));
    const statement = `select ${text} as text ${pageOf(`(${scan(reportedColumns, bind)})`, bind)}`;
    return sql.query(statement, values, "repeated");
  }
  // `is_known` is joined to the page, since an empty page and an unknown one both have no rows.
  const rows = await firstKnown<{ text: string | null }>(
    sql,
    scans,
    (scan, bind) => `
      with found as materialized (
        select * from (${scan(reportedColumns, bind)} offset 0) as found
        order by ${newestFirst} limit ${bind(offset + max)}
      )
      select is_known, text
      from (select coalesce(bool_and(not is_cut_off), true) as is_known from found) as completeness
      left join lateral (
        select ${textOf(bind)} as text, created_date, external_id ${pageOf("(select * from found where is_known)", bind)}
      ) as page on true
      order by ${newestFirst}`,
  );
  return rows.flatMap(({ text }) => (text === null ? [] : { text }));
}

/** The total as a column, if it is one number in the summaries. With dates it has many forms, of which no plan is kept. */
function totalOf(filter: TransactionFilter, bind: Bind): string[] {
  const summarised = summaryFilterOf(filter);
  const hasDates = filter.from_date !== undefined || filter.to_date !== undefined;
  const count = summarised && !hasDates && countStatement(summarised, bind);
  return count ? [`(${count})`] : [];
}

/** The number of transactions that match the filter, up to `max`. Without summaries counting stops at `max`. */
export async function countTransactions(sql: Sql, filter: TransactionFilter, max = Number.POSITIVE_INFINITY) {
  const summarised = summaryFilterOf(filter);
  if (summarised) return Math.min(await countSummarised(sql, summarised), max);
  const isExact = max === Number.POSITIVE_INFINITY;
  const scans = isExact ? [readAll(filter)] : scansFor(filter, max);
  const [row] = await firstKnown<{ count: bigint }>(sql, scans, (scan, bind) => {
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
  const { account_id, transaction_type, state, states_by_type, live, from_date, to_date, ...others } = filter;
  if (Object.values(others).some((value) => value !== undefined)) return undefined;
  const created = {
    from: from_date === undefined ? beginning : (microsecondAfter(from_date) ?? end),
    to: to_date ?? end,
  };
  return { account_id, transaction_type, state, states_by_type, live, created };
}

/** Makes the scans in order and resolves with the rows of the first whose result is known (`is_known`). */
async function firstKnown<Row>(
  sql: Sql,
  scans: Scan[],
  statementOf: (scan: Scan, bind: Bind) => string,
): Promise<Row[]> {
  for (const scan of scans) {
    const { values, bind } = binding();
    const rows = await sql.query<Row & { is_known: boolean }>(statementOf(scan, bind), values, "custom");
    if (rows[0]?.is_known) return rows;
  }
  throw new Error("the result of the last scan must be known");
}
