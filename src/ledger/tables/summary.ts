import { mapInTurns } from "../../process/turns.ts";
import type { Sql } from "../database/database.ts";
import { always, type Interval, partsOf } from "./periods.ts";
import type { TransactionState } from "./transaction.ts";
import { type Bind, binding, conditionsOf, type TransactionFilter } from "./transaction-filter.ts";

/** Conditions that the summaries know. All given ones must hold. */
export interface SummaryFilter
  extends Pick<TransactionFilter, "account_ids" | "transaction_type" | "states" | "states_by_type"> {
  live?: boolean | undefined;
  moto?: boolean | undefined;
  /** Instants of `created_date`. Default: all. */
  created?: Interval | undefined;
}

/** Sums in pence, as `transaction_summary` names them. */
export const sumColumns = [
  "amount",
  "total_amount",
  "net_amount",
  "fee",
  "refunded_amount",
  "gross_amount",
] as const;

export type SumColumn = (typeof sumColumns)[number];
export type Sums = Record<"count" | SumColumn, bigint>;

/** By what a report groups. A day, a week and a month are their first days. */
export type GroupColumn = "account" | "type" | "state" | "day" | "week" | "month" | "live" | "moto";

/** The values of a group, as text; null for transactions without one. */
export type GroupValues = { [Column in GroupColumn]?: string | null };

export interface Grouping {
  /** The groups are in the order of these columns. Without any there is one group if a transaction matches. */
  groupBy: readonly GroupColumn[];
  /** The sums that are needed; others are 0. Fewer take less time for days that are not whole. Default: all. */
  sums?: readonly SumColumn[] | undefined;
  /** Where days, weeks and months begin. Default: UTC. */
  timeZone?: string | undefined;
  /** How states are shown. Default: as they are stored. */
  statuses?: ReadonlyMap<TransactionState, string> | undefined;
  /** The group before the first one. */
  after?: GroupValues | undefined;
  /** Maximum number of groups. Default: all. */
  max?: number | undefined;
}

/** The number of transactions that match the filter. */
export async function countSummarised(sql: Sql, filter: SummaryFilter): Promise<number> {
  const { values, bind } = binding();
  const rows = rowsOf(filter, {}, bind);
  if (rows === undefined) return 0;
  const statement = `select coalesce(sum(count), 0)::bigint as count from (${rows}) as part`;
  const [row] = await sql.query<{ count: bigint }>(statement, values, "custom");
  return Number(row?.count);
}

/** The numbers and sums of the transactions that match the filter, in groups. */
export async function summarise(
  sql: Sql,
  filter: SummaryFilter,
  { groupBy, sums = sumColumns, timeZone = "UTC", statuses, after, max }: Grouping,
): Promise<(GroupValues & Sums)[]> {
  const { values, bind } = binding();
  const rows = rowsOf(filter, { groupBy, timeZone, sums }, bind);
  if (rows === undefined) return [];
  const shownAs = statuses
    ? `join unnest(${bind([...statuses.keys()])}::text[], ${bind([...statuses.values()])}::text[])
         as shown (state, status) using (state)`
    : "cross join lateral (select state as status) as shown";
  const orderOf = (textOf: (column: GroupColumn) => string) =>
    groupBy.flatMap((column) => [`${textOf(column)} is null`, `coalesce(${textOf(column)}, '') collate "C"`]);
  const order = orderOf((column) => `"${column}"`);
  const position = after && orderOf((column) => `${bind(after[column] ?? null)}::text`);
  const statement = `
    select * from (
      select ${[
        ...groupBy.map((column) => `${groupValues[column]} as "${column}"`),
        "sum(count)::bigint as count",
        ...sums.map((name) => `sum(${name})::text as ${name}`),
      ]}
      from (${rows}) as part ${shownAs}
      ${groupBy.length > 0 ? `group by ${groupBy.map((_, index) => index + 1)}` : ""}
      having sum(count) <> 0
    ) as summarised
    ${position ? `where (${order}) > (${position})` : ""}
    ${order.length > 0 ? `order by ${order}` : ""}
    ${max === undefined ? "" : `limit ${bind(max)}`}`;
  const found = await sql.query<object>(statement, values, "custom");
  return mapInTurns(found, (row) => withBigInts(row, sumColumns));
}

/** The live transactions of an hour. Sums are in pence. */
export interface HourRow extends Pick<Sums, "count" | "amount" | "total_amount" | "net_amount" | "fee"> {
  /** The start of the hour: UTC, six fraction digits. */
  hour: string;
  errored: bigint;
  completed: bigint;
}

/** The live transactions of each hour that has some, oldest first, up to `max` hours. Reads all of them in the interval. */
export async function summariseByHour(sql: Sql, { from, to }: Interval, max: number): Promise<HourRow[]> {
  const sums = ["amount", "total_amount", "net_amount", "fee"] as const;
  const rows = await sql.query<object>(
    `select date_trunc('hour', created_date, 'UTC') as hour, count(*),
       count(*) filter (where state in ('ERROR', 'ERROR_GATEWAY')) as errored,
       count(*) filter (where state = 'SUCCESS') as completed,
       ${sums.map((name) => `sum(${name})::text as ${name}`)}
     from transaction cross join lateral summarised_details(details)
     where live and created_date >= $1 and created_date < $2
     group by 1 order by 1 limit $3`,
    [from, to, max],
    "custom",
  );
  return mapInTurns(rows, (row) => withBigInts(row, sums));
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
  day: "to_char(day, 'YYYY-MM-DD')",
  week: "to_char(date_trunc('week', day::timestamp), 'YYYY-MM-DD')",
  month: "to_char(date_trunc('month', day::timestamp), 'YYYY-MM-DD')",
  live: "live::text",
  moto: "moto::text",
};

/** What is needed of the rows. Default: the count. */
interface Needs {
  groupBy?: readonly GroupColumn[];
  timeZone?: string;
  sums?: readonly SumColumn[];
}

/**
 * A statement for rows with a day, the other columns of a summary, a count and, if they are needed, sums. All rows together
 * summarise the transactions that match. Changes that are not merged, and transactions of days that are not whole, are
 * among them: one statement reads everything as of one moment. Undefined if no instant matches.
 */
function rowsOf(
  { live, moto, created = always, ...others }: SummaryFilter,
  { groupBy = [], timeZone = "UTC", sums = [] }: Needs,
  bind: Bind,
): string | undefined {
  const units = periodUnits.filter((unit) => groupBy.includes(unit));
  const isOfZone = timeZone !== "UTC" && units.length > 0;
  const coarsest =
    isOfZone || units.some((unit) => unit !== "month") ? "day" : units.length > 0 ? "month" : "ever";
  const parts = partsOf(created, coarsest);
  if (parts.length === 0) return undefined;

  const conditions = [
    conditionsOf(others, bind),
    ...(live === undefined ? [] : [`live = ${bind(live)}`]),
    ...(moto === undefined ? [] : [`moto = ${bind(moto)}`]),
  ].join(" and ");
  const scope = others.account_ids || groupBy.includes("account") ? "not all_accounts" : "all_accounts";
  const fromSummaries = (grain: string, { from, to }: Interval) => `
    from transaction_summary
    where ${scope} and grain = '${grain}' and period >= ${bind(from)}::date and period < ${bind(to)}::date
      and ${conditions}`;
  const fromChanges = ({ from, to }: Interval) => `
    from transaction_summary_change
    where day >= ${bind(from)}::date and day < ${bind(to)}::date and ${conditions}`;
  const details =
    sums.length > 0 || moto !== undefined || groupBy.includes("moto")
      ? "summarised_details(details)"
      : "(select null::boolean as moto) as no_details";
  const fromTransactions = (from: string, to: string) => `
    from transaction cross join lateral ${details}
    where created_date >= ${from} and created_date < ${to} and ${conditions}`;
  const select = (day: string, count: string, sign = "") => `
    select ${day} as day, gateway_account_id, transaction_type, state, live, moto, ${count} as count
      ${sums.map((name) => `, ${sign}${name} as ${name}`).join("")}`;

  /**
   * Moves transactions to the day of the time zone: those between its midnight and that of UTC. With `offset 0` the planner
   * reads the transactions of each day by an index, instead of reading all of them once.
   */
  function moved(days: Interval): string {
    const midnight = (day: string, zone: string) => `((${day})::timestamp at time zone ${zone})`;
    const zone = `${bind(timeZone)}::text`;
    const isMoved = units.map(
      (unit) => `date_trunc('${unit}', zone_day::timestamp) <> date_trunc('${unit}', utc_day::timestamp)`,
    );
    return `
      ${select("move.day", "sign", "sign * ")}
      from (
        select period as utc_day ${fromSummaries("day", days)} union select day ${fromChanges(days)}
      ) as utc
      cross join lateral (values
        (${midnight("utc_day", "'UTC'")}, ${midnight("utc_day", zone)}, utc_day - 1),
        (${midnight("utc_day + 1", zone)}, ${midnight("utc_day + 1", "'UTC'")}, utc_day + 1)
      ) as between_midnights (from_instant, to_instant, zone_day)
      cross join lateral (
        ${select("null::date", "1")} ${fromTransactions("from_instant", "to_instant")} offset 0
      ) as own
      cross join lateral (values (1, zone_day), (-1, utc_day)) as move (sign, day)
      where from_instant < to_instant and (${isMoved.join(" or ")})`;
  }

  const whole = parts.filter((part) => part.grain !== "instant");
  const [first, last] = [whole[0], whole.at(-1)];
  const wholeDays = first && last ? [{ from: first.from, to: last.to }] : [];
  return [
    ...parts.map((part) => {
      if (part.grain !== "instant") return `${select("period", "count")} ${fromSummaries(part.grain, part)}`;
      const day = `(created_date at time zone ${isOfZone ? `${bind(timeZone)}::text` : "'UTC'"})::date`;
      const [from, to] = [part.from, part.to].map((instant) => `${bind(instant)}::timestamptz`) as [
        string,
        string,
      ];
      const sign = part.sign === 1 ? "" : "-";
      return `${select(day, `${sign}1`, sign)} ${fromTransactions(from, to)}`;
    }),
    ...wholeDays.map((days) => `${select("day", "count")} ${fromChanges(days)}`),
    ...(isOfZone ? wholeDays.map(moved) : []),
  ].join(" union all ");
}

const periodUnits = ["day", "week", "month"] as const;
