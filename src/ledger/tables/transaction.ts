import type { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { components } from "../../../generated/ledger.ts";
import { toJson } from "../../service/json.ts";
import type { Sql } from "../database/database.ts";
import { type Details, transactionTypes } from "./event.ts";
import type { Folded } from "./folded.ts";
import { saveStatement } from "./save-statement.ts";

export type TransactionType = components["schemas"]["TransactionType"];

/** The states a transaction is kept in; `UNDEFINED` when no event has set one. */
export type TransactionState = (typeof stateMachine.transaction_states)[number]["state"];

export interface TransactionRow {
  external_id: string;
  transaction_type: TransactionType;
  parent_external_id: string | null;
  gateway_account_id: string | null;
  service_id: string | null;
  live: boolean | null;
  state: TransactionState;
  /** UTC, six fraction digits. */
  created_date: string;
  event_count: number;
  /** Number of the event that arrived first. */
  first_event_id: bigint;
  reference: string | null;
  email: string | null;
  cardholder_name: string | null;
  card_brand: string | null;
  first_digits_card_number: string | null;
  last_digits_card_number: string | null;
  gateway_transaction_id: string | null;
  gateway_payout_id: string | null;
  agreement_id: string | null;
  /** Of a payment's metadata, as text in lower case; null when there are none. */
  metadata_values: string[] | null;
  details: Details;
  payment_details: Details | null;
  folded: Folded | null;
}

/** The columns that are read to be reported. What the others have is in the details, too. */
const reportedColumns = [
  "external_id",
  "transaction_type",
  "parent_external_id",
  "gateway_account_id",
  "service_id",
  "live",
  "state",
  "created_date",
  "details",
  "payment_details",
] as const satisfies (keyof TransactionRow)[];

/** A transaction with what its payout says of it. */
export interface ReportedTransaction extends Pick<TransactionRow, (typeof reportedColumns)[number]> {
  /** When the payout it is included in was paid out: UTC, six fraction digits. */
  paid_out_date: string | null;
}

const statement = saveStatement<TransactionRow>("transaction", "external_id", {
  external_id: "text",
  transaction_type: "text",
  parent_external_id: "text",
  gateway_account_id: "text",
  service_id: "text",
  live: "boolean",
  state: "text",
  created_date: "timestamptz",
  event_count: "integer",
  first_event_id: "bigint",
  reference: "text",
  email: "text",
  cardholder_name: "text",
  card_brand: "text",
  first_digits_card_number: "text",
  last_digits_card_number: "text",
  gateway_transaction_id: "text",
  gateway_payout_id: "text",
  agreement_id: "text",
  metadata_values: "text[]",
  details: "jsonb",
  payment_details: "jsonb",
  folded: "jsonb",
});

/** The rows of those of these transactions that have one. */
export const transactionsOf = (sql: Sql, externalIds: string[]): Promise<TransactionRow[]> =>
  sql.query("select * from transaction where external_id = any($1::text[])", [externalIds]);

/** The columns that newer events are folded onto, and that children show. */
const keptColumns = [
  "external_id",
  "transaction_type",
  "parent_external_id",
  "gateway_account_id",
  "service_id",
  "state",
  "created_date",
  "event_count",
  "first_event_id",
  "details",
  "folded",
] as const satisfies (keyof TransactionRow)[];

export type KeptTransaction = Pick<TransactionRow, (typeof keptColumns)[number]>;

/** What is kept of those of these transactions that have a row, and of the parents that these rows name. */
export const keptTransactionsOf = (sql: Sql, externalIds: string[]): Promise<KeptTransaction[]> =>
  sql.query(
    `select ${keptColumns.join(", ")} from transaction where external_id in (
       select unnest($1::text[])
       union
       select parent_external_id from transaction
       where external_id = any($1::text[]) and parent_external_id is not null
     )`,
    [externalIds],
  );

export async function removeTransactions(sql: Sql, externalIds: string[]): Promise<void> {
  if (externalIds.length === 0) return;
  await sql.query("delete from transaction where external_id = any($1::text[])", [externalIds]);
}

/** Adds whole rows, or replaces those that differ. */
export async function saveTransactions(sql: Sql, rows: TransactionRow[]): Promise<void> {
  if (rows.length > 0) await sql.query(statement, [toJson(rows)]);
}

/**
 * Holds the transactions with these ids, and those known to be their parents, for the rest of the SQL transaction: no
 * other writes them, or their children, meanwhile. The locks are taken in one order everywhere, so that none waits in
 * a circle. Answers the ids that are held.
 */
export async function lockTransactions(sql: Sql, externalIds: string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select id, pg_advisory_xact_lock(key) is null as locked
     from (
       select id, hashtextextended(id, 0) as key
       from (
         select unnest($1::text[]) as id
         union
         select parent_external_id from transaction
         where external_id = any($1::text[]) and parent_external_id is not null
       ) as held
       order by key
     ) as in_order`,
    [externalIds],
  );
  return rows.map(({ id }) => id);
}

/** What there is of a transaction beside its row. */
export interface Surroundings {
  id: string;
  is_parent: boolean;
  /** How many events, when there is no row; else null. */
  events_without_row: number | null;
}

export const surroundingsOf = (sql: Sql, externalIds: string[]): Promise<Surroundings[]> =>
  sql.query(
    `select wanted.id,
       exists (select from transaction where parent_external_id = wanted.id) as is_parent,
       case when not exists (select from transaction where external_id = wanted.id) then (
         select count(*)::integer from event
         where resource_external_id = wanted.id and resource_type = any($2::text[])
       ) end as events_without_row
     from unnest($1::text[]) as wanted (id)`,
    [externalIds, transactionTypes],
  );

/** The rows of all transactions whose parent is one of these. */
export const childrenOf = (sql: Sql, externalIds: string[]): Promise<TransactionRow[]> =>
  sql.query("select * from transaction where parent_external_id = any($1::text[])", [externalIds]);

/** Where a search goes on: behind a row, without the transactions that arrived after an event. */
export interface Position {
  created_date: string;
  external_id: string;
  newest_event_id: bigint;
}

/** A transaction that was found, and so a place to go on from. */
export type FoundTransaction = ReportedTransaction & Position;

/** All that are given must hold. Instants are in UTC. Texts that are looked for are taken literally. */
export interface TransactionFilter {
  gateway_account_id?: string | undefined;
  account_ids?: string[] | undefined;
  transaction_type?: TransactionType | undefined;
  /** Text the reference contains, letter case aside. */
  reference?: string | undefined;
  /** The whole reference, letter case aside. */
  exact_reference?: string | undefined;
  /** Text the email address contains, letter case aside. */
  email?: string | undefined;
  /** Text the name contains, letter case aside. */
  cardholder_name?: string | undefined;
  first_digits_card_number?: string | undefined;
  last_digits_card_number?: string | undefined;
  card_brands?: string[] | undefined;
  states?: TransactionState[] | undefined;
  /** For each type that may be found the states it may be in. */
  states_by_type?: [TransactionType, TransactionState[]][] | undefined;
  created_after?: string | undefined;
  created_before?: string | undefined;
  /** Days in UTC, themselves included. */
  settled?: { from?: string | undefined; to?: string | undefined } | undefined;
  gateway_payout_id?: string | undefined;
  gateway_transaction_id?: string | undefined;
  /** Letter case aside. */
  payment_provider?: string | undefined;
  agreement_id?: string | undefined;
  /** Value of any metadata key, letter case aside. */
  metadata_value?: string | undefined;
  after?: Position | undefined;
}

/** Keeps a value for the statement and answers the placeholder that stands for it. */
type Bind = (value: unknown) => string;
type Conditions<Filter> = {
  [Name in keyof Filter]-?: (value: NonNullable<Filter[Name]>, bind: Bind) => string;
};

const equals =
  (column: string) =>
  (value: string, bind: Bind): string =>
    `${column} = ${bind(value)}`;

/** A pattern rather than a position in the text, so that the index on the column's trigrams serves. */
const contains =
  (column: string) =>
  (text: string, bind: Bind): string =>
    `lower(${column}) like lower(${bind(`%${text.replaceAll(/[\\%_]/g, "\\$&")}%`)})`;

const conditions: Conditions<TransactionFilter> = {
  gateway_account_id: equals("gateway_account_id"),
  account_ids: (ids, bind) => `gateway_account_id = any(${bind(ids)}::text[])`,
  transaction_type: equals("transaction_type"),
  reference: contains("reference"),
  exact_reference: (text, bind) => `lower(reference) = lower(${bind(text)})`,
  email: contains("email"),
  cardholder_name: contains("cardholder_name"),
  first_digits_card_number: equals("first_digits_card_number"),
  last_digits_card_number: equals("last_digits_card_number"),
  card_brands: (brands, bind) => `card_brand = any(${bind(brands)}::text[])`,
  states: (states, bind) => `state = any(${bind(states)}::text[])`,
  states_by_type: (wanted, bind) => {
    const each = wanted.map(
      ([type, states]) => `transaction_type = ${bind(type)} and state = any(${bind(states)}::text[])`,
    );
    return `(${each.join(" or ")})`;
  },
  created_after: (instant, bind) => `created_date > ${bind(instant)}`,
  created_before: (instant, bind) => `created_date < ${bind(instant)}`,
  settled: ({ from, to }, bind) => {
    const bounds = [
      from && `paid_out_date >= ${bind(from)}::date::timestamp at time zone 'UTC'`,
      to && `paid_out_date < (${bind(to)}::date + 1)::timestamp at time zone 'UTC'`,
    ].filter(Boolean);
    return `exists (select from payout where ${isPayoutOfTransaction} and ${bounds.join(" and ")})`;
  },
  gateway_payout_id: equals("gateway_payout_id"),
  gateway_transaction_id: equals("gateway_transaction_id"),
  payment_provider: (provider, bind) => `lower(details ->> 'payment_provider') = lower(${bind(provider)})`,
  agreement_id: equals("agreement_id"),
  metadata_value: (text, bind) => `metadata_values @> array[${bind(text.toLowerCase())}::text]`,
  after: ({ created_date, external_id, newest_event_id }, bind) =>
    `(created_date, external_id) < (${bind(created_date)}, ${bind(external_id)})
     and first_event_id <= ${bind(newest_event_id)}`,
};

/** A payout settles only transactions of its own account. */
const isPayoutOfTransaction = `
  payout.gateway_payout_id = transaction.gateway_payout_id
  and payout.gateway_account_id = transaction.gateway_account_id`;

function conditionsOf(filter: TransactionFilter, bind: Bind): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const clauses = given.map(([name, value]) =>
    (conditions[name as keyof TransactionFilter] as (value: unknown, bind: Bind) => string)(value, bind),
  );
  return ["true", ...clauses].join(" and ");
}

function binding(): { values: unknown[]; bind: Bind } {
  const values: unknown[] = [];
  return { values, bind: (value) => `$${values.push(value)}` };
}

/** Every reader's columns, and of its payout the date. */
const reported = `
  ${reportedColumns.map((name) => `transaction.${name}`).join(", ")},
  (select paid_out_date from payout where ${isPayoutOfTransaction}) as paid_out_date`;

const newestFirst = "order by created_date desc, external_id desc";

/** A transaction by its id. What else is given must be so. */
export interface WantedTransaction {
  external_id: string;
  gateway_account_id?: string | undefined;
  transaction_type?: TransactionType | undefined;
  parent_external_id?: string | undefined;
}

const wantedStatement = `
  select ${reported} from transaction
  where external_id = $1
    and ($2::text is null or gateway_account_id = $2)
    and ($3::text is null or transaction_type = $3)
    and ($4::text is null or parent_external_id = $4)`;

export async function findTransaction(
  sql: Sql,
  { external_id, gateway_account_id, transaction_type, parent_external_id }: WantedTransaction,
): Promise<ReportedTransaction | undefined> {
  const [row] = await sql.query<ReportedTransaction>(wantedStatement, [
    external_id,
    gateway_account_id ?? null,
    transaction_type ?? null,
    parent_external_id ?? null,
  ]);
  return row;
}

/**
 * Those that fit the filter, newest first; ties by id, so that the order is total. To go on from one is to stay
 * within the transactions that had arrived when the first of them was read.
 */
export function searchTransactions(
  sql: Sql,
  filter: TransactionFilter,
  { offset = 0, limit }: { offset?: number; limit: number },
): Promise<FoundTransaction[]> {
  const { values, bind } = binding();
  const { account_ids: accountIds, ...others } = filter;
  const fitting = conditionsOf(others, bind);
  // An index gives one account's rows in order. Of several accounts the first rows of each are sorted, not all of them.
  const sources = accountIds
    ? [...new Set(accountIds)].map((id) => `gateway_account_id = ${bind(id)} and ${fitting}`)
    : [fitting];
  const enough = bind(offset + limit);
  const rows = sources.map(
    (source) => `(select * from transaction where ${source} ${newestFirst} limit ${enough})`,
  );
  const newest = filter.after
    ? bind(filter.after.newest_event_id)
    : "(select coalesce(max(id), 0) from event)";
  return sql.query<FoundTransaction>(
    `select ${reported}, ${newest}::bigint as newest_event_id
     from (
       select * from (${rows.join(" union all ")}) as fitting
       ${newestFirst} limit ${bind(limit)} offset ${bind(offset)}
     ) as transaction
     ${newestFirst}`,
    values,
    "once",
  );
}

/** How many fit the filter; counting stops at `max`. */
export async function countTransactions(sql: Sql, filter: TransactionFilter, max?: number): Promise<number> {
  const { values, bind } = binding();
  const matching = `from transaction where ${conditionsOf(filter, bind)}`;
  const counted = max === undefined ? matching : `from (select ${matching} limit ${bind(max)}) as counted`;
  const [row] = await sql.query<{ count: bigint }>(`select count(*) ${counted}`, values, "once");
  return Number(row?.count);
}

const familyStatement = `
  select ${reported} from transaction
  where (external_id = $1 or parent_external_id = $1) and gateway_account_id = $2
  order by created_date, external_id`;

/** The transaction and its children, oldest first, as far as they belong to the account. */
export const familyOf = (sql: Sql, externalId: string, accountId: string): Promise<ReportedTransaction[]> =>
  sql.query(familyStatement, [externalId, accountId]);
