import { type Database, type LimitedSql, StatementTimeout } from "../../database/database.ts";
import { overloaded } from "../../http/http-error.ts";
import { openLane } from "../../waiting/lane.ts";
import type { Owner } from "../../waiting/owner.ts";
import type { LastArrival } from "../tables/known/arrived.ts";

/** Maximum number of statements that wait, of all owners together. */
const waitingMax = 100;

/** The limit of bytes of a page of rows. */
export const pageBytesMax = 2 * 2 ** 20;
/** A row of up to this many bytes is read on a shared connection; a larger one would delay those behind it. */
const sharedRowBytesMax = 2 ** 16;

/** The accounts or the service that a request names, if it names any. */
type Named = string | string[] | object;

/**
 * Where rows are read: quick statements on a shared connection, slow ones in lanes. As many slow statements run at the same
 * time as there are `connections`. Each statement has the limit, in milliseconds.
 */
export function openReader(database: Database, limitMs: number) {
  const [sql, connections] = [database.within(limitMs), database.requestConnections];
  const lastArrival: LastArrival = {};
  return { sql, lanes: openLanes(sql, connections, limitMs), connections, limitMs, lastArrival };
}
export type Reader = ReturnType<typeof openReader>;

/** Finds a row: on the shared connection, and again in the lane of the request if the row is too large for that. */
export async function findWhole<Row extends { is_whole: boolean }>(
  { sql, lanes }: Reader,
  find: (sql: LimitedSql, bytesMax?: number) => Promise<Row | undefined>,
  owner: Owner,
  named?: Named,
): Promise<Row | undefined> {
  const row = await find(sql, sharedRowBytesMax);
  return row?.is_whole === false ? find(lanes(owner, named)) : row;
}

/**
 * Runs statements that may take long in the share of an owner: at most a third of the `connections`. Statements of requests
 * that name the same accounts have at most a third of that share. A statement that waits for `limitMs` milliseconds rejects
 * with `StatementTimeout`. If too many wait, statements of the owner that has most of them get a 503.
 */
export function openLanes(sql: LimitedSql, connections: number, limitMs: number) {
  const lane = openLane({
    runningMax: connections,
    waitingMax,
    limitMs,
    // Created once, since an error costs time.
    timeout: new StatementTimeout(limitMs),
    busy: overloaded("too many requests of this caller are in flight; try again later"),
  });
  return (owner: Owner, named?: Named): LimitedSql => {
    const part = JSON.stringify(named ?? null);
    return {
      // A `prepared` statement would share its connection with quick ones.
      query: (text, values, plan) =>
        lane.run(owner, () => sql.query(text, values, plan === "repeated" ? "repeated" : "custom"), part),
      run: (script) => lane.run(owner, () => sql.run(script), part),
      snapshot: (work) => lane.run(owner, () => sql.snapshot(work), part),
    };
  };
}
