import { unavailable } from "../../http/http-error.ts";
import { withTimeout } from "../../process/with-timeout.ts";
import { type Sql, StatementTimeout } from "../database/database.ts";

/** Maximum number of statements of one lane that wait. */
const waitingMax = 100;

/** The limit of bytes of a page of rows. */
export const pageBytesMax = 2 * 2 ** 20;
/** A row of up to this many bytes is read on a shared connection; a larger one would delay those behind it. */
export const quickBytesMax = 2 ** 16;

/** Runs statements that may take long, in the lane of the first of these accounts. Undefined is the lane of all accounts. */
export type Lanes = (accounts: string | string[] | undefined) => Sql;

interface Lane {
  running: number;
  waiting: (() => void)[];
}

/**
 * Divides the connections for slow statements: those of one account wait for each other, in a lane of their own, so that
 * they do not delay those of another. A statement that waits for `limitMs` milliseconds rejects with `StatementTimeout`;
 * one that finds too many waiting gets a 503.
 */
export function openLanes(sql: Sql, connections: number, limitMs: number): Lanes {
  // The other connections are for other lanes.
  const runningMax = Math.ceil(connections / 3);
  const lanes = new Map<string, Lane>();
  // Created once, since an error costs time.
  const timeout = new StatementTimeout(limitMs);

  async function enter(name: string, lane: Lane): Promise<void> {
    if (lane.running < runningMax) {
      lane.running += 1;
      return;
    }
    if (lane.waiting.length >= waitingMax) {
      throw unavailable("too many requests of this account are in flight; try again later");
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    lane.waiting.push(resolve);
    await withTimeout(promise, limitMs, timeout).catch((error) => {
      const place = lane.waiting.indexOf(resolve);
      // Its turn may have come too late, while this thread was busy: then the next one gets it.
      if (place === -1) leave(name, lane);
      else lane.waiting.splice(place, 1);
      throw error;
    });
  }

  function leave(name: string, lane: Lane): void {
    const next = lane.waiting.shift();
    if (next) {
      next();
      return;
    }
    lane.running -= 1;
    if (lane.running === 0) lanes.delete(name);
  }

  return (accounts) => {
    const name = JSON.stringify([accounts].flat()[0] ?? null);
    async function run<Result>(work: () => Promise<Result>): Promise<Result> {
      const lane = lanes.get(name) ?? { running: 0, waiting: [] };
      lanes.set(name, lane);
      await enter(name, lane);
      try {
        return await work();
      } finally {
        leave(name, lane);
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
