import type { Plan, Sql } from "../../../database/database.ts";
import { mapInTurns } from "../../../waiting/turns.ts";
import { type KnownPosition, positionOf } from "./position.ts";

/** The events that have arrived, as `arrived_events()` writes them. */
export async function arrivedEvents(sql: Sql): Promise<string> {
  const [row] = await sql.query<{ arrived: string }>("select arrived_events() as arrived");
  return row?.arrived ?? "";
}

/**
 * The position of a statement that has selected `arrived_events()`; undefined if it has none, since too many SQL transactions
 * have committed while an older one was in flight.
 */
export function positionOfArrived(arrived: string): KnownPosition | undefined {
  const [, feedEnd, distances = ""] = arrived.split(":");
  if (feedEnd === undefined) return undefined;
  return positionOf(BigInt(feedEnd), distances);
}

/** The last snapshot of a database of which the arrived events are known. */
export interface LastArrival {
  snapshot?: string;
  arrived?: string;
}

/**
 * The snapshot of a statement, and the server: statements with the same one see the same rows. Null on a replica, whose
 * snapshots do not show all SQL transactions in flight.
 */
const snapshot =
  "case when not pg_is_in_recovery() then concat(pg_postmaster_start_time(), ' ~ ', pg_current_snapshot()) end";

interface Noted {
  /** The snapshot and its arrived events, if it is not the one that is known. */
  noted: string | null;
  /** Null in the only row of a statement that finds none. */
  noted_row: boolean | null;
}

/**
 * Statements that also note the events that had arrived for them, in a set. `arrived_events()` can take longer than a lookup,
 * so it runs only in a snapshot that is not the last one.
 */
export const notingArrived = (sql: Sql, arrived: Set<string>, last: LastArrival = {}): Sql => ({
  run: (script) => sql.run(script),
  async query<Row>(text: string, values: unknown[] = [], plan?: Plan) {
    const known = { ...last };
    const found = await sql.query<Row & Noted>(
      notingStatement(text, values.length + 1),
      [...values, known.snapshot ?? null, wholeEnd(known.arrived)],
      plan,
    );
    const [first] = found;
    if (!first) return [];
    if (first.noted !== null) {
      [known.snapshot, known.arrived] = first.noted.split("\n") as [string, string];
      if (known.snapshot !== "") Object.assign(last, known);
    }
    arrived.add(known.arrived ?? "");
    return first.noted_row ? mapInTurns(found, withoutNotes<Row>) : [];
  },
});

/** `offset 0` makes PostgreSQL find what is noted once, and not for each row. */
const notingStatement = (text: string, next: number) => `
  select own.noted, found.* from (
    select case
      when snapshot = $${next}::text then null
      when split_part(snapshot, ' ~ ', 1) = split_part($${next}::text, ' ~ ', 1)
        and greatest(
          (select max(sql_transaction) from event_feed), (select max(sql_transaction) from transaction_change)
        ) < $${next + 1}::bigint then null
      else concat(snapshot, E'\\n', arrived_events())
    end as noted
    from (select ${snapshot} as snapshot offset 0) as present
    offset 0
  ) as own
  left join lateral (select true as noted_row, statement.* from (${text}) as statement) as found on true`;

/**
 * The end of arrived events behind which no SQL transaction has arrived: all before it had ended. So whatever arrives later
 * is behind it, and two look-ups of an index see if anything has. Null if some have arrived behind the end. Other writes,
 * such as the records of accesses, change the snapshot all the time and no event.
 */
function wholeEnd(arrived: string | undefined): bigint | null {
  const [, end] = /^\d+:(\d+):$/.exec(arrived ?? "") ?? [];
  return end === undefined ? null : BigInt(end);
}

const withoutNotes = <Row>({ noted: _, noted_row: __, ...row }: Row & Noted) => row as Row;
