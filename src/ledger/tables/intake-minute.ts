import type { Sql } from "../../database/database.ts";

/** What becomes of a message. */
const outcomes = ["stored", "duplicate", "rebuilt", "dead_letter", "retried"] as const;
export type Outcome = (typeof outcomes)[number];

/**
 * The messages whose time of sending is known, and the sum of the times from their sending to their commit, in milliseconds.
 * `lag_ms_max` is the longest of these times; 0 if there is none.
 */
const sums = [...outcomes, "lag_messages", "lag_ms_sum"] as const;
const numbers = [...sums, "lag_ms_max"] as const;

/** What became of messages in a minute. */
export type IntakeMinute = Record<(typeof numbers)[number], number>;
export const noMessages = Object.fromEntries(numbers.map((name) => [name, 0])) as IntakeMinute;

export interface IntakeMinuteRow extends IntakeMinute {
  /** Start of the minute, UTC. */
  minute: string;
}

/**
 * Adds the numbers of a process to those of the others, and removes rows that are older than a day. The rows are written in
 * one order and those to remove are not awaited, so that processes cannot deadlock.
 */
export async function addToIntakeMinutes(sql: Sql, rows: IntakeMinuteRow[]): Promise<void> {
  await sql.query(
    `with added as materialized (
       select * from jsonb_to_recordset($1::jsonb) as new_row (minute timestamptz, ${numbers.map((name) => `${name} bigint`)})
     ), removed as (
       delete from intake_minute where minute in (
         select minute from intake_minute
         where minute < now() - interval '1 day' and minute not in (select minute from added)
         for update skip locked)
     )
     insert into intake_minute as saved (minute, ${numbers})
     select minute, ${numbers} from added order by minute
     on conflict (minute) do update set
       ${sums.map((name) => `${name} = saved.${name} + excluded.${name}`)},
       lag_ms_max = greatest(saved.lag_ms_max, excluded.lag_ms_max)`,
    [JSON.stringify(rows)],
  );
}

/** The minutes from this instant up to one hour later, in order: at most 61. */
export const intakeMinutesSince = (sql: Sql, from: string): Promise<IntakeMinuteRow[]> =>
  sql.query(
    `select minute, ${numbers.map((name) => `${name}::double precision`)} from intake_minute
     where minute between $1::timestamptz and $1::timestamptz + interval '1 hour' order by minute`,
    [from],
  );
