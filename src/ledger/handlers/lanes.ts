import { type Sql, StatementTimeout } from "../../database/database.ts";
import { type Lane, type LaneLimits, openLane } from "../../http/lane.ts";

/** Maximum number of statements of one lane that wait. */
const waitingMax = 100;

/** The limit of bytes of a page of rows. */
export const pageBytesMax = 2 * 2 ** 20;
/** A row of up to this many bytes is read on a shared connection; a larger one would delay those behind it. */
export const quickBytesMax = 2 ** 16;

/** Runs statements that may take long, in the lane of the first of these accounts. Undefined is the lane of all accounts. */
export type Lanes = (accounts: string | string[] | undefined) => Sql;

/**
 * Divides the connections for slow statements: those of one account wait for each other, in a lane of their own, so that
 * they do not delay those of another. A lane runs `runningMax` statements at the same time. A statement that waits for
 * `limitMs` milliseconds rejects with `StatementTimeout`; one that finds too many waiting gets a 503.
 */
export function openLanes(sql: Sql, runningMax: number, limitMs: number): Lanes {
  const limits: LaneLimits = {
    runningMax,
    waitingMax,
    limitMs,
    // Created once, since an error costs time.
    timeout: new StatementTimeout(limitMs),
    busy: "too many requests of this account are in flight",
  };
  const lanes = new Map<string, Lane>();

  return (accounts) => {
    const name = JSON.stringify([accounts].flat()[0] ?? null);
    async function run<Result>(work: () => Promise<Result>): Promise<Result> {
      const lane = lanes.get(name) ?? openLane(limits);
      lanes.set(name, lane);
      try {
        return await lane.run(work);
      } finally {
        if (lane.isIdle()) lanes.delete(name);
      }
    }
    return {
      // A `prepared` statement would share its connection with quick ones.
      query: (text, values, plan) =>
        run(() => sql.query(text, values, plan === "repeated" ? "repeated" : "custom")),
      run: (script) => run(() => sql.run(script)),
    };
  };
}
