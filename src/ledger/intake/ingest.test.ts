import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { demoEvents } from "../commands/demo-events.ts";
import { type Database, openDatabase } from "../database/database.ts";
import type { NewEvent } from "../tables/event.ts";
import { migrate } from "../tables/migrate.ts";
import { ingest } from "./ingest.ts";
import { readMessage } from "./message.ts";

let database: Database;
beforeAll(async () => {
  database = await openDatabase("pglite:memory");
  await migrate(database);
});
afterAll(() => database[Symbol.asyncDispose]());

const events = demoEvents().map((message) => {
  const read = readMessage(JSON.stringify(message));
  if (read.kind !== "event") throw new Error("the demonstration's events are events");
  return read.event;
});

async function rowsAfter(batches: NewEvent[][]) {
  await database.run("truncate event, transaction, payout, metadata_key");
  for (const batch of batches) await ingest(database, { events: batch, reprojections: [], parked: [] });
  return {
    transactions: await database.query("select * from transaction order by external_id"),
    events: await database.query(
      `select resource_external_id, timestamp, event_type, event_details from event
       order by resource_external_id, timestamp, event_type`,
    ),
  };
}

test("any order, any repetition and any split of the same events end in the same rows", async () => {
  const expected = await rowsAfter([events]);
  expect(expected.transactions).toHaveLength(6);
  const anyWay = fc
    .tuple(
      fc.shuffledSubarray(events, { minLength: events.length }),
      fc.shuffledSubarray(events),
      fc.integer({ min: 1, max: events.length }),
    )
    .map(([all, again, size]) => inBatches([...all, ...again], size));
  await fc.assert(
    fc.asyncProperty(anyWay, async (batches) => {
      expect(await rowsAfter(batches)).toEqual(expected);
    }),
    { numRuns: 30 },
  );
});

test("batches that come side by side end in the same rows", async () => {
  const expected = await rowsAfter([events]);
  await database.run("truncate event, transaction, payout, metadata_key");
  await Promise.all(
    inBatches([...events, ...events], 3).map((batch) =>
      ingest(database, { events: batch, reprojections: [], parked: [] }),
    ),
  );
  expect(await database.query("select * from transaction order by external_id")).toEqual(
    expected.transactions,
  );
});

test("a migration is applied once", async () => {
  await migrate(database);
  expect(await database.query("select name from migration")).toHaveLength(1);
});

const inBatches = <Item>(items: Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
