import type { Plan, Sql } from "../../../database/database.ts";
import { mapInTurns } from "../../../waiting/turns.ts";
import { type Bind, binding } from "../conditions.ts";
import { idsDatedBetween } from "../event.ts";
import type { CreatedIn } from "../known/changed.ts";
import { queryCount } from "../query.ts";
import type { TransactionState } from "../transaction.ts";
import type { Interval } from "./periods.ts";
import {
  type Changes,
  correctionIds,
  type GroupColumn,
  intervalsRead,
  rowsOf,
  rowsOfChanges,
  type SumColumn,
  type SummaryFilter,
  sumColumns,
} from "./rows.ts";

export type Sums = Record<"count" | SumColumn, bigint>;

export const noTransactions = Object.fromEntries(["count", ...sumColumns].map((name) => [name, 0n])) as Sums;

/** The values of a group, as text; null for transactions without one. */
export type GroupValues = { [Column in GroupColumn]?: string | null };

export interface Grouping {
  /** The groups are in the order of these columns. Without any there is one group if a transaction matches. */
  groupBy: readonly GroupColumn[];
  /** The sums that are needed; others are 0. Fewer take less time for days that are not whole. Default: all. */
  sums?: readonly SumColumn[] | undefined;
  /** Where days, weeks and months begin: a name that the database knows. Default: UTC. */
  timeZone?: string | undefined;
  /** How states are shown. Default: as they are stored. */
  statuses?: ReadonlyMap<TransactionState, string> | undefined;
  /** The group before the first one. */
  after?: GroupValues | undefined;
  /** Maximum number of groups. Default: all. */
  max?: number | undefined;
  /** `repeated` if the filter and the grouping have few forms. Default: `custom`. */
  plan?: Plan;
}

/** The transactions that `summarise` reads one by one, for a reading of the past. */
export const readBy =
  (
    filter: SummaryFilter,
    { groupBy, timeZone }: { groupBy: Grouping["groupBy"]; timeZone?: string | undefined },
  ) =>
  async (then: Sql, now: Sql): Promise<CreatedIn & { ids: string[] }> => {
    const ids = filter.withoutCorrections ? await correctionIds(then) : [];
    const created: Interval[] = [];
    for (const interval of await intervalsRead(then, filter, { groupBy, ...(timeZone && { timeZone }) })) {
      // A transaction is created at its earliest event. Short intervals have few.
      const dated = await idsDatedBetween(now, interval.from, interval.to, datedMax + 1);
      if (dated.length <= datedMax) ids.push(...dated);
      else created.push(interval);
    }
    return { accounts: filter.account_id, created, ids };
  };

/** Maximum number of transactions of an interval that are read whether they have changed or not. */
const datedMax = 100;

/** A statement for the number of transactions that match the filter as `count`; undefined if no instant matches. */
export function countStatement(filter: SummaryFilter, bind: Bind): string | undefined {
  const rows = rowsOf(filter, {}, bind);
  return rows && `select coalesce(sum(count), 0)::bigint as count from (${rows}) as part`;
}

/** The number of transactions that match the filter. */
export async function countSummarised(sql: Sql, filter: SummaryFilter): Promise<number> {
  const { values, bind } = binding();
  const statement = countStatement(filter, bind);
  return statement === undefined ? 0 : queryCount(sql, statement, values, "custom");
}

/** The numbers and sums of the transactions that match the filter, in groups. */
export async function summarise(
  sql: Sql,
  filter: SummaryFilter,
  { groupBy, sums = sumColumns, timeZone = "UTC", statuses, after, max, plan = "custom" }: Grouping,
): Promise<(GroupValues & Sums)[]> {
  const { values, bind } = binding();
  const rows = rowsOf(filter, { groupBy, timeZone, sums }, bind);
  if (rows === undefined) return [];
  const order = orderOf(groupBy, (column) => `"${column}"`);
  const position = after && orderOf(groupBy, (column) => `${bind(after[column] ?? null)}::text`);
  const statement = `
    select * from (${inGroups(rows, { groupBy, sums, statuses }, bind)} having sum(count) <> 0) as summarised
    ${position ? `where (${order}) > (${position})` : ""}
    ${order.length > 0 ? `order by ${order}` : ""}
    ${max === undefined ? "" : `limit ${bind(max)}`}`;
  const found = await sql.query<object>(statement, values, plan);
  return mapInTurns(found, (row) => withBigInts(row, sumColumns));
}

/** The groups of rows with the columns of `rowsOf`, and with others by which they are grouped first. */
function inGroups(
  rows: string,
  { groupBy, sums, statuses }: Required<Pick<Grouping, "groupBy" | "sums">> & Pick<Grouping, "statuses">,
  bind: Bind,
  first: string[] = [],
): string {
  const shownAs = statuses
    ? `join unnest(${bind([...statuses.keys()])}::text[], ${bind([...statuses.values()])}::text[])
         as shown (state, status) using (state)`
    : "cross join lateral (select state as status) as shown";
  const columns = [...first, ...groupBy.map((column) => `${groupValues[column]} as "${column}"`)];
  return `
    select ${[
      ...columns,
      "sum(count)::bigint as count",
      ...(sums ?? []).map((name) => `sum(${name})::text as ${name}`),
    ]}
    from (${rows}) as part ${shownAs}
    ${columns.length > 0 ? `group by ${columns.map((_, index) => index + 1)}` : ""}`;
}

const orderOf = (groupBy: readonly GroupColumn[], textOf: (column: GroupColumn) => string) =>
  groupBy.flatMap((column) => [`${textOf(column)} is null`, `coalesce(${textOf(column)}, '') collate "C"`]);

/**
 * What changes of transactions have added to groups and removed from them: the groups of each change, by its number. Those
 * that are added to and removed from alike are left out.
 */
export async function summariseChanges(
  sql: Sql,
  changes: Changes,
  filter: SummaryFilter,
  { groupBy, timeZone = "UTC", statuses }: Pick<Grouping, "groupBy" | "timeZone" | "statuses">,
): Promise<(GroupValues & Sums & { number: number })[]> {
  const { values, bind } = binding();
  const rows = rowsOfChanges(changes, filter, timeZone, bind);
  const isNothing = ["count", ...sumColumns].map((name) => `sum(${name}) = 0`).join(" and ");
  const statement = `${inGroups(rows, { groupBy, sums: sumColumns, statuses }, bind, ["number"])}
    having not (${isNothing}) order by ${["number", ...orderOf(groupBy, (column) => groupValues[column])]}`;
  const found = await sql.query<{ number: number }>(statement, values, "custom");
  return found.map((row) => withBigInts(row, sumColumns) as GroupValues & Sums & { number: number });
}

/** The later groups less the ones before, those that are not the same, in the order of groups. */
export function differencesOf(
  before: (GroupValues & Sums)[],
  later: (GroupValues & Sums)[],
  groupBy: readonly GroupColumn[],
): (GroupValues & Sums)[] {
  const valuesOf = (group: GroupValues) => groupBy.map((column) => group[column] ?? null);
  const byValues = new Map(before.map((group) => [JSON.stringify(valuesOf(group)), group]));
  const names = ["count", ...sumColumns] as const;
  const less = (group: GroupValues & Sums, other: Sums) => ({
    ...group,
    ...(Object.fromEntries(names.map((name) => [name, BigInt(group[name]) - BigInt(other[name])])) as Sums),
  });
  const changed = later.map((group) => {
    const key = JSON.stringify(valuesOf(group));
    const other = byValues.get(key) ?? noTransactions;
    byValues.delete(key);
    return less(group, other);
  });
  const removed = [...byValues.values()].map((group) => ({
    ...group,
    ...less(noTransactions as typeof group, group),
  }));
  return [...changed, ...removed]
    .filter((group) => names.some((name) => group[name] !== 0n))
    .sort((a, b) => compareValues(valuesOf(a), valuesOf(b)));
}

/** Texts by code point, missing values last. */
function compareValues(a: (string | null)[], b: (string | null)[]): number {
  for (const [index, one] of a.entries()) {
    const other = b[index] ?? null;
    if (one === other) continue;
    if (one === null || other === null) return one === null ? 1 : -1;
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  }
  return 0;
}

/** The live transactions of an hour. Sums are in pence. */
export interface HourRow extends Pick<Sums, "count" | "amount" | "total_amount" | "net_amount" | "fee"> {
  /** The start of the hour: UTC, six fraction digits. */
  hour: string;
  errored: bigint;
  completed: bigint;
}

/** The first of some names of a time zone that the database knows, if any. Its list of zones can be older than that of Node.js. */
export async function knownTimeZone(sql: Sql, names: string[]): Promise<string | undefined> {
  // Every database knows it.
  if (names.includes("UTC")) return "UTC";
  for (const name of names) {
    try {
      await sql.query("select now() at time zone $1", [name]);
      return name;
    } catch (error) {
      const { code } = ((error as Error).cause ?? error) as { code?: string };
      if (code !== invalidParameter) throw error;
    }
  }
  return undefined;
}

/** SQLSTATE of a value that a function does not accept. */
const invalidParameter = "22023";

/** The live transactions of each hour that has some, oldest first, up to `max` hours. */
export async function summariseByHour(sql: Sql, created: Interval, max: number): Promise<HourRow[]> {
  const sums = ["amount", "total_amount", "net_amount", "fee"] as const;
  const { values, bind } = binding();
  const rows = rowsOf({ created, live: true }, { groupBy: ["hour"], sums }, bind);
  if (rows === undefined) return [];
  const found = await sql.query<object>(
    `select period as hour, sum(count)::bigint as count,
       coalesce(sum(count) filter (where state in ('ERROR', 'ERROR_GATEWAY')), 0)::bigint as errored,
       coalesce(sum(count) filter (where state = 'SUCCESS'), 0)::bigint as completed,
       ${sums.map((name) => `sum(${name})::text as ${name}`)}
     from (${rows}) as part
     group by period having sum(count) <> 0 order by period limit ${bind(max)}`,
    values,
    "custom",
  );
  return mapInTurns(found, (row) => withBigInts(row, sums));
}

/**
 * The number and the sum of the amounts of the payments that match and have one; surcharges are not amounts. In pence. Reads
 * all payments in the interval.
 */
export async function summariseAmounts(
  sql: Sql,
  { from, to }: Interval,
  { state, live }: { state: TransactionState | undefined; live: boolean },
): Promise<Pick<Sums, "count" | "amount">> {
  const [row] = await sql.query<object>(
    `select count(amount), coalesce(sum(amount), 0)::text as amount
     from transaction cross join lateral (select pence_of(details -> 'amount') as amount) as known
     where transaction_type = 'PAYMENT' and live = $1 and created_date >= $2 and created_date < $3
       and ($4::text is null or state = $4)`,
    [live, from, to, state ?? null],
    "custom",
  );
  return withBigInts(row as Pick<Sums, "count" | "amount">, ["amount"]);
}

/** The row with sums that are numbers; a sum that was not selected is 0. */
function withBigInts<Row extends object>(row: object, sums: readonly SumColumn[]): Row {
  const numbers: Record<string, unknown> = { ...row };
  for (const name of sums) numbers[name] = BigInt((numbers[name] as string | undefined) ?? 0);
  return numbers as Row;
}

/** The text of a group's value, from a row of `rowsOf`. */
const groupValues: Record<GroupColumn, string> = {
  account: "gateway_account_id",
  type: "transaction_type",
  state: "shown.status",
  day: "to_char(period, 'YYYY-MM-DD')",
  week: "to_char(date_trunc('week', period::timestamp), 'YYYY-MM-DD')",
  month: "to_char(date_trunc('month', period::timestamp), 'YYYY-MM-DD')",
  live: "live::text",
  moto: "moto::text",
};
