import type { Sql } from "../../database/database.ts";
import { readTimestamp } from "../../values/timestamp.ts";
import { type PageLimits, readWithin } from "./page.ts";
import { payoutCondition } from "./payout.ts";
import type { TransactionRow, TransactionType } from "./transaction.ts";

/**
 * A transaction as responses show it: one text, which the client reads in a fraction of the time of twelve columns. Each value
 * is a line (`reportedLines`). No JSON text and no other value has a line feed. A value that is missing is `null`.
 */
export type ReportedTransaction = string & { readonly [reported]: true };
declare const reported: unique symbol;

/** The columns of `transaction` from which a reported transaction is read. */
export const reportedColumns = [
  "external_id",
  "transaction_type",
  "state",
  "created_date",
  "parent_external_id",
  "gateway_account_id",
  "service_id",
  "live",
  "gateway_payout_id",
  "details",
  "payment_details",
  "size",
] as const satisfies (keyof TransactionRow | "size")[];

/** The size of a row as JSON, in bytes. A row of an older release has none. */
export const transactionSize =
  "coalesce(size, octet_length(details::text) + coalesce(octet_length(payment_details::text), 0))";

/** The lines of a reported transaction, in their order. */
export const reportedLines = [
  /** `t`, or `f` if the details were not read. */
  "is_whole",
  /** The bytes of the details as JSON. */
  "size",
  "transaction_type",
  "state",
  /** As PostgreSQL writes it, like the other instant: in UTC, `2024-03-05 09:14:22.018+00`. */
  "created_date",
  /** The instant at which its payout was paid. */
  "paid_out_date",
  // JSON:
  "external_id",
  "parent_external_id",
  "gateway_account_id",
  "service_id",
  "live",
  "details",
  "payment_details",
] as const;
export type ReportedLine = (typeof reportedLines)[number];

/**
 * A `transaction` as a reported one, as an SQL expression. The details are not read if they are larger than `bytesMax`. Other
 * expressions become further lines.
 */
export function reportedText(bytesMax: string, ...others: string[]): string {
  const wholeCondition = `${transactionSize} <= ${bytesMax}::bigint`;
  const ifPresent = (expression: string) => `coalesce(${expression}, 'null')`;
  const ifWhole = (column: string) => ifPresent(`case when ${wholeCondition} then ${column} end`);
  const expressions: Record<ReportedLine, string> = {
    is_whole: wholeCondition,
    size: transactionSize,
    transaction_type: "transaction_type",
    state: "state",
    created_date: "created_date",
    // Most transactions are in no payout yet.
    paid_out_date: ifPresent(
      `case when gateway_payout_id is not null then
         (select paid_out_date from payout where ${payoutCondition})::text
       end`,
    ),
    external_id: "to_json(external_id)",
    parent_external_id: ifPresent("to_json(parent_external_id)"),
    gateway_account_id: ifPresent("to_json(gateway_account_id)"),
    service_id: ifPresent("to_json(service_id)"),
    live: ifPresent("to_json(live)"),
    details: ifWhole("details"),
    payment_details: ifWhole("payment_details"),
  };
  return `concat_ws(E'\\n', ${[...reportedLines.map((line) => expressions[line]), ...others]})`;
}

/** The row of a transaction, whose payout was paid at an instant, as a reported one. */
export function reportedOf(row: TransactionRow, paidOutDate: string | null): ReportedTransaction {
  const ofDatabase = (instant: string) => instant.replace("T", " ").replace("Z", "+00");
  const values: Record<ReportedLine, string> = {
    is_whole: "t",
    size: "0",
    transaction_type: row.transaction_type,
    state: row.state,
    created_date: ofDatabase(row.created_date),
    paid_out_date: paidOutDate === null ? "null" : ofDatabase(paidOutDate),
    external_id: JSON.stringify(row.external_id),
    parent_external_id: JSON.stringify(row.parent_external_id),
    gateway_account_id: JSON.stringify(row.gateway_account_id),
    service_id: JSON.stringify(row.service_id),
    live: JSON.stringify(row.live),
    details: JSON.stringify(row.details),
    payment_details: JSON.stringify(row.payment_details),
  };
  return reportedLines.map((line) => values[line]).join("\n") as ReportedTransaction;
}

const linesOf = (text: ReportedTransaction): string[] => text.split("\n");

/** A row of a page with a reported transaction. */
class FoundTransaction {
  readonly text: ReportedTransaction;

  constructor({ text }: { text: string }) {
    this.text = text as ReportedTransaction;
  }

  get is_whole(): boolean {
    return this.text.startsWith("t");
  }

  get size(): number {
    return Number(linesOf(this.text)[reportedLines.indexOf("size")]);
  }
}

export const foundTransaction = (row: { text: string }) => new FoundTransaction(row);

/** The position of a transaction in a list, and the lines of the other expressions. */
export function placeOf(text: ReportedTransaction) {
  const lines = linesOf(text);
  const line = (name: ReportedLine) => lines[reportedLines.indexOf(name)] as string;
  return {
    position: {
      created_date: readTimestamp(line("created_date")),
      external_id: JSON.parse(line("external_id")) as string,
    },
    others: lines.slice(reportedLines.length),
  };
}

/** The id of a transaction, and values that it must have. */
export interface TransactionKey {
  external_id: string;
  gateway_account_id?: string | undefined;
  transaction_type?: TransactionType | undefined;
  parent_external_id?: string | undefined;
}

const findStatement = `
  select ${reportedText("$5")} as text from transaction
  where external_id = $1
    and ($2::text is null or gateway_account_id = $2)
    and ($3::text is null or transaction_type = $3)
    and ($4::text is null or parent_external_id = $4)`;

/** A transaction; without its details, which must be read again, if they are larger than `bytesMax`. */
export async function findTransaction(
  sql: Sql,
  { external_id, gateway_account_id, transaction_type, parent_external_id }: TransactionKey,
  bytesMax = Number.MAX_SAFE_INTEGER,
): Promise<FoundTransaction | undefined> {
  const [found] = await sql.query<{ text: string }>(findStatement, [
    external_id,
    gateway_account_id ?? null,
    transaction_type ?? null,
    parent_external_id ?? null,
    bytesMax,
  ]);
  return found && foundTransaction(found);
}

/** The place of a child in the list of its parent. */
export type ChildPosition = Pick<TransactionRow, "created_date" | "external_id">;

/**
 * A page of the children of a transaction that belong to the account: those after a position, oldest first. `next` is the
 * position of the next page, if there is one.
 */
export async function listChildren(
  sql: Sql,
  parentExternalId: string,
  accountId: string,
  { after, type, ...limits }: PageLimits & { after?: ChildPosition; type?: TransactionType },
): Promise<{ children: ReportedTransaction[]; next: ChildPosition | undefined }> {
  const position = [after?.created_date ?? null, after?.external_id ?? ""];
  const { rows, isLast } = await readWithin(limits, async (max, rowBytesMax) => {
    const values = [parentExternalId, accountId, type ?? null, ...position, max, rowBytesMax];
    const found = await sql.query<{ text: string }>(childrenStatement, values, "repeated");
    return found.map(foundTransaction);
  });
  const last = isLast ? undefined : rows.at(-1);
  return { children: rows.map(({ text }) => text), next: last && placeOf(last.text).position };
}

const childrenStatement = `
  select ${reportedText("$7")} as text from transaction
  where parent_external_id = $1 and gateway_account_id = $2 and ($3::text is null or transaction_type = $3)
    and ($4::timestamptz is null or (created_date, external_id) > ($4, $5))
  order by created_date, external_id limit $6`;
