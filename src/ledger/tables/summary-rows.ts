import type { Bind } from "./conditions.ts";
import { always, type Grain, type Interval, type Part, partsOf } from "./periods.ts";
import { conditionsOf, type TransactionFilter } from "./transaction-filter.ts";

/** Conditions that the summaries know. All given ones must hold. */
export interface SummaryFilter
  extends Pick<TransactionFilter, "account_ids" | "transaction_type" | "states" | "states_by_type"> {
  live?: boolean | undefined;
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
  groupBy?: readonly GroupColumn[];
  timeZone?: string;
  sums?: readonly SumColumn[];
}

/**
 * A statement for rows with a day, the other columns of a summary, a count and, if they are needed, sums. All rows together
 * summarise the transactions that match. Changes that are not merged, and transactions of days that are not whole, are
 * among them: one statement reads everything as of one moment. Undefined if no instant matches.
 */
export function rowsOf(
  { created = always, withoutCorrections = false, ...filter }: SummaryFilter,
  { groupBy = [], timeZone = "UTC", sums = [] }: Needs,
  bind: Bind,
): string | undefined {
  const units = periodUnits.filter((unit) => groupBy.includes(unit));
  const zone = timeZone === "UTC" || units.length === 0 ? undefined : `${bind(timeZone)}::text`;
  const parts = partsOf(created, zone ? "day" : coarsestOf(units));
  if (parts.length === 0) return undefined;

  const sources = sourcesOf(filter, { groupBy, sums }, bind);
  const whole = parts.filter((part) => part.grain !== "instant");
  const [first, last] = [whole[0], whole.at(-1)];
  const wholeDays = first && last ? [{ from: first.from, to: last.to }] : [];
  return [
    ...parts.map((part) =>
      part.grain === "instant"
        ? rowsOfInstants(part, zone, sources, bind)
        : sources.select("period", "count", sources.summaries(part.grain, part)),
    ),
    ...wholeDays.map((days) => sources.select("day", "count", sources.changes(days))),
    ...(zone ? wholeDays.map((days) => movesOf(days, units, zone, sources)) : []),
    ...(withoutCorrections ? [lessCorrections(created, sources, bind)] : []),
  ].join(" union all ");
}

const periodUnits = ["day", "week", "month"] as const;
type Unit = (typeof periodUnits)[number];

function coarsestOf(units: Unit[]): Grain {
  if (units.length === 0) return "ever";
  return units.every((unit) => unit === "month") ? "month" : "day";
}

/** What a statement can read: the matching rows of each table, as a `from` clause. */
interface Sources {
  summaries(grain: Grain, days: Interval): string;
  changes(days: Interval): string;
  /** Between two instants, given as SQL. */
  transactions(from: string, to: string): string;
  /** Selects a day, the other columns of a summary, a count and the needed sums from one of them. */
  select(day: string, count: string, from: string, sign?: string): string;
}

function sourcesOf(
  { live, moto, ...others }: Omit<SummaryFilter, "created" | "withoutCorrections">,
  { groupBy, sums }: Required<Pick<Needs, "groupBy" | "sums">>,
  bind: Bind,
): Sources {
  const conditions = [
    conditionsOf(others, bind),
    ...(live === undefined ? [] : [`live = ${bind(live)}`]),
    ...(moto === undefined ? [] : [`moto = ${bind(moto)}`]),
  ].join(" and ");
  const scope = others.account_ids || groupBy.includes("account") ? "not all_accounts" : "all_accounts";
  const details =
    sums.length > 0 || moto !== undefined || groupBy.includes("moto")
      ? "summarised_details(details)"
      : "(select null::boolean as moto) as no_details";
  return {
    summaries: (grain, { from, to }) => `
      from transaction_summary
      where ${scope} and grain = '${grain}' and period >= ${bind(from)}::date and period < ${bind(to)}::date
        and ${conditions}`,
    changes: ({ from, to }) => `
      from transaction_summary_change
      where day >= ${bind(from)}::date and day < ${bind(to)}::date and ${conditions}`,
    transactions: (from, to) => `
      from transaction cross join lateral ${details}
      where created_date >= ${from} and created_date < ${to} and ${conditions}`,
    select: (day, count, from, sign = "") => `
      select ${day} as day, gateway_account_id, transaction_type, state, live, moto, ${count} as count
        ${sums.map((name) => `, ${sign}${name} as ${name}`).join("")}
      ${from}`,
  };
}

/** The transactions of a part of a day, in the time zone or UTC. */
function rowsOfInstants(
  { from, to, sign }: Extract<Part, { grain: "instant" }>,
  zone: string | undefined,
  { transactions, select }: Sources,
  bind: Bind,
): string {
  const day = `(created_date at time zone ${zone ?? "'UTC'"})::date`;
  const between = transactions(`${bind(from)}::timestamptz`, `${bind(to)}::timestamptz`);
  return sign === 1 ? select(day, "1", between) : select(day, "-1", between, "-");
}

/**
 * Rows that subtract the payments that correct a failed refund. Such a payment has the event of a correction, and none that
 * creates a payment.
 */
function lessCorrections({ from, to }: Interval, { transactions, select }: Sources, bind: Bind): string {
  const between = transactions(`${bind(from)}::timestamptz`, `${bind(to)}::timestamptz`);
  const corrections = `${between} and transaction_type = 'PAYMENT' and external_id in (
    select resource_external_id from event as correction
    where event_type = 'REFUND_FAILURE_FUNDS_SENT_TO_CONNECT_ACCOUNT' and resource_type = 'payment' and not exists (
      select from event
      where event.resource_type = 'payment' and event.resource_external_id = correction.resource_external_id
        and event.event_type in ('PAYMENT_CREATED', 'PAYMENT_NOTIFICATION_CREATED')
    )
  )`;
  return select("(created_date at time zone 'UTC')::date", "-1", corrections, "-");
}

/**
 * Moves transactions to the day of the time zone: those between its midnight and that of UTC. With `offset 0` the planner
 * reads the transactions of each day by an index, instead of reading all of them once.
 */
function movesOf(
  days: Interval,
  units: Unit[],
  zone: string,
  { summaries, changes, transactions, select }: Sources,
): string {
  const midnight = (day: string, ofZone: string) => `((${day})::timestamp at time zone ${ofZone})`;
  const isMoved = units.map(
    (unit) => `date_trunc('${unit}', zone_day::timestamp) <> date_trunc('${unit}', utc_day::timestamp)`,
  );
  const moves = `
    from (select period as utc_day ${summaries("day", days)} union select day ${changes(days)}) as utc
    cross join lateral (values
      (${midnight("utc_day", "'UTC'")}, ${midnight("utc_day", zone)}, utc_day - 1),
      (${midnight("utc_day + 1", zone)}, ${midnight("utc_day + 1", "'UTC'")}, utc_day + 1)
    ) as between_midnights (from_instant, to_instant, zone_day)
    cross join lateral (
      ${select("null::date", "1", transactions("from_instant", "to_instant"))} offset 0
    ) as own
    cross join lateral (values (1, zone_day), (-1, utc_day)) as move (sign, day)
    where from_instant < to_instant and (${isMoved.join(" or ")})`;
  return select("move.day", "sign", moves, "sign * ");
}
