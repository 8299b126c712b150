import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { type LimitedSql, StatementTimeout } from "../../database/database.ts";
import { openLanes } from "./lanes.ts";

/** Statements that all do this. */
const sqlOf = (query: (text: string) => Promise<never[]>): LimitedSql => ({
  query,
  run: async () => {},
  snapshot: (work) => work({ query, run: async () => {} }),
});

test("a statement whose turn comes after its limit gives it to the next one", async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const sql = sqlOf(async () => {
    await end;
    return [];
  });
  const limitMs = 20;
  const lane = openLanes(sql, 1, limitMs)("subject a");
  const first = lane.query("select 1");
  const late = expect(lane.query("select 2")).rejects.toThrow(StatementTimeout);
  const start = performance.now();
  while (performance.now() - start <= limitMs); // a busy thread
  const next = lane.query("select 3");
  resolve();
  await Promise.all([first, late, next]);
  await lane.query("select 4");
});

test("as many statements of an account run at a time as may, also after some have ended", async () => {
  let running = 0;
  let most = 0;
  const ends: (() => void)[] = [];
  const sql = sqlOf(async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => ends.push(resolve));
    running -= 1;
    return [];
  });
  const lanes = openLanes(sql, 12, testWaitMaxMs);
  const statements: Promise<unknown>[] = [];
  const begin = () => {
    const lane = lanes("subject a", "57");
    const inSnapshot = statements.length % 2 === 0;
    statements.push(inSnapshot ? lane.snapshot((sql) => sql.query("select 1")) : lane.query("select 1"));
  };
  begin();
  begin();
  for (let count = 0; count < 6; count += 1) {
    await eventually(() => expect(ends.length).toBeGreaterThan(0));
    ends.shift()?.();
    await setImmediate();
    begin();
    begin();
  }
  while (ends.length > 0 || running > 0) {
    ends.shift()?.();
    await setImmediate();
  }
  await Promise.all(statements);
  expect(most).toBe(2);
});

test("lists of accounts that are equal when joined have places of their own", async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const started: string[] = [];
  const sql = sqlOf(async (text) => {
    started.push(text);
    await end;
    return [];
  });
  // A list of accounts has one place of the three of a caller.
  const lanes = openLanes(sql, 9, testWaitMaxMs);
  const lists = [["a,b"], ["a", "b"], ['a","b']];
  const statements = lists.flatMap((accounts) => {
    const lane = lanes("subject a", accounts);
    return [lane.query(JSON.stringify(accounts)), lane.query("waits")];
  });
  await setImmediate();
  expect(started).toEqual(lists.map((accounts) => JSON.stringify(accounts)));
  resolve();
  await Promise.all(statements);
});
