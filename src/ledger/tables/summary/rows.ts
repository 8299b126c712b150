import type { Sql } from "../../../database/database.ts";
import { toJson } from "../../../values/json.ts";
import { type Bind, binding } from "../conditions.ts";
import { queryIds } from "../query.ts";
import { filterCondition, type TransactionFilter } from "../search/transaction-filter.ts";
import {
  always,
  dayAfter,
  dayOf,
  type Grain,
  type Interval,
  midnightOf,
  partsOf,
  wholeHoursOf,
} from "./periods.ts";
import { dayIn, zonePartsOf } from "./zone-parts.ts";

/** Conditions that the summaries know. All given ones must hold. */
export interface SummaryFilter
  extends Pick<TransactionFilter, "account_id" | "transaction_type" | "state" | "states_by_type" | "live"> {
  moto?: boolean | undefined;
  /** Instants of `created_date`. Default: all. */
  created?: Interval | undefined;
  /** Leaves out payments that correct a failed refund: no payer has made them. Without `timeZone`. Default: false. */
  withoutCorrections?: boolean | undefined;
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
/** By what a report groups. A day, a week and a month are their first days. */
export type GroupColumn = "account" | "type" | "state" | "day" | "week" | "month" | "live" | "moto";

/** What is needed of the rows. Default: the count. */
interface Needs {
  groupBy?: readonly (GroupColumn | "hour")[];
  /** Of days, weeks and months: a name that the database knows. Default: UTC. */
  timeZone?: string;
  sums?: readonly SumColumn[];
}

/**
 * A statement for rows with a period (a day, or an hour if they are grouped by hour), the other columns of a summary, a
 * count and, if they are needed, sums. All rows together summarise the transactions that match. Changes that are not merged,
 * and transactions of hours that are not whole, are among them: one statement reads everything as of one moment. Undefined
 * if no instant matches.
 */
export function rowsOf(
  { created = always, withoutCorrections = false, ...filter }: SummaryFilter,
  { groupBy = [], timeZone = "UTC", sums = [] }: Needs,
  bind: Bind,
): string | undefined {
  const units = periodUnits.filter((unit) => groupBy.includes(unit));
  const parts = partsOf(created, coarsestOf(units));
  if (parts.length === 0) return undefined;

  const zone = timeZone === "UTC" || units.length === 0 ? undefined : `${bind(timeZone)}::text`;
  const utcPeriodOf = (instant: string) => `utc_${units.includes("hour") ? "hour" : "day"}(${instant})`;
  const periodOf = zone ? (instant: string) => dayIn(zone, instant) : utcPeriodOf;
  const sources = sourcesOf(filter, { groupBy, sums }, bind);
  const { select } = sources;
  const hours = wholeHoursOf(created);
  return [
    ...parts.map((part) => {
      if (part.grain === "instant")
        return select(periodOf("created_date"), sources.transactions(bound(part, bind)), part.sign);
      // Whole hours are on their day in UTC, from which they are moved.
      if (part.grain === "hour")
        return select(utcPeriodOf("hour"), sources.hours(bound(part, bind)), part.sign);
      return select("period", sources.summaries(part.grain, part));
    }),
    ...(hours ? [select(periodOf("hour"), sources.changes(bound(hours, bind)))] : []),
    ...(hours && zone ? [movesOf(hours, units, zone, sources, bind)] : []),
    ...(withoutCorrections ? [lessCorrections(created, sources, bind)] : []),
  ].join(" union all ");
}

/**
 * The intervals of which `rowsOf` reads transactions: those at the ends that are not whole hours, and the hours in which a day
 * of the time zone begins.
 */
export async function intervalsRead(
  sql: Sql,
  { created = always }: SummaryFilter,
  { groupBy = [], timeZone = "UTC" }: Needs,
): Promise<Interval[]> {
  const units = periodUnits.filter((unit) => groupBy.includes(unit));
  const ends = partsOf(created, coarsestOf(units)).filter(({ grain }) => grain === "instant");
  const hours = wholeHoursOf(created);
  if (!hours || units.length === 0 || timeZone === "UTC") return ends;
  const { values, bind } = binding();
  const days = `(
    select distinct period as utc_day from transaction_summary
    where all_accounts and gateway_account_id is null and grain = 'day'
      and period >= ${bind(dayOf(hours.from))}::date and period <= ${bind(dayOf(hours.to))}::date
    union select day from transaction_summary_change
  ) as utc_days`;
  const [found] = await sql.query<{ from: string | null; to: string | null }>(
    `select min(from_instant) as from, max(to_instant) as to
     from (${zonePartsOf(days, bound(hours, bind), `${bind(timeZone)}::text`)}) as part
     where not is_whole and from_instant < to_instant`,
    values,
    "custom",
  );
  return found?.from && found.to ? [...ends, { from: found.from, to: found.to }] : ends;
}

/** The payments that correct a failed refund, which `withoutCorrections` reads, and some that do not. */
export const correctionIds = (sql: Sql): Promise<string[]> =>
  queryIds(
    sql,
    `select distinct resource_external_id as id from event where event_type = '${correctionType}'`,
  );

const correctionType = "REFUND_FAILURE_FUNDS_SENT_TO_CONNECT_ACCOUNT";

const periodUnits = ["hour", "day", "week", "month"] as const;
type Unit = (typeof periodUnits)[number];

function coarsestOf(units: Unit[]): Grain {
  if (units.length === 0) return "ever";
  if (units.includes("hour")) return "hour";
  return units.every((unit) => unit === "month") ? "month" : "day";
}

/** Changes of transactions, each with a number. */
export interface Changes {
  /** Rows of transactions before a change (sign -1) and after it (sign 1). */
  rows: { number: number; sign: 1 | -1; row: object }[];
  /** What SQL transactions have changed in transactions, as `transaction_difference` has it. */
  recorded: { number: number; sql_transaction: bigint; external_id: string }[];
}

/** A statement for rows with the columns of `rowsOf` and `number`. They summarise what the changes have added and removed. */
export function rowsOfChanges(
  { rows, recorded }: Changes,
  { created = always, ...filter }: SummaryFilter,
  timeZone: string,
  bind: Bind,
): string {
  const conditions = filterCondition(filter, bind);
  const zone = `${bind(timeZone)}::text`;
  const { from, to } = bound(created, bind);
  const columns = "gateway_account_id, transaction_type, state, live, moto";
  return `
    select number, ${dayIn(zone, "created_date")} as period, ${columns}, sign as count,
      ${sumColumns.map((name) => `sign * ${name} as ${name}`)}
    from jsonb_array_elements(${bind(toJson(rows))}::jsonb) as element
    cross join lateral (select (element -> 'number')::int as number, (element -> 'sign')::int as sign) as given
    cross join lateral jsonb_populate_record(null::transaction, element -> 'row') as transaction
    cross join lateral summarised_details(details)
    where created_date >= ${from} and created_date < ${to} and ${conditions}
    union all
    select number, ${dayIn(zone, "hour")}, ${[columns, "count", ...sumColumns]}
    from jsonb_to_recordset(${bind(toJson(recorded))}::jsonb) as given (number int, sql_transaction bigint, external_id text)
    join transaction_difference using (sql_transaction, external_id)
    where hour >= ${from} and hour < ${to} and ${conditions}`;
}

/** The instants of an interval as SQL. */
const bound = ({ from, to }: Interval, bind: Bind): Interval => ({
  from: `${bind(from)}::timestamptz`,
  to: `${bind(to)}::timestamptz`,
});

/** What a statement can read: the matching rows of each table, as a `from` clause. Instants are given as SQL. */
function sourcesOf(
  { moto, ...others }: Omit<SummaryFilter, "created" | "withoutCorrections">,
  { groupBy, sums }: Required<Pick<Needs, "groupBy" | "sums">>,
  bind: Bind,
) {
  const conditions = [
    filterCondition(others, bind),
    ...(moto === undefined ? [] : [`moto = ${bind(moto)}`]),
  ].join(" and ");
  const isOfAccounts = others.account_id || groupBy.includes("account");
  // The account is a column of the index before the hour and the period.
  const scope = isOfAccounts ? "not all_accounts" : "all_accounts and gateway_account_id is null";
  const details =
    sums.length > 0 || moto !== undefined || groupBy.includes("moto")
      ? "summarised_details(details)"
      : "(select null::boolean as moto) as no_details";
  return {
    summaries: (grain: Exclude<Grain, "hour">, { from, to }: Interval) => `
      from transaction_summary
      where ${scope} and grain = '${grain}' and period >= ${bind(from)}::date and period < ${bind(to)}::date
        and ${conditions}`,
    hours: ({ from, to }: Interval) => `
      from transaction_hour_summary where ${scope} and hour >= ${from} and hour < ${to} and ${conditions}`,
    changes: ({ from, to }: Interval) => `
      from transaction_summary_change where hour >= ${from} and hour < ${to} and ${conditions}`,
    transactions: ({ from, to }: Interval) => `
      from transaction cross join lateral ${details} cross join (select 1 as count) as one
      where created_date >= ${from} and created_date < ${to} and ${conditions}`,
    /** Selects a period, the other columns of a summary, a count and the needed sums, each multiplied by a sign. */
    select: (period: string, from: string, sign: number | string = 1) => `
      select ${period} as period, gateway_account_id, transaction_type, state, live, moto
        ${["count", ...sums].map((name) => `, ${sign === 1 ? name : `${sign} * ${name}`} as ${name}`).join("")}
      ${from}`,
  };
}

type Sources = ReturnType<typeof sourcesOf>;

/**
 * Rows that subtract the payments that correct a failed refund. Such a payment has the event of a correction, and none that
 * creates a payment.
 */
function lessCorrections(created: Interval, { transactions, select }: Sources, bind: Bind): string {
  const corrections = `${transactions(bound(created, bind))} and transaction_type = 'PAYMENT' and external_id in (
    select resource_external_id from event as correction
    where event_type = '${correctionType}' and resource_type = 'payment' and not exists (
      select from event
      where event.resource_type = 'payment' and event.resource_external_id = correction.resource_external_id
        and event.event_type in ('PAYMENT_CREATED', 'PAYMENT_NOTIFICATION_CREATED')
    )
  )`;
  return select("utc_day(created_date)", corrections, -1);
}

/**
 * Moves whole hours from their day in UTC to that of the time zone, and transactions to their day if it changes within an
 * hour. Changes are on their day already, as long as they are not merged. With `offset 0` the planner reads the rows of each
 * part by an index, instead of reading all of them once.
 */
function movesOf(hours: Interval, units: Unit[], zone: string, sources: Sources, bind: Bind): string {
  const { summaries, changes, select } = sources;
  const days = { from: dayOf(hours.from), to: dayAfter(dayOf(hours.to)) };
  // A day without a summary can have hours with one, if a change of another hour is not merged.
  const instants = bound({ from: midnightOf(days.from), to: midnightOf(days.to) }, bind);
  const utcDays = `(
    select period as utc_day ${summaries("day", days)} union select day ${changes(instants)}
  ) as utc_days`;
  const movedConditions = units.map(
    (unit) => `date_trunc('${unit}', zone_day::timestamp) <> date_trunc('${unit}', base_day::timestamp)`,
  );
  const part = { from: "from_instant", to: "to_instant" };
  const moves = `
    from (${zonePartsOf(utcDays, bound(hours, bind), zone)}) as part
    cross join lateral (
      ${select("zone_day", `${sources.hours(part)} and is_whole`)}
      union all
      ${select(dayIn(zone, "created_date"), `${sources.transactions(part)} and not is_whole`)}
      offset 0
    ) as own
    cross join lateral (values (1, period), (-1, base_day)) as move (sign, day)
    where from_instant < to_instant and (${movedConditions.join(" or ")}) is not false and period <> base_day`;
  return select("move.day", moves, "sign");
}
