import type { Sql } from "../../database/database.ts";
import type { PageLimits } from "./page.ts";
import { payoutCondition } from "./payout.ts";
import type { TransactionRow, TransactionType } from "./transaction.ts";

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

/** The columns of a transaction in responses, with the date of its payout. */
const reportedWith = (
  column: (name: (typeof reportedColumns)[number]) => string,
  paidOutDate = "paid_out_date",
) => `
  ${reportedColumns.map(column).join(", ")},
  (select ${paidOutDate} from payout where ${payoutCondition}) as paid_out_date`;

export const reported = reportedWith((name) => `transaction.${name}`);

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
  const wholeCondition = `coalesce(size, pg_column_size(details)) <= ${bytesMax}`;
  const columns = reportedWith((name) => {
    if (name === "created_date") return `${instantText(name)} as ${name}`;
    const isLong = name === "details" || name === "payment_details";
    return isLong ? `case when ${wholeCondition} then ${name} end as ${name}` : `transaction.${name}`;
  }, instantText("paid_out_date"));
  return `${columns}, ${wholeCondition} as is_whole`;
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

/** The place of a child in the list of its parent. */
export type ChildPosition = Pick<TransactionRow, "created_date" | "external_id">;

/** A page of the children of a transaction that belong to the account: those after a position, oldest first. */
export async function listChildren(
  sql: Sql,
  parentExternalId: string,
  accountId: string,
  { after, type, countMax, bytesMax }: PageLimits & { after?: ChildPosition; type?: TransactionType },
): Promise<{ children: ReportedTransaction[]; isLast: boolean }> {
  const position = [after?.created_date ?? null, after?.external_id ?? ""];
  const values = [parentExternalId, accountId, type ?? null, ...position, countMax, bytesMax];
  const rows = await sql.query<ReportedTransaction & { is_last: boolean }>(childrenStatement, values);
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
