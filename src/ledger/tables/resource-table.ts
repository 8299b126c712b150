import type { Sql } from "../../database/database.ts";
import { rowsAsJson, saveStatement } from "./save-statement.ts";

/** A table whose rows are folded from events, one row for each resource. */
export interface ResourceTable<Row> {
  /** The column of the external id. */
  key: keyof Row & string;
  /** The rows of these resources. */
  rowsOf(sql: Sql, externalIds: string[]): Promise<Row[]>;
  /** Inserts rows, or replaces those that differ. */
  save(sql: Sql, rows: Row[]): Promise<void>;
  remove(sql: Sql, externalIds: string[]): Promise<void>;
}

/** The SQL types of columns that the rows of an account have, in the order of their tables. */
export const accountColumnTypes = {
  gateway_account_id: "text",
  service_id: "text",
  live: "boolean",
  state: "text",
  created_date: "timestamptz",
  event_count: "integer",
};

/** `columnTypes` has the SQL type of each column. */
export function resourceTable<Row extends object>(
  name: string,
  key: keyof Row & string,
  columnTypes: Record<keyof Row & string, string>,
  { hasSize = false } = {},
): ResourceTable<Row> {
  const columns = Object.keys(columnTypes).join(", ");
  const statement = saveStatement(name, key, hasSize ? { ...columnTypes, size: "integer" } : columnTypes);
  const ofResources = `from ${name} where ${key} = any($1::text[])`;
  return {
    key,
    rowsOf: (sql, externalIds) => sql.query(`select ${columns} ${ofResources}`, [externalIds]),
    async save(sql, rows) {
      if (rows.length > 0) await sql.query(statement, [rowsAsJson(rows)]);
    },
    async remove(sql, externalIds) {
      if (externalIds.length > 0) await sql.query(`delete ${ofResources}`, [externalIds]);
    },
  };
}
