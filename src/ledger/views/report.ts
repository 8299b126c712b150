import type { components } from "../../../generated/ledger.ts";
import type { EventRow } from "../tables/event.ts";
import type { FeedPosition } from "../tables/feed/feed.ts";
import { type GroupColumn, sumColumns } from "../tables/summary/rows.ts";
import type { GroupValues, HourRow, Sums } from "../tables/summary/summary.ts";
import { type CsvForm, csvFormat } from "./csv.ts";
import { statusesOf } from "./state.ts";

type Schemas = components["schemas"];
type Group = GroupValues & Sums;

/** A group of a report. */
export function viewGroup(group: Group): Schemas["TransactionGroup"] {
  const { live, moto } = group;
  return {
    ...(group as object as Omit<Schemas["TransactionGroup"], "live" | "moto" | "count">),
    ...(live !== undefined && { live: live === null ? null : live === "true" }),
    ...(moto !== undefined && { moto: moto === "true" }),
    count: Number(group.count),
  };
}

/** What an event has changed by a transaction. `writeCursor` writes the cursor after an event. */
export const viewTransactionChange = (
  {
    external_id,
    event,
  }: { external_id: string; event: (EventRow & { sql_transaction: bigint }) | undefined },
  groups: Group[],
  writeCursor: (position: FeedPosition) => string,
): Schemas["TransactionChange"] => ({
  transaction_id: external_id,
  event: event
    ? {
        cursor: writeCursor({ ...event, event_id: event.id }),
        event_id: event.id,
        event_type: event.event_type,
        resource_type: event.resource_type,
        resource_external_id: event.resource_external_id,
        timestamp: event.timestamp,
      }
    : null,
  groups: groups.map(viewGroup),
});

/** CSV with a line for each group: the values of its columns, the count, sums in minor units, and their currency if it is given. */
export function viewReportCsv(groupBy: readonly GroupColumn[], currency: string | undefined, form: CsvForm) {
  const format = csvFormat(form);
  const numbers = ["count", ...sumColumns] as const;
  const last = (cell: string) => (currency === undefined ? [] : [cell]);
  return {
    header: format.header([...groupBy, ...numbers, ...last("currency")]),
    line: (group: Group): string =>
      format.line([
        ...groupBy.map((column) => format.cell(group[column] ?? "")),
        ...numbers.map((name) => String(group[name])),
        ...last(currency ?? ""),
      ]),
  };
}

/** Every status of version 2, with 0 for those without payments. */
export function viewPaymentsByState(groups: Group[]): Schemas["PaymentsByState"] {
  const none = statusesOf(2).map((status): [string, number] => [status, 0]);
  const counts = groups.map(({ state, count }): [string, number] => [state as string, Number(count)]);
  return Object.fromEntries([...none, ...counts]) as unknown as Schemas["PaymentsByState"];
}

/** The number of payments, and their amounts in pence. */
export const viewPerformance = (count: bigint, amount: bigint): Schemas["PerformanceReport"] => ({
  total_volume: Number(count),
  total_amount: amount,
  average_amount: count === 0n ? 0 : Number(amount) / Number(count),
});

export function viewGatewayPerformance({ account, month, ...sums }: Group): Schemas["GatewayPerformance"] {
  const [year, monthOfYear] = (month as string).split("-").map(Number) as [number, number];
  return {
    gateway_account_id: viewAccountNumber(account ?? null),
    ...viewPerformance(sums.count, sums.gross_amount),
    year,
    month: monthOfYear,
  };
}

/** The id of an account as a number, as clients of alphagov/pay-ledger expect it, if the number has the same text. */
const viewAccountNumber = (account: string | null): number | string | null =>
  account !== null && /^(0|[1-9]\d{0,9})$/.test(account) && Number(account) <= int32Max
    ? Number(account)
    : account;

const int32Max = 2 ** 31 - 1;

export const viewHour = ({
  hour,
  count,
  errored,
  completed,
  ...sums
}: HourRow): Schemas["TransactionHour"] => ({
  timestamp: hour,
  all_payments: Number(count),
  errored_payments: Number(errored),
  completed_payments: Number(completed),
  ...sums,
});
