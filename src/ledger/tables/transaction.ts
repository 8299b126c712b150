import type { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { components } from "../../../generated/ledger.ts";
import type { Sql } from "../../database/database.ts";
import { type Details, transactionTypes } from "./event.ts";
import type { StoredFoldState } from "./fold-state.ts";
import { resourceTable } from "./resource-table.ts";

export type TransactionType = components["schemas"]["TransactionType"];

/** The state of a transaction; `UNDEFINED` if no event has set one. */
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
  /** The values of a payment's metadata as text in lower case; null if there are none. */
  metadata_values: string[] | null;
  details: Details;
  payment_details: Details | null;
  folded: StoredFoldState | null;
}

/** The columns of a transaction in responses. The values of the other columns are also in the details. */
export const reportedColumns = [
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

/** A transaction with the date of its payout. */
export interface ReportedTransaction extends Pick<TransactionRow, (typeof reportedColumns)[number]> {
  /** When the payout of the transaction was paid: UTC, six fraction digits. */
  paid_out_date: string | null;
}

const columnTypes: Record<keyof TransactionRow, string> = {
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
};

/**
 * Triggers follow each statement that writes: outline_insert, outline_update and outline_delete write
 * transaction_outline, and summarise_insert, summarise_update and summarise_delete add to transaction_summary_change
 * (`schema.sql`).
 */
export const transactionTable = resourceTable<TransactionRow>("transaction", "external_id", columnTypes, {
  hasSize: true,
});

/** The columns into which new events are folded, and those that children show. */
const foldColumns = [
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

export type CurrentTransaction = Pick<TransactionRow, (typeof foldColumns)[number]>;

/** The current state of these transactions and of the parents in their rows. */
export const currentTransactions = (sql: Sql, externalIds: string[]): Promise<CurrentTransaction[]> =>
  sql.query(
    `select ${foldColumns.join(", ")} from transaction where external_id in (
       select unnest($1::text[])
       union
       select parent_external_id from transaction
       where external_id = any($1::text[]) and parent_external_id is not null
     )`,
    [externalIds],
  );

/** The relations of a transaction: its children, and its events if it has no row. */
export interface Relations {
  id: string;
  is_parent: boolean;
  /** Number of events if there is no row, otherwise null. */
  events_without_row: number | null;
}

export const relationsOf = (sql: Sql, externalIds: string[]): Promise<Relations[]> =>
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

/** The rows of the children of these transactions. */
export const childrenOf = (sql: Sql, externalIds: string[]): Promise<TransactionRow[]> =>
  sql.query(
    `select ${Object.keys(columnTypes)} from transaction where parent_external_id = any($1::text[])`,
    [externalIds],
  );

/** Maximum number of refunds and disputes of a payment: all of them are written when the payment's details change. */
export const childrenMax = 500;

/** Those of these transactions that have more children than the maximum. */
export async function withTooManyChildren(sql: Sql, externalIds: string[]): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select id from unnest($1::text[]) as parent (id)
     where (
       select count(*) from (select from transaction where parent_external_id = id limit ${childrenMax + 1}) as child
     ) > ${childrenMax}`,
    [externalIds],
  );
  return rows.map(({ id }) => id);
}

/** A payout settles only transactions of its own account. */
export const isPayoutOfTransaction = `
  payout.gateway_payout_id = transaction.gateway_payout_id
  and payout.gateway_account_id = transaction.gateway_account_id`;

/** The columns of a transaction in responses, with the date of its payout. */
const select = (
  column: (name: (typeof reportedColumns)[number]) => string,
  paidOutDate = "paid_out_date",
) => `
  ${reportedColumns.map(column).join(", ")},
  (select ${paidOutDate} from payout where ${isPayoutOfTransaction}) as paid_out_date`;

export const reported = select((name) => `transaction.${name}`);

/** The size of a row as JSON, in bytes. A row of an older release has no size. */
const size = "coalesce(size, octet_length(details::text) + coalesce(octet_length(payment_details::text), 0))";

/** The size of the rows before one, in an order. */
export const bytesBefore = (order: string): string => `sum(${size}) over (order by ${order}) - ${size}`;

/** A `timestamptz` in the form of `Sql`, for JSON. */
const instantText = (column: string) =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * The columns in responses as the members of a JSON object; null for details that are larger than a number of bytes. These
 * are not read.
 */
const reportedUpTo = (bytesMax: string): string => {
  const isWhole = `coalesce(size, pg_column_size(details)) <= ${bytesMax}`;
  const columns = select((name) => {
    if (name === "created_date") return `${instantText(name)} as ${name}`;
    const isLong = name === "details" || name === "payment_details";
    return isLong ? `case when ${isWhole} then ${name} end as ${name}` : `transaction.${name}`;
  }, instantText("paid_out_date"));
  return `${columns}, ${isWhole} as is_whole`;
};

/** The id of a transaction, and values that it must have. */
export interface TransactionKey {
  external_id: string;
  gateway_account_id?: string | undefined;
  transaction_type?: TransactionType | undefined;
  parent_external_id?: string | undefined;
}

type FoundTransaction = ReportedTransaction & { is_whole: boolean };

/** The row is one column, which the client reads in half the time of twelve. */
const findStatement = `
  select row_to_json(found) as found
  from (
    select ${reportedUpTo("$5::bigint")} from transaction
    where external_id = $1
      and ($2::text is null or gateway_account_id = $2)
      and ($3::text is null or transaction_type = $3)
      and ($4::text is null or parent_external_id = $4)
  ) as found`;

/** A transaction; without its details, which must be read again, if they are larger than `bytesMax`. */
export async function findTransaction(
  sql: Sql,
  { external_id, gateway_account_id, transaction_type, parent_external_id }: TransactionKey,
  bytesMax = Number.MAX_SAFE_INTEGER,
): Promise<FoundTransaction | undefined> {
  const [row] = await sql.query<{ found: FoundTransaction }>(findStatement, [
    external_id,
    gateway_account_id ?? null,
    transaction_type ?? null,
    parent_external_id ?? null,
    bytesMax,
  ]);
  return row?.found;
}

/** Those of these ids whose transactions belong to the account. Default: to any. */
export async function idsOfAccount(
  sql: Sql,
  externalIds: string[],
  accountId: string | undefined,
): Promise<string[]> {
  const rows = await sql.query<{ external_id: string }>(
    `select external_id from transaction
     where external_id = any($1::text[]) and ($2::text is null or gateway_account_id = $2)`,
    [externalIds, accountId ?? null],
  );
  return rows.map(({ external_id }) => external_id);
}

/** The ids of the transaction and its children, those that belong to the account. */
export async function familyOf(sql: Sql, externalId: string, accountId: string): Promise<string[]> {
  const rows = await sql.query<{ external_id: string }>(
    `select external_id from transaction
     where (external_id = $1 or parent_external_id = $1) and gateway_account_id = $2`,
    [externalId, accountId],
  );
  return rows.map(({ external_id }) => external_id);
}

/** The details of these transactions, with their `amount` only. */
export const amountsOf = (
  sql: Sql,
  externalIds: string[],
): Promise<Pick<TransactionRow, "external_id" | "details">[]> =>
  sql.query(
    `select external_id, jsonb_build_object('amount', details -> 'amount') as details from transaction
     where external_id = any($1::text[])`,
    [externalIds],
  );

/** The place of a child in the list of its parent. */
export interface ChildPosition {
  created_date: string;
  external_id: string;
}

/** A page of a list of children: those after a position, oldest first. */
export interface ChildPage {
  type?: TransactionType | undefined;
  after?: ChildPosition | undefined;
  countMax: number;
  /** The page has one more child than these bytes permit. */
  bytesMax: number;
}

/** A page of the children of a transaction that belong to the account. */
export async function listChildren(
  sql: Sql,
  parentExternalId: string,
  accountId: string,
  { type, after, countMax, bytesMax }: ChildPage,
): Promise<{ children: ReportedTransaction[]; isLast: boolean }> {
  const position = [after?.created_date ?? null, after?.external_id ?? ""];
  const rows = await sql.query<ReportedTransaction & { is_last: boolean }>(childrenStatement, [
    parentExternalId,
    accountId,
    type ?? null,
    ...position,
    countMax,
    bytesMax,
  ]);
  return { children: rows, isLast: rows.at(-1)?.is_last ?? true };
}

const childrenStatement = `
  with found as (
    select *, ${bytesBefore("created_date, external_id")} as bytes_before,
      row_number() over (order by created_date, external_id) as number, count(*) over () as total
    from transaction
    where parent_external_id = $1 and gateway_account_id = $2 and ($3::text is null or transaction_type = $3)
      and ($4::timestamptz is null or (created_date, external_id) > ($4, $5))
  )
  select ${reported}, number = total as is_last from found as transaction
  where number <= $6 and bytes_before < $7 order by number`;
