import type { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { components } from "../../../generated/ledger.ts";
import { toJson } from "../../values/json.ts";
import type { Sql } from "../database/database.ts";
import { type Details, transactionTypes } from "./event.ts";
import type { FoldState } from "./fold-state.ts";
import { saveStatement } from "./save-statement.ts";

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
  folded: FoldState | null;
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

/** The rows of these transactions. */
export const transactionsOf = (sql: Sql, externalIds: string[]): Promise<TransactionRow[]> =>
  sql.query("select * from transaction where external_id = any($1::text[])", [externalIds]);

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

export async function removeTransactions(sql: Sql, externalIds: string[]): Promise<void> {
  if (externalIds.length === 0) return;
  await sql.query("delete from transaction where external_id = any($1::text[])", [externalIds]);
}

/** Inserts rows, or replaces those that differ. */
export async function saveTransactions(sql: Sql, rows: TransactionRow[]): Promise<void> {
  if (rows.length > 0) await sql.query(statement, [toJson(rows)]);
}

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
  sql.query("select * from transaction where parent_external_id = any($1::text[])", [externalIds]);

/** A payout settles only transactions of its own account. */
export const isPayoutOfTransaction = `
  payout.gateway_payout_id = transaction.gateway_payout_id
  and payout.gateway_account_id = transaction.gateway_account_id`;

/** The columns of a transaction in responses, with the date of its payout. */
export const reported = `
  ${reportedColumns.map((name) => `transaction.${name}`).join(", ")},
  (select paid_out_date from payout where ${isPayoutOfTransaction}) as paid_out_date`;

/** The id of a transaction, and values that it must have. */
export interface TransactionKey {
  external_id: string;
  gateway_account_id?: string | undefined;
  transaction_type?: TransactionType | undefined;
  parent_external_id?: string | undefined;
}

const findStatement = `
  select ${reported} from transaction
  where external_id = $1
    and ($2::text is null or gateway_account_id = $2)
    and ($3::text is null or transaction_type = $3)
    and ($4::text is null or parent_external_id = $4)`;

export async function findTransaction(
  sql: Sql,
  { external_id, gateway_account_id, transaction_type, parent_external_id }: TransactionKey,
): Promise<ReportedTransaction | undefined> {
  const [row] = await sql.query<ReportedTransaction>(findStatement, [
    external_id,
    gateway_account_id ?? null,
    transaction_type ?? null,
    parent_external_id ?? null,
  ]);
  return row;
}

const familyStatement = `
  select ${reported} from transaction
  where (external_id = $1 or parent_external_id = $1) and gateway_account_id = $2
  order by created_date, external_id`;

/** The transaction and its children, oldest first, those that belong to the account. */
export const familyOf = (sql: Sql, externalId: string, accountId: string): Promise<ReportedTransaction[]> =>
  sql.query(familyStatement, [externalId, accountId]);
