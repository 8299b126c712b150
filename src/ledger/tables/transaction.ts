import type { components } from "../../../generated/ledger.ts";
import type { Sql } from "../database/database.ts";
import type { Details } from "./event.ts";

export type TransactionType = components["schemas"]["TransactionType"];

/** The states a transaction is kept in; `UNDEFINED` when no event has set one. */
export type TransactionState =
  | "UNDEFINED"
  | "CREATED"
  | "STARTED"
  | "SUBMITTED"
  | "CAPTURABLE"
  | "SUCCESS"
  | "FAILED_REJECTED"
  | "FAILED_EXPIRED"
  | "FAILED_CANCELLED"
  | "CANCELLED"
  | "ERROR"
  | "ERROR_GATEWAY"
  | "NEEDS_RESPONSE"
  | "UNDER_REVIEW"
  | "LOST"
  | "WON";

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
  reference: string | null;
  email: string | null;
  cardholder_name: string | null;
  card_brand: string | null;
  first_digits_card_number: string | null;
  last_digits_card_number: string | null;
  gateway_transaction_id: string | null;
  gateway_payout_id: string | null;
  agreement_id: string | null;
  details: Details;
  payment_details: Details | null;
}

/** Every column is written at every save: one that was left out would keep a value its events no longer say. */
const columns: Record<keyof TransactionRow, string> = {
  external_id: "text",
  transaction_type: "text",
  parent_external_id: "text",
  gateway_account_id: "text",
  service_id: "text",
  live: "boolean",
  state: "text",
  created_date: "timestamptz",
  event_count: "integer",
  reference: "text",
  email: "text",
  cardholder_name: "text",
  card_brand: "text",
  first_digits_card_number: "text",
  last_digits_card_number: "text",
  gateway_transaction_id: "text",
  gateway_payout_id: "text",
  agreement_id: "text",
  details: "jsonb",
  payment_details: "jsonb",
};

const names = Object.keys(columns);
const saveStatement = `
  insert into transaction (${names.join(", ")})
  select ${names.join(", ")}
  from jsonb_to_recordset($1::jsonb) as new_row (${Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(", ")})
  on conflict (external_id) do update set ${names.map((name) => `${name} = excluded.${name}`).join(", ")}`;

/** Adds or replaces whole rows. */
export async function saveTransactions(sql: Sql, rows: TransactionRow[]): Promise<void> {
  if (rows.length > 0) await sql.query(saveStatement, [JSON.stringify(rows)]);
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

/** Ids of all transactions whose parent is one of these. */
export async function childIdsOf(sql: Sql, externalIds: string[]): Promise<string[]> {
  const rows = await sql.query<{ external_id: string }>(
    "select external_id from transaction where parent_external_id = any($1::text[])",
    [externalIds],
  );
  return rows.map(({ external_id }) => external_id);
}

export interface TransactionFilter {
  external_id?: string | undefined;
  account_ids?: string[] | undefined;
  transaction_type?: TransactionType | undefined;
  parent_external_id?: string | undefined;
  /** Text the reference contains, letter case aside. */
  reference?: string | undefined;
}

/** Each filter's condition, for the place its value has among the statement's. */
const conditions: Record<keyof TransactionFilter, (place: string) => string> = {
  external_id: (place) => `external_id = ${place}`,
  account_ids: (place) => `gateway_account_id = any(${place}::text[])`,
  transaction_type: (place) => `transaction_type = ${place}`,
  parent_external_id: (place) => `parent_external_id = ${place}`,
  reference: (place) => `strpos(lower(reference), lower(${place})) > 0`,
};

function where(filter: TransactionFilter): { clause: string; values: unknown[] } {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const clauses = given.map(([name], index) => conditions[name as keyof TransactionFilter](`$${index + 1}`));
  return { clause: ["true", ...clauses].join(" and "), values: given.map(([, value]) => value) };
}

export async function findTransaction(
  sql: Sql,
  filter: TransactionFilter & { external_id: string },
): Promise<TransactionRow | undefined> {
  const { clause, values } = where(filter);
  const [row] = await sql.query<TransactionRow>(`select * from transaction where ${clause}`, values);
  return row;
}

/** Those that fit the filter, newest first; ties by id, so that the order is total. */
export function searchTransactions(
  sql: Sql,
  filter: TransactionFilter,
  page: { offset: number; limit: number },
): Promise<TransactionRow[]> {
  const { clause, values } = where(filter);
  return sql.query<TransactionRow>(
    `select * from transaction where ${clause}
     order by created_date desc, external_id desc
     limit $${values.length + 1} offset $${values.length + 2}`,
    [...values, page.limit, page.offset],
  );
}

export async function countTransactions(sql: Sql, filter: TransactionFilter): Promise<number> {
  const { clause, values } = where(filter);
  const [row] = await sql.query<{ count: bigint }>(
    `select count(*) from transaction where ${clause}`,
    values,
  );
  return Number(row?.count);
}

/** The transaction and its children, oldest first, as far as they belong to the account. */
export function familyOf(sql: Sql, externalId: string, accountId: string): Promise<TransactionRow[]> {
  return sql.query<TransactionRow>(
    `select * from transaction
     where (external_id = $1 or parent_external_id = $1) and gateway_account_id = $2
     order by created_date, external_id`,
    [externalId, accountId],
  );
}
