import type { Sql } from "../../../database/database.ts";
import { queryCount } from "../query.ts";
import { sumColumns } from "./rows.ts";

/**
 * Merges the oldest changes, up to `max`, into the summaries, and returns their number. Returns 0 while another session
 * merges. Reports have the same numbers before and after.
 */
export async function mergeSummaryChanges(sql: Sql, max: number): Promise<number> {
  const [row] = await sql.query<{ merged: number }>(
    "select merge_transaction_summary_changes($1) as merged",
    [max],
  );
  return row?.merged ?? 0;
}

/** The number of changes that are not merged. Counting stops at `max`. */
export const countSummaryChanges = (sql: Sql, max: number): Promise<number> =>
  queryCount(sql, "select count(*) from (select from transaction_summary_change limit $1) as counted", [max]);

/** Computes all summaries from the transactions, which can change meanwhile. */
export async function rebuildSummaries(sql: Sql): Promise<void> {
  await sql.run("select rebuild_transaction_summaries()");
}

const partColumns = ["gateway_account_id", "transaction_type", "state", "live", "moto"] as const;
const keyColumns = ["all_accounts", "grain", "period", ...partColumns] as const;

/** The first summaries, up to `max`, that differ from the transactions, and the columns that differ. Reads every transaction. */
export function summaryDifferences(sql: Sql, max: number) {
  const numbers = ["count", ...sumColumns];
  const differing = numbers.map((name) => `case when sum(${name}) <> 0 then '${name}' end`);
  const rowsOf = (prefix: string, sign: string) => {
    const columns = [...partColumns, ...numbers.map((name) => sign + name)];
    return `
      select all_accounts, grain, period::text, ${columns} from ${prefix}transaction_summary
      union all
      select all_accounts, 'hour', to_json(hour) #>> '{}', ${columns} from ${prefix}transaction_hour_summary`;
  };
  return sql.query<{ key: Record<(typeof keyColumns)[number], unknown>; columns: string[] }>(
    `select jsonb_build_object(${keyColumns.map((name) => `'${name}', ${name}`)}) as key, columns
     from (
       select ${keyColumns}, array_remove(array[${differing}], null) as columns
       from (
         ${rowsOf("expected_", "")}
         union all
         ${rowsOf("", "-")}
       ) as compared
       group by ${keyColumns}
     ) as difference
     where columns <> '{}' order by ${keyColumns} limit $1`,
    [max],
  );
}
