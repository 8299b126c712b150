import type { Sql } from "../../database/database.ts";
import { rowsAsJson, saveStatement } from "./save-statement.ts";

/** The SQL types of columns that all rows have, and of those that the rows of an account have. */
const commonTypes = {
  service_id: "text",
  created_date: "timestamptz",
  event_count: "integer",
  details: "jsonb",
  folded: "jsonb",
};
export const accountTypes = { gateway_account_id: "text", live: "boolean", state: "text" };

/**
 * A table whose rows are folded from events, one row for each resource. `key` is the column of the external id, and `ownTypes`
 * has the SQL types of the other columns than the common ones.
 */
export function resourceTable<Row extends object>(
  name: string,
  key: keyof Row & string,
  ownTypes: Record<Exclude<keyof Row & string, keyof typeof commonTypes>, string>,
  { hasSize = false } = {},
) {
  const types = { ...ownTypes, ...commonTypes };
  const columns = Object.keys(types).join(", ");
  const statement = saveStatement(name, key, hasSize ? { ...types, size: "integer" } : types);
  const ofResources = `from ${name} where ${key} = any($1::text[])`;
  return {
    key,
    columns,
    /** The rows of these resources. */
    rowsOf: (sql: Sql, externalIds: string[]): Promise<Row[]> =>
      sql.query(`select ${columns} ${ofResources}`, [externalIds]),
    /** Inserts rows, or replaces those that differ. */
    async save(sql: Sql, rows: Row[]): Promise<void> {
      if (rows.length > 0) await sql.query(statement, [rowsAsJson(rows)]);
    },
    async remove(sql: Sql, externalIds: string[]): Promise<void> {
      if (externalIds.length > 0) await sql.query(`delete ${ofResources}`, [externalIds]);
    },
  };
}
export type ResourceTable<Row extends object> = ReturnType<typeof resourceTable<Row>>;
