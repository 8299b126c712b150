import type { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { components } from "../../../generated/ledger.ts";
import { toJson } from "../../values/json.ts";
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

/** A payout settles only transactions of its own account. */
export const isPayoutOfTransaction = `
  payout.gateway_payout_id = transaction.gateway_payout_id
  and payout.gateway_account_id = transaction.gateway_account_id`;

/** Every reader's columns, and of its payout the date. */
export const reported = `
  ${reportedColumns.map((name) => `transaction.${name}`).join(", ")},
  (select paid_out_date from payout where ${isPayoutOfTransaction}) as paid_out_date`;

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

const familyStatement = `
  select ${reported} from transaction
  where (external_id = $1 or parent_external_id = $1) and gateway_account_id = $2
  order by created_date, external_id`;

/** The transaction and its children, oldest first, as far as they belong to the account. */
export const familyOf = (sql: Sql, externalId: string, accountId: string): Promise<ReportedTransaction[]> =>
  sql.query(familyStatement, [externalId, accountId]);
