import { expect, test } from "vitest";
import type { Sql } from "../../../database/database.ts";
import { ingest } from "../../intake/ingest.ts";
import { event } from "../feed/feed.fixture.ts";
import { ledgerDatabaseOfFile } from "../ledger-database.fixture.ts";
import { type LastArrival, notingArrived } from "./arrived.ts";

const database = await ledgerDatabaseOfFile();

/** The rows of a statement, and what has been noted for it. */
async function query(sql: Sql, last: LastArrival, text: string) {
  const arrived = new Set<string>();
  const rows = await notingArrived(sql, arrived, last).query<{ id: bigint }>(text);
  return { rows, arrived: [...arrived] };
}

test("a statement notes what had arrived for it, whether the snapshot is the last one or another", async () => {
  const last: LastArrival = {};
  for (let count = 0; count < 3; count += 1) {
    for (let time = 0; time < 3; time += 1) {
      const { rows, arrived } = await query(database, last, "select id from event order by id");
      expect(rows).toHaveLength(count);
      expect(rows.every((row) => Object.keys(row).join() === "id")).toBe(true);
      expect(arrived).toEqual([expect.stringMatching(`^${rows.at(-1)?.id ?? 0}:`)]);
      expect((await query(database, last, "select id from event where id < 0")).arrived).toEqual([
        expect.stringMatching(`^${rows.at(-1)?.id ?? 0}:`),
      ]);
    }
    await ingest(database, { events: [event("p1", count)], rebuilds: [], deadLetters: [] });
  }
});

test("what has arrived is found once for a statement, and not in the last snapshot", async () => {
  const rolledBack = new Error("rolled back");
  const work = database.transaction(async (sql) => {
    // Every statement has the same snapshot, whatever others commit meanwhile.
    await sql.run(`set transaction isolation level repeatable read;
      create sequence calls;
      create or replace function arrived_events() returns text stable language sql as 'select nextval(''calls'')::text'`);
    const last: LastArrival = {};
    for (let time = 0; time < 2; time += 1) {
      const { rows, arrived } = await query(sql, last, "select n as id from generate_series(1, 100) as n");
      expect([rows.length, arrived]).toEqual([100, ["1"]]);
    }
    expect(await sql.query("select last_value from calls")).toEqual([{ last_value: 1n }]);
    throw rolledBack;
  });
  await expect(work).rejects.toBe(rolledBack);
});
