import type { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { components } from "../../../generated/ledger.ts";
import type { Sql } from "../../database/database.ts";
import { type Details, transactionTypes } from "./event.ts";
import type { AccountResourceRow } from "./fold-state.ts";
import { queryIds } from "./query.ts";
import { accountTypes, resourceTable } from "./resource-table.ts";

export type TransactionType = components["schemas"]["TransactionType"];

/** The state of a transaction; `UNDEFINED` if no event has set one. */
export type TransactionState = (typeof stateMachine.transaction_states)[number]["state"];

export interface TransactionRow extends AccountResourceRow {
  external_id: string;
  transaction_type: TransactionType;
  parent_external_id: string | null;
  state: TransactionState;
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
  payment_details: Details | null;
}

/**
 * Triggers follow each statement that writes: outline_insert, outline_update and outline_delete write
 * transaction_outline, and summarise_insert, summarise_update and summarise_delete add to transaction_summary_change
 * (`schema.sql`).
 */
export const transactionTable = resourceTable<TransactionRow>(
  "transaction",
  "external_id",
  {
    external_id: "text",
    transaction_type: "text",
    parent_external_id: "text",
    ...accountTypes,
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
    payment_details: "jsonb",
  },
  { hasSize: true },
);

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
    `select ${transactionTable.columns} from transaction where parent_external_id = any($1::text[])`,
    [externalIds],
  );

/** Maximum number of refunds and disputes of a payment: all of them are written when the payment's details change. */
export const childrenMax = 500;

/** Those of these transactions that have more children than the maximum. */
export const withTooManyChildren = (sql: Sql, externalIds: string[]): Promise<string[]> =>
  queryIds(
    sql,
    `select id from unnest($1::text[]) as parent (id)
     where (
       select count(*) from (select from transaction where parent_external_id = id limit ${childrenMax + 1}) as child
     ) > ${childrenMax}`,
    [externalIds],
  );

/** Those of these ids whose transactions belong to the account. Default: to any. */
export const idsOfAccount = (sql: Sql, externalIds: string[], accountId: string | undefined) =>
  queryIds(
    sql,
    `select external_id as id from transaction
     where external_id = any($1::text[]) and ($2::text is null or gateway_account_id = $2)`,
    [externalIds, accountId ?? null],
  );

/** The ids of the transaction and its children, those that belong to the account. */
export const familyOf = (sql: Sql, externalId: string, accountId: string): Promise<string[]> =>
  queryIds(
    sql,
    `select external_id as id from transaction
     where (external_id = $1 or parent_external_id = $1) and gateway_account_id = $2`,
    [externalId, accountId],
  );

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
