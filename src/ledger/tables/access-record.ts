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
  /** The instant of the response. */
  accessed_at: string;
}

/**
 * Records that a process has made together: its session, their number in this session, and a JSON array of `NewAccessRecord`.
 * They are stored once, however often they are saved.
 */
export interface SessionRecords {
  session: string;
  number: number;
  text: string;
}

export interface AccessRecordRow extends NewAccessRecord {
  id: bigint;
  recorded_at: string;
}

/** Before the oldest record. */
export const accessStart = 0n;

const columns = [
  ...["accessed_at", "service", "operation", "subject", "client", "gateway_account_ids", "resource_ids"],
  ...["resource_count", "status", "request_id", "reason"],
];

/**
 * Saves records, all or none, but those that are stored already. Those of a session must come in the order of their numbers. One
 * SQL transaction at a time saves, so that records appear in the order of their ids.
 */
export const saveAccessRecords = (database: Database, rows: SessionRecords[]): Promise<unknown> =>
  database.transaction((sql) =>
    Promise.all([
      sql.query("select pg_advisory_xact_lock(hashtext('access records'))"),
      sql.query(
        `with given as materialized (
           select session, number, records
           from unnest($1::uuid[], $2::bigint[], $3::json[]) as given (session, number, records)
         ), saving as (
           insert into access_session (id, former, position)
           select session, 0, max(number) from given group by session
           on conflict (id) do update set former = access_session.position,
             position = greatest(access_session.position, excluded.position), changed_at = excluded.changed_at
           returning id as session, former
         )
         insert into access_record (sql_transaction, ${columns})
         select (select current_sql_transaction()), ${columns}
         from given join saving using (session) cross join lateral rows from (json_to_recordset(records) as (
           accessed_at timestamptz, service text, operation text, subject text, client text, gateway_account_ids text[],
           resource_ids text[], resource_count integer, status smallint, request_id text, reason text
         )) with ordinality
         where number > former order by session, number, ordinality`,
        [rows.map(({ session }) => session), rows.map(({ number }) => number), rows.map(({ text }) => text)],
      ),
    ]),
  );

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

/** Records that are stored at the same time can have instants and ids in different orders, also if the clock is set. */
const margin = "interval '1 minute'";

/**
 * The records after an id that match the filter, in the order of ids. The ids of an interval are found by its instants.
 */
export async function readAccessRecords(
  sql: Sql,
  { resource_id, subject, from, to }: AccessFilter,
  after: bigint,
  { countMax }: Pick<PageLimits, "countMax">,
): Promise<{ records: AccessRecordRow[]; isLast: boolean }> {
  const values: unknown[] = [after, countMax + 1];
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
      (instant) => `recorded_at >= ${instant}::timestamptz and id >= coalesce((
        select id from access_record where recorded_at < ${instant}::timestamptz - ${margin}
        order by recorded_at desc limit 1), 0)`,
    );
  if (to !== undefined)
    given(
      to,
      (instant) => `recorded_at < ${instant}::timestamptz and id <= coalesce((
        select id from access_record where recorded_at > ${instant}::timestamptz + ${margin}
        order by recorded_at limit 1), 9223372036854775807)`,
    );
  // Without statistics of a resource the planner could read all records in order until it has found a page of its own.
  const rows = await sql.query<AccessRecordRow>(
    `with found as ${resource_id === undefined ? "not " : ""}materialized (
       select id, recorded_at, ${columns} from access_record
       where id > $1 ${conditions.map((condition) => `and ${condition}`).join(" ")}
     )
     select * from found order by id limit $2`,
    values,
    "custom",
  );
  return { records: rows.slice(0, countMax), isLast: rows.length <= countMax };
}

/** The id of the newest record. */
export async function newestAccessRecord(sql: Sql): Promise<bigint> {
  const [newest] = await sql.query<{ id: bigint }>("select id from access_record order by id desc limit 1");
  return newest?.id ?? accessStart;
}
