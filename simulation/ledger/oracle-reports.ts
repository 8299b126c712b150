import contract from "../../generated/ledger.json" with { type: "json" };
import { timeZones } from "./messages.ts";
import {
  compareBytes,
  compareText,
  flag,
  milliseconds,
  type Oracle,
  type Payout,
  type Query,
  stateRow,
  statusOf,
  type Transaction,
  text,
  transactionStates,
} from "./oracle.ts";

/**
 * The reports and payouts of the reference model. Like the rest of it they are written from the contract alone. Each one
 * reads every transaction and adds it up.
 */

/** As the contract names them. */
const sumNames = ["amount", "total_amount", "net_amount", "fee", "refunded_amount", "gross_amount"] as const;

/** The pence of a detail; undefined if it has none. */
function penceOf({ details }: Pick<Transaction, "details">, name: string): bigint | undefined {
  const written = text(details, name) ?? "";
  return /^-?\d+$/.test(written) && Number.isSafeInteger(Number(written)) ? BigInt(written) : undefined;
}

const grossAmountOf = (transaction: Transaction) =>
  penceOf(transaction, "total_amount") ?? penceOf(transaction, "amount");

const amountOf = (transaction: Transaction, name: (typeof sumNames)[number]): bigint | undefined =>
  name === "gross_amount"
    ? grossAmountOf(transaction)
    : penceOf(transaction, name === "refunded_amount" ? "refund_amount_refunded" : name);

const sum = <Item>(items: Item[], amountOf: (item: Item) => bigint | undefined): bigint =>
  items.reduce((total, item) => total + (amountOf(item) ?? 0n), 0n);

/** Sums of these amounts. */
const sumsOf = (transactions: Transaction[], names: readonly (typeof sumNames)[number][]) =>
  Object.fromEntries(
    names.map((name) => [name, sum(transactions, (transaction) => amountOf(transaction, name))]),
  );

const dayFormats = new Map(
  // Sweden writes a day as the contract does.
  timeZones.map((timeZone) => [timeZone, new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" })]),
);

/** The calendar day of a transaction in the time zone of a query. */
const dayOf = ({ createdDate }: Transaction, { time_zone = "UTC" }: Query): string =>
  (dayFormats.get(time_zone) as Intl.DateTimeFormat).format(new Date(createdDate));

/** The first day of the week of a day. */
function mondayOf(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  return date.toISOString().slice(0, 10);
}

/** The text of each column by which a report can group. */
const columns: Record<string, (transaction: Transaction, query: Query) => string | undefined> = {
  account: ({ account }) => account,
  type: ({ type }) => type,
  state: ({ state }, { status_version }) => statusOf(state, status_version),
  day: dayOf,
  week: (transaction, query) => mondayOf(dayOf(transaction, query)),
  month: (transaction, query) => `${dayOf(transaction, query).slice(0, 7)}-01`,
  live: ({ live }) => live?.toString(),
  moto: ({ details }) => String(flag(details, "moto") ?? false),
};

/** The names of the columns by which a report can group. */
export const groupColumns = Object.keys(columns);

/** The order of the groups of a report: by each column in turn, ascending, missing values last. */
export function compareGroups(a: (string | null)[], b: (string | null)[]): number {
  const orders = a.map((value, index) => {
    const other = b[index] ?? null;
    if (value === null || other === null) return Number(value === null) - Number(other === null);
    return compareBytes(value, other);
  });
  return orders.find((order) => order !== 0) ?? 0;
}

/** Transactions with the same values, in the order of the values. */
const groupsBy = (transactions: Transaction[], valuesOf: (transaction: Transaction) => (string | null)[]) =>
  [...Map.groupBy(transactions, (transaction) => JSON.stringify(valuesOf(transaction)))]
    .map(([key, members]) => ({ values: JSON.parse(key) as (string | null)[], members }))
    .sort((a, b) => compareGroups(a.values, b.values));

const groupByOf = ({ group_by }: Query) => (group_by === undefined ? [] : group_by.split(","));

/** Every group of `GET /v1/report/transactions`, in order. Without columns there is one, also without transactions. */
export function reportGroups(oracle: Oracle, query: Query): Record<string, unknown>[] {
  const groupBy = groupByOf(query);
  const transactions = oracle.matching(query);
  const valuesOf = (transaction: Transaction) =>
    groupBy.map((name) => columns[name]?.(transaction, query) ?? null);
  const all = { values: [], members: transactions };
  const view = (name: string, value: string | null | undefined) =>
    (name === "live" || name === "moto") && value ? value === "true" : value;
  return (groupBy.length > 0 ? groupsBy(transactions, valuesOf) : [all]).map(({ values, members }) => ({
    ...Object.fromEntries(groupBy.map((name, index) => [name, view(name, values[index])])),
    count: BigInt(members.length),
    ...sumsOf(members, sumNames),
  }));
}

/** The cells of the CSV of `GET /v1/report/transactions`: the header and one row for each group. */
export function reportCsvRows(oracle: Oracle, query: Query): string[][] {
  const header = [...groupByOf(query), "count", ...sumNames];
  const groups = reportGroups(oracle, query);
  return [header, ...groups.map((group) => header.map((name) => String(group[name] ?? "")))];
}

/** The body of `GET /v1/report/transactions-summary`. */
export function transactionsSummary(oracle: Oracle, query: Query): object {
  const successful = oracle.matching({ ...datesAndAccountOf(query), state: "success" });
  const view = (transactions: Transaction[]) => ({
    count: BigInt(transactions.length),
    gross_amount: sum(transactions, grossAmountOf),
  });
  const payments = successful.filter(({ type }) => type === "PAYMENT");
  const refunds = successful.filter(({ type }) => type === "REFUND");
  const isIncluded = query.include_moto_statistics === "true";
  return {
    payments: view(payments),
    moto_payments: view(payments.filter(({ details }) => isIncluded && flag(details, "moto") === true)),
    refunds: view(refunds),
    net_income: sum(payments, grossAmountOf) - sum(refunds, grossAmountOf),
  };
}

/** The body of `GET /v1/report/payments_by_state`. */
export function paymentsByState(oracle: Oracle, query: Query): object {
  const payments = oracle.matching({ ...datesAndAccountOf(query), transaction_type: "PAYMENT" });
  const statuses = new Set(transactionStates.map((state) => statusOf(state, "2")));
  const countOf = (status: string) => payments.filter(({ state }) => statusOf(state, "2") === status).length;
  return Object.fromEntries([...statuses].map((status) => [status, BigInt(countOf(status))]));
}

/** The parameters of `query` that filter transactions as those of a search do. */
const datesAndAccountOf = ({ account_id, from_date, to_date }: Query): Query => ({
  ...(account_id !== undefined && { account_id }),
  ...(from_date !== undefined && { from_date }),
  ...(to_date !== undefined && { to_date }),
});

/** Both instants are inclusive and have three fraction digits. */
const isThroughInstants = ({ createdDate }: Transaction, { from_date, to_date }: Query) =>
  (from_date === undefined || createdDate >= `${from_date.slice(0, -1)}000Z`) &&
  (to_date === undefined || createdDate <= `${to_date.slice(0, -1)}000Z`);

/** Both days are inclusive. */
const isThroughDays = ({ createdDate }: Transaction, { from_date, to_date }: Query) =>
  (from_date === undefined || createdDate.slice(0, 10) >= from_date) &&
  (to_date === undefined || createdDate.slice(0, 10) <= to_date);

function viewPerformance(payments: Transaction[], amountOf = grossAmountOf) {
  const total = sum(payments, amountOf);
  return {
    total_volume: BigInt(payments.length),
    total_amount: total,
    average_amount: payments.length === 0 ? 0 : Number(total) / payments.length,
  };
}

const livePayments = (oracle: Oracle, { state }: Query) =>
  oracle
    .matching({ transaction_type: "PAYMENT" })
    .filter((payment) => payment.live && (state === undefined || payment.state === state));

/** The body of `GET /v1/report/performance-report-legacy`, whose dates are instants. */
export function performanceOfInstants(oracle: Oracle, query: Query): object {
  const amountOf = (payment: Transaction) => penceOf(payment, "amount");
  const payments = livePayments(oracle, query).filter(
    (payment) => isThroughInstants(payment, query) && amountOf(payment) !== undefined,
  );
  return viewPerformance(payments, amountOf);
}

/** The body of `GET /v1/report/performance-report`, whose dates are days. */
export const performanceOfDays = (oracle: Oracle, query: Query): object =>
  viewPerformance(
    livePayments(oracle, query).filter(
      (payment) =>
        isThroughDays(payment, query) &&
        !isCorrection(oracle, payment) &&
        (query.state !== undefined || stateRow(payment.state).finished),
    ),
  );

const creations = ["PAYMENT_CREATED", "PAYMENT_NOTIFICATION_CREATED"];

/** True if a payment corrects a failed refund. */
function isCorrection(oracle: Oracle, { id }: Transaction): boolean {
  const types = oracle.eventsOf(id, ["payment"]).map(({ event_type }) => event_type);
  return (
    types.includes("REFUND_FAILURE_FUNDS_SENT_TO_CONNECT_ACCOUNT") &&
    !types.some((type) => creations.includes(type))
  );
}

/** The body of `GET /v1/report/gateway-performance-report`. */
export function gatewayPerformance(oracle: Oracle, query: Query): object[] {
  const payments = livePayments(oracle, { state: "SUCCESS" }).filter(
    (payment) => isThroughDays(payment, query) && !isCorrection(oracle, payment),
  );
  const valuesOf = ({ account, createdDate }: Transaction) => [account ?? null, createdDate.slice(0, 7)];
  return groupsBy(payments, valuesOf).map(({ values: [account = null, month], members }) => ({
    gateway_account_id: account !== null && /^\d+$/.test(account) ? Number(account) : account,
    ...viewPerformance(members),
    year: Number(month?.slice(0, 4)),
    month: Number(month?.slice(5)),
  }));
}

/** The body of `GET /v1/report/transactions-by-hour`. */
export function transactionsByHour(oracle: Oracle, query: Query): object[] {
  const transactions = oracle
    .matching({})
    .filter((transaction) => transaction.live && isThroughInstants(transaction, query));
  return [...Map.groupBy(transactions, ({ createdDate }) => createdDate.slice(0, 13))]
    .sort(([a], [b]) => compareText(a, b))
    .map(([hour, members]) => ({
      timestamp: `${hour}:00:00.000000Z`,
      all_payments: BigInt(members.length),
      errored_payments: BigInt(members.filter(({ state }) => state.startsWith("ERROR")).length),
      completed_payments: BigInt(members.filter(({ state }) => state === "SUCCESS").length),
      ...sumsOf(members, ["amount", "net_amount", "total_amount", "fee"]),
    }));
}

const payoutStates = new Map(contract["x-state-machine"].payout_states.rows.map((row) => [row.state, row]));

function viewPayout(payout: Payout) {
  const { status, finished } = payoutStates.get(payout.state) as { status: string; finished: boolean };
  return {
    gateway_payout_id: payout.id,
    gateway_account_id: payout.account ?? null,
    service_id: payout.service ?? null,
    amount: penceOf(payout, "amount") ?? 0n,
    state: { status, finished },
    live: payout.live ?? null,
    created_date: milliseconds(payout.createdDate),
    paid_out_date: payout.paidOutDate ?? null,
  };
}

/** Every match of `GET /v1/payout`, in order. */
export function payoutMatches(oracle: Oracle, query: Query): object[] {
  const { gateway_account_id, state, live, from_date, to_date, extended } = query;
  return oracle
    .payouts()
    .filter(
      (payout) =>
        (gateway_account_id === undefined ||
          (payout.account !== undefined && gateway_account_id.split(",").includes(payout.account))) &&
        (live === undefined || payout.live === (live === "true")) &&
        (from_date === undefined || payout.createdDate > `${from_date.slice(0, -1)}000Z`) &&
        (to_date === undefined || payout.createdDate < `${to_date.slice(0, -1)}000Z`) &&
        (state === undefined || viewPayout(payout).state.status === state),
    )
    .sort((a, b) => compareText(b.createdDate, a.createdDate) || compareBytes(b.id, a.id))
    .map((payout) => (extended ? (payoutDetail(oracle, payout.id, {}) as object) : viewPayout(payout)));
}

/** What a transaction adds to its payout: the column `Net` of the CSV. */
function settledAmountOf(transaction: Transaction): bigint {
  const net = penceOf(transaction, "net_amount");
  const gross = grossAmountOf(transaction) ?? 0n;
  if (transaction.type === "DISPUTE") return net ?? 0n;
  if (transaction.type === "REFUND") return -(net ?? gross);
  return net ?? (transaction.state === "SUCCESS" ? gross : 0n);
}

/** The body of `GET /v1/payout/{id}`; undefined for 404. */
export function payoutDetail(oracle: Oracle, id: string, { gateway_account_id }: Query): object | undefined {
  const payout = oracle.payout(id);
  const isOther = gateway_account_id !== undefined && payout?.account !== gateway_account_id;
  if (payout === undefined || isOther) return undefined;
  const own = oracle
    .matching({ gateway_payout_id: id })
    .filter(({ account }) => account !== undefined && account === payout.account);
  const settled = ["PAYMENT", "REFUND", "DISPUTE"].map((type) => {
    const transactions = own.filter((transaction) => transaction.type === type);
    return {
      transaction_type: type,
      count: BigInt(transactions.length),
      ...sumsOf(transactions, ["amount", "fee"]),
      settled_amount: sum(transactions, settledAmountOf),
    };
  });
  const view = viewPayout(payout);
  const settledAmount = sum(own, settledAmountOf);
  return { ...view, settled, settled_amount: settledAmount, difference: view.amount - settledAmount };
}
