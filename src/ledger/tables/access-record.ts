import type { Database, Sql } from "../../database/database.ts";
import type { PageLimits } from "./page.ts";

/** What is recorded of an access. */
export interface NewAccessRecord {
  service: string;
  operation: string;
  subject: string | null;
  client: string | null;
  gateway_account_ids: string[];
  resource_ids: string[];
  /** Null if it is unknown. */
  resource_count: number | null;
  status: number;
  request_id: string | null;
  reason: string | null;
}

/** The place of a record in the order of all. */
export interface AccessPosition {
  sql_transaction: bigint;
  id: bigint;
}

/** Before the oldest record. */
export const accessStart: AccessPosition = { sql_transaction: 0n, id: 0n };

export interface AccessRecordRow extends NewAccessRecord, AccessPosition {
  recorded_at: string;
}

const columns = [
  ...["service", "operation", "subject", "client", "gateway_account_ids", "resource_ids"],
  ...["resource_count", "status", "request_id", "reason"],
];

/** Stores records, all or none. The position is computed once for all of them. */
export async function insertAccessRecords(sql: Sql, records: NewAccessRecord[]): Promise<void> {
  await sql.query(
    `insert into access_record (sql_transaction, ${columns})
     select (select current_sql_transaction()), ${columns}
     from json_to_recordset($1::json) as record (service text, operation text, subject text, client text,
       gateway_account_ids text[], resource_ids text[], resource_count integer, status smallint, request_id text,
       reason text)`,
    [JSON.stringify(records)],
  );
}

/** Makes the partitions that are needed soon, and drops those of records that are older than the interval. */
export const keepAccessRecords = (database: Database, keep: string): Promise<unknown> =>
  database.transaction((sql) => sql.query("select keep_access_records($1::interval)", [keep]), {
    lockMs: 500,
  });

/** Undefined is every record. */
export interface AccessFilter {
  resource_id?: string | undefined;
  subject?: string | undefined;
  /** First instant, inclusive, and an instant after the last, exclusive. */
  from?: string | undefined;
  to?: string | undefined;
}

/** Longer than the limit of a statement that records: so a later transaction has a higher number. */
const margin = "interval '1 minute'";

/**
 * The records after a position that match the filter, in order, up to the oldest transaction in flight. Statements for an
 * instant find its place by the index of instants: transactions a minute apart have numbers in the order of their instants.
 */
export async function readAccessRecords(
  sql: Sql,
  { resource_id, subject, from, to }: AccessFilter,
  after: AccessPosition,
  { countMax }: Pick<PageLimits, "countMax">,
): Promise<{ records: AccessRecordRow[]; isLast: boolean }> {
  const values: unknown[] = [after.sql_transaction, after.id, countMax + 1];
  const conditions: string[] = [];
  const given = (value: string, condition: (parameter: string) => string) => {
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  if (resource_id !== undefined) given(resource_id, (id) => `resource_ids @> array[${id}]::text[]`);
  if (subject !== undefined) given(subject, (name) => `subject = ${name}`);
  if (from !== undefined)
    given(
      from,
      (instant) => `recorded_at >= ${instant}::timestamptz and sql_transaction >= coalesce((
        select sql_transaction from access_record where recorded_at < ${instant}::timestamptz - ${margin}
        order by recorded_at desc limit 1), 0)`,
    );
  if (to !== undefined)
    given(
      to,
      (instant) => `recorded_at < ${instant}::timestamptz and sql_transaction <= coalesce((
        select sql_transaction from access_record where recorded_at > ${instant}::timestamptz + ${margin}
        order by recorded_at limit 1), 9223372036854775807)`,
    );
  // Without statistics of a resource the planner could read all records in order until it has found a page of its own.
  const rows = await sql.query<AccessRecordRow>(
    `with found as ${resource_id === undefined ? "not " : ""}materialized (
       select sql_transaction, id, recorded_at, ${columns} from access_record
       where (sql_transaction, id) > ($1, $2) and sql_transaction < (select event_feed_end())
         ${conditions.map((condition) => `and ${condition}`).join(" ")}
     )
     select * from found order by sql_transaction, id limit $3`,
    values,
    "custom",
  );
  return { records: rows.slice(0, countMax), isLast: rows.length <= countMax };
}

/** The position of the newest record. */
export async function newestAccessRecord(sql: Sql): Promise<AccessPosition> {
  const [newest] = await sql.query<AccessPosition>(
    `select sql_transaction, id from access_record where sql_transaction < (select event_feed_end())
     order by sql_transaction desc, id desc limit 1`,
  );
  return newest ?? accessStart;
}
