import type { Plan, Sql } from "../../database/database.ts";

/** The ids that a statement selects as `id`. */
export async function queryIds<Id = string>(sql: Sql, statement: string, values?: unknown[]): Promise<Id[]> {
  const rows = await sql.query<{ id: Id }>(statement, values);
  return rows.map(({ id }) => id);
}

/** The number that a statement selects as `count`. */
export async function queryCount(sql: Sql, statement: string, values?: unknown[], plan?: Plan) {
  const [row] = await sql.query<{ count: bigint }>(statement, values, plan);
  return Number(row?.count);
}
