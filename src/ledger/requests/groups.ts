import type { operations } from "../../../generated/ledger.ts";
import type { Sql } from "../../database/database.ts";
import type { SummaryFilter } from "../tables/summary/rows.ts";
import { type Grouping, summarise } from "../tables/summary/summary.ts";
import { statusesByState } from "../views/state.ts";
import { betweenInstants } from "./created-interval.ts";
import type { Cursors, GroupPosition } from "./cursor.ts";
import { type StateQuery, stateFilterOf } from "./search-filter.ts";

/** Maximum number of entries of a report that is a list: a response of about 2 MB. */
export const entriesMax = 10_000;

type ReportQuery = Pick<
  operations["listTransactionReportChanges"]["parameters"]["query"],
  "account_id" | "transaction_type" | "live" | "from_date" | "to_date" | "group_by"
> &
  StateQuery;

/** The filter and the groups of a report. */
export function reportOf(query: ReportQuery, timeZone: string) {
  const filter: SummaryFilter = {
    account_id: query.account_id,
    transaction_type: query.transaction_type,
    live: query.live,
    ...stateFilterOf(query),
    created: betweenInstants(query),
  };
  const { group_by: groupBy = [], status_version } = query;
  return { filter, grouping: { groupBy, timeZone, statuses: statusesByState(status_version) } };
}

export type Report = ReturnType<typeof reportOf>;

/** The first groups after a position, up to `max`, and the position of the last one if there are more. */
export async function readGroups(
  sql: Sql,
  filter: SummaryFilter,
  grouping: Omit<Grouping, "after" | "max">,
  after: GroupPosition | undefined,
  max: number,
) {
  const columns = [...grouping.groupBy];
  const position =
    after && Object.fromEntries(columns.map((column, index) => [column, after.values[index] ?? null]));
  const found = await summarise(sql, filter, { ...grouping, after: position, max: max + 1 });
  const groups = found.slice(0, max);
  const last = found.length > max ? groups.at(-1) : undefined;
  return { groups, next: last && { columns, values: columns.map((column) => last[column] ?? null) } };
}

export type GroupPage = Awaited<ReturnType<typeof readGroups>>;

/** The position of a cursor in a report with these columns; undefined without a cursor, null if it is of none of such a report. */
export function readGroupCursor(cursors: Cursors, text: string | undefined, columns: readonly string[]) {
  const position = cursors.group.read(text);
  return position && position.columns.join() !== columns.join() ? null : position;
}
