import type { Sql } from "../../database/database.ts";

/** Events that took the same time, rounded, from their acceptance until a destination had them. */
export interface FreshnessRow {
  destination: string;
  visible_ms: number;
  events: number;
}

export interface FreshnessMinuteRow extends FreshnessRow {
  /** Start of the minute, UTC. */
  minute: string;
}

/** Adds the numbers of a process to those of the others, in one order, and removes old rows, as `addToIntakeMinutes`. */
export async function addToFreshnessMinutes(sql: Sql, rows: FreshnessMinuteRow[]): Promise<void> {
  await sql.query(
    `with removed as (
       delete from freshness_minute where (minute, destination, visible_ms) in (
         select minute, destination, visible_ms from freshness_minute
         where minute < now() - interval '10 minutes' for update skip locked)
     )
     insert into freshness_minute as saved (minute, destination, visible_ms, events)
     select minute, destination, visible_ms, events
     from jsonb_to_recordset($1::jsonb) as new_row (minute timestamptz, destination text, visible_ms bigint, events bigint)
     where minute >= now() - interval '9 minutes' order by minute, destination, visible_ms
     on conflict (minute, destination, visible_ms) do update set events = saved.events + excluded.events`,
    [JSON.stringify(rows)],
  );
}

/** The times of the minutes from this instant, by destination, the shortest first. */
export const freshnessSince = (sql: Sql, from: string): Promise<FreshnessRow[]> =>
  sql.query(
    `select destination, visible_ms::double precision, sum(events)::double precision as events from freshness_minute
     where minute >= $1 group by destination, visible_ms order by destination, visible_ms`,
    [from],
  );

/**
 * Those of these events that the database has, which can be a replica. `is_in_feed` is true if the feed has them, too: no
 * earlier SQL transaction is in flight.
 */
export const arrivalsOf = (sql: Sql, ids: bigint[]): Promise<{ event_id: bigint; is_in_feed: boolean }[]> =>
  sql.query(
    `select event_id, bool_or(sql_transaction < feed_end) as is_in_feed
     from event_feed cross join (select event_feed_end() as feed_end offset 0) as feed
     where event_id = any($1::bigint[]) group by event_id`,
    [ids],
  );
