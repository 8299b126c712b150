import { type Database, type Sql, StatementTimeout } from "../../database/database.ts";
import { unavailable } from "../../http/http-error.ts";
import { openLane } from "../../waiting/lane.ts";
import type { Owner } from "../../waiting/owner.ts";

/** Maximum number of statements that wait, of all owners together. */
const waitingMax = 100;

/** The limit of bytes of a page of rows. */
export const pageBytesMax = 2 * 2 ** 20;
/** A row of up to this many bytes is read on a shared connection; a larger one would delay those behind it. */
const sharedRowBytesMax = 2 ** 16;

/** The accounts or the service that a request names, if it names any. */
type Named = string | string[] | object;

/** Runs statements that may take long, in the share of an owner, which is divided by what its requests name. */
export type Lanes = (owner: Owner, named?: Named) => Sql;

/** Where rows are read: quick statements on a shared connection, slow ones in lanes. */
export interface Reader {
  sql: Sql;
  lanes: Lanes;
  /** Number of slow statements that run at the same time. */
  connections: number;
  /** The limit for a statement, in milliseconds. */
  limitMs: number;
}

export function openReader(database: Database, limitMs: number): Reader {
  const [sql, connections] = [database.within(limitMs), database.requestConnections];
  return { sql, lanes: openLanes(sql, connections, limitMs), connections, limitMs };
}

/** Finds a row: on the shared connection, and again in the lane of the request if the row is too large for that. */
export async function findWhole<Row extends { is_whole: boolean }>(
  { sql, lanes }: Reader,
  find: (sql: Sql, bytesMax?: number) => Promise<Row | undefined>,
  owner: Owner,
  named?: Named,
): Promise<Row | undefined> {
  const row = await find(sql, sharedRowBytesMax);
  return row?.is_whole === false ? find(lanes(owner, named)) : row;
}

/**
 * Divides the connections for slow statements: an owner has at most a third of them, and those of requests with the same
 * accounts at most a third of that. A statement that waits for `limitMs` milliseconds rejects with `StatementTimeout`. If too
 * many wait, those of the owner that has most of them get a 503.
 */
export function openLanes(sql: Sql, connections: number, limitMs: number): Lanes {
  const lane = openLane({
    runningMax: connections,
    waitingMax,
    limitMs,
    // Created once, since an error costs time.
    timeout: new StatementTimeout(limitMs),
    busy: unavailable("too many requests of this caller are in flight; try again later"),
  });
  return (owner, named) => {
    const part = JSON.stringify(named ?? null);
    return {
      // A `prepared` statement would share its connection with quick ones.
      query: (text, values, plan) =>
        lane.run(owner, () => sql.query(text, values, plan === "repeated" ? "repeated" : "custom"), part),
      run: (script) => lane.run(owner, () => sql.run(script), part),
    };
  };
}
