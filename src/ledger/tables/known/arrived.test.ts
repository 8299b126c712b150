import { expect, test } from "vitest";
import type { Sql } from "../../../database/database.ts";
import { ingest } from "../../intake/ingest.ts";
import { event, feedIsComplete } from "../feed/feed.fixture.ts";
import { ledgerDatabaseOfFile, openLedgerDatabase } from "../ledger-database.fixture.ts";
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

test("what has arrived is found again after an event, and not after another write", async () => {
  await using own = await openLedgerDatabase();
  await ingest(own, { events: [event("p1", 1)], rebuilds: [], deadLetters: [] });
  await feedIsComplete(own);
  await own.run(`
    create sequence calls;
    alter function arrived_events() rename to found_events;
    create function arrived_events() returns text volatile language sql as
      'select case when nextval(''calls'') > 0 then found_events() end'`);
  const last: LastArrival = {};
  const calls = async () => {
    const { arrived } = await query(own, last, "select id from event");
    const [row] = await own.query<{ count: bigint }>("select last_value as count from calls");
    return [arrived, Number(row?.count)];
  };
  const [first] = await calls();
  for (let write = 0; write < 3; write += 1) {
    await own.run(
      "insert into metadata_key (gateway_account_id, key) values ('57', gen_random_uuid()::text)",
    );
    expect(await calls()).toEqual([first, 1]);
  }
  await ingest(own, { events: [event("p1", 2)], rebuilds: [], deadLetters: [] });
  const [second, count] = await calls();
  expect(second).not.toEqual(first);
  expect(count).toBe(2);
});
