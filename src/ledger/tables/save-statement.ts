import type { Sql } from "../../database/database.ts";
import { toJson } from "../../values/json.ts";
import { queryCount } from "./query.ts";

/** Maximum bytes of a row as JSON. */
const rowBytesMax = 2 * 2 ** 20;

/** A message cannot be stored, since it would make a row or a list longer than its limit. The message says which. */
export class LimitExceeded extends Error {}

/** The rows as a JSON array; each has its `size` in bytes, too. Throws `LimitExceeded`. */
export function rowsAsJson(rows: object[]): string {
  const texts = rows.map((row) => {
    const text = toJson(row);
    const size = Buffer.byteLength(text);
    if (size > rowBytesMax) {
      throw new LimitExceeded(
        "the details of all events of the resource would be larger than 2 MiB together",
      );
    }
    return `${text.slice(0, -"}\n".length)},"size":${size}}`;
  });
  return `[${texts.join(",")}]`;
}

/**
 * A statement that inserts rows from one JSON array of `rowsAsJson`, or replaces those that differ. It writes every column:
 * a column that was left out would keep an outdated value.
 */
export function saveStatement(table: string, key: string, columns: Record<string, string>): string {
  const typed = Object.entries(columns);
  const names = typed.map(([name]) => name);
  const all = (row: string) => names.map((name) => `${row}.${name}`).join(", ");
  return `
    insert into ${table} (${names.join(", ")})
    select ${names.join(", ")}
    from jsonb_to_recordset($1::jsonb) as new_row (${typed.map(([name, type]) => `${name} ${type}`).join(", ")})
    on conflict (${key}) do update set (${names.join(", ")}) = (${all("excluded")})
    where (${all(table)}) is distinct from (${all("excluded")})`;
}

/**
 * The rows of resources that this session has inserted, replaced or removed. PostgreSQL takes older writes
 * off the number, but not within a transaction.
 */
export const countWrites = (sql: Sql): Promise<number> =>
  queryCount(
    sql,
    `select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint as count
     from pg_stat_xact_user_tables where relname in ('transaction', 'payout', 'agreement', 'payment_instrument')`,
  );
