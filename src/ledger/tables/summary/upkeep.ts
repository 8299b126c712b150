import type { Sql } from "../../../database/database.ts";
import { queryCount } from "../query.ts";
import { sumColumns } from "./rows.ts";

/**
 * Merges the oldest changes, about `max`, into the summaries if at least `min` wait, and returns their number. Returns 0
 * while another session merges. Reports have the same numbers before and after.
 */
export async function mergeSummaryChanges(sql: Sql, max: number, min = 1): Promise<number> {
  const [row] = await sql.query<{ merged: number }>(
    "select merge_transaction_summary_changes($1, $2) as merged",
    [max, min],
  );
  return row?.merged ?? 0;
}

/** Records the present position in the feed for the last quarter of an hour, once. */
export async function recordInstantPosition(sql: Sql): Promise<void> {
  await sql.query("select record_instant_position()");
}

/** The number of changes that are not merged. Counting stops at `max`. */
export const countSummaryChanges = (sql: Sql, max: number): Promise<number> =>
  queryCount(
    sql,
    `select count(*) from (
       select from transaction_change where sql_transaction >= (select max(merged_end) from transaction_summary_merge) limit $1
     ) as counted`,
    [max],
  );

/** Computes all summaries from the transactions, which can change meanwhile, and their versions from the changes. */
export async function rebuildSummaries(sql: Sql): Promise<void> {
  await sql.run("select rebuild_transaction_summaries()");
}

const numbers = ["count", ...sumColumns];
const partColumns = ["gateway_account_id", "transaction_type", "state", "live", "moto"] as const;
const keyColumns = ["all_accounts", "grain", "period", ...partColumns] as const;

/**
 * The first summaries and versions of summaries, up to `max`, that differ from the transactions and their changes, and the
 * columns that differ. A version has the end of its merge, and a summary has none. Reads every transaction and every change.
 */
export function summaryDifferences(sql: Sql, max: number) {
  const columns = [...keyColumns, "merged_end"];
  const differing = numbers.map((name) => `case when sum(${name}) <> 0 then '${name}' end`);
  const rowsOf = (prefix: string, sign: string) => {
    const signed = numbers.map((name) => sign + name);
    return `
      select all_accounts, grain, period::text, ${[...partColumns, "null::bigint as merged_end", ...signed]} from ${prefix}transaction_summary
      union all
      select all_accounts, 'hour', to_json(hour) #>> '{}', ${[...partColumns, "null", ...signed]} from ${prefix}transaction_hour_summary
      union all
      select all_accounts, grain, to_json(period) #>> '{}', ${[...partColumns, "version.merged_end", ...signed.map((name) => name.replace(/\w+/, "version.$&"))]}
      from merged_summary join ${prefix}transaction_summary_version as version on summary_id = id`;
  };
  return sql.query<{ key: Record<(typeof keyColumns)[number] | "merged_end", unknown>; columns: string[] }>(
    `select jsonb_build_object(${columns.map((name) => `'${name}', ${name}`)}) as key, columns
     from (
       select ${columns}, array_remove(array[${differing}], null) as columns
       from (
         ${rowsOf("expected_", "")}
         union all
         ${rowsOf("", "-")}
       ) as compared
       group by ${columns}
     ) as difference
     where columns <> '{}' order by ${columns} limit $1`,
    [max],
  );
}
