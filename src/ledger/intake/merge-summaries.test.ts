import { expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { type Database, DatabaseUnavailable } from "../../database/database.ts";
import { openLog } from "../../process/log.ts";
import { readDemoEvents } from "../commands/demo-events.fixture.ts";
import { openLedgerDatabase } from "../tables/ledger-database.fixture.ts";
import { countSummaryChanges, summaryDifferences } from "../tables/summary/upkeep.ts";
import { ingest } from "./ingest.ts";
import { startMergingSummaries } from "./merge-summaries.ts";

const openTestLog = (logged: string[]) => openLog("warn", { write: (line) => logged.push(line) });

test("changes are merged until the merging is disposed", async () => {
  await using database = await openLedgerDatabase();
  await ingest(database, { events: readDemoEvents(), rebuilds: [], deadLetters: [] });
  expect(await countSummaryChanges(database, 100)).toBeGreaterThan(0);
  const logged: string[] = [];
  {
    await using _merging = startMergingSummaries(database, openTestLog(logged), { idleMs: 10, min: 1 });
    await eventually(async () => expect(await countSummaryChanges(database, 100)).toBe(0));
    expect(await summaryDifferences(database, 10)).toEqual([]);
  }
  await database.run("delete from transaction where external_id = 'demo-success'");
  expect(await countSummaryChanges(database, 100)).toBe(1);
  expect(logged).toEqual([]);
});

test("a failure is logged once, and merging goes on after it", async () => {
  const logged: string[] = [];
  let calls = 0;
  const failing = {
    async query() {
      calls += 1;
      if (calls < 3) throw new DatabaseUnavailable(new Error("it is away"));
      return [{ merged: 0 }];
    },
  } as unknown as Database;
  await using _merging = startMergingSummaries(failing, openTestLog(logged), { idleMs: 10 });
  await eventually(async () => expect(calls).toBeGreaterThan(3));
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain("changes of summaries could not be merged");
});
