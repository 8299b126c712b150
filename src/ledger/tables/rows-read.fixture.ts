import type { Sql } from "../../database/database.ts";
import { toJson } from "../../values/json.ts";

interface PlanNode {
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: PlanNode[];
}

/** The number of table rows that the scans of an executed plan read, as PostgreSQL reports it. */
function rowsReadBy(node: PlanNode): number {
  const read = (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];
  const own = node["Relation Name"] === undefined ? 0 : read;
  return own + (node.Plans ?? []).reduce((sum, part) => sum + rowsReadBy(part), 0);
}

/** The number of table rows that the statements of the work read. `sql` is that of a transaction. */
export async function rowsReadDuring(sql: Sql, work: (sql: Sql) => Promise<unknown>): Promise<number> {
  let sum = 0;
  await work({
    ...sql,
    async query<Row>(text: string, values?: unknown[]) {
      await sql.run("savepoint before");
      const explained = `explain (analyze, format json) ${text}`;
      const [line] = await sql.query<{ "QUERY PLAN": unknown }>(explained, values, "custom");
      await sql.run("rollback to before");
      // Parsed again, since rows have exact numbers: 1.00 would not be one of JavaScript.
      const [plan] = JSON.parse(toJson(line?.["QUERY PLAN"])) as [{ Plan: PlanNode }];
      sum += rowsReadBy(plan.Plan);
      return sql.query<Row>(text, values, "custom");
    },
  });
  return sum;
}

/** It adds the rows that its statements return to `counts`. */
export const countingSql = <Some extends Sql>(
  sql: Some,
  counts: { statements: number; rows: number },
): Some => ({
  ...sql,
  async query<Row>(...statement: Parameters<Sql["query"]>) {
    counts.statements += 1;
    const rows = await sql.query<Row>(...statement);
    counts.rows += rows.length;
    return rows;
  },
});
