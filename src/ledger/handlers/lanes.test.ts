import { expect, test } from "vitest";
import { StatementTimeout } from "../../database/database.ts";
import { openLanes } from "./lanes.ts";

test("a statement whose turn comes after its limit gives it to the next one", async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const sql = {
    query: async () => {
      await end;
      return [];
    },
    run: async () => {},
  };
  const limitMs = 20;
  const lane = openLanes(sql, 1, limitMs)("57");
  const first = lane.query("select 1");
  const late = expect(lane.query("select 2")).rejects.toThrow(StatementTimeout);
  const start = performance.now();
  while (performance.now() - start <= limitMs); // a busy thread
  const next = lane.query("select 3");
  resolve();
  await Promise.all([first, late, next]);
  await lane.query("select 4");
});
