import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readDemoEvents } from "../commands/demo-events.fixture.ts";
import type { Database } from "../database/database.ts";
import { openNewDatabase } from "../database/new-database.fixture.ts";
import { family } from "../projection/events.fixture.ts";
import type { NewEvent } from "../tables/event.ts";
import { migrate } from "../tables/migrate.ts";
import { type Batch, ingest } from "./ingest.ts";

let database: Database;
beforeAll(async () => {
  database = await openNewDatabase();
  await migrate(database);
});
afterAll(() => database[Symbol.asyncDispose]());

const events = readDemoEvents();

/** All that is kept, but for the numbers, which tell in which order events arrived. */
async function rowsAfter(batches: NewEvent[][], ingestAll = oneAfterAnother) {
  await database.run("truncate event, transaction, payout, metadata_key");
  await ingestAll(batches.map((batch) => ({ events: batch, reprojections: [], parked: [] })));
  return {
    transactions: await database.query(
      `select to_jsonb(transaction) - 'first_event_id' as row from transaction order by external_id`,
    ),
    firstArrived: await database.query(
      `select external_id from transaction where first_event_id <> (
         select min(id) from event
         where resource_external_id = external_id and resource_type in ('payment', 'refund', 'dispute'))`,
    ),
    payouts: await database.query("select * from payout order by gateway_payout_id"),
    metadataKeys: await database.query("select * from metadata_key order by gateway_account_id, key"),
    events: await database.query(
      `select resource_external_id, timestamp, event_type, event_details from event
       order by resource_external_id, timestamp, event_type`,
    ),
  };
}

async function oneAfterAnother(batches: Batch[]): Promise<void> {
  for (const batch of batches) await ingest(database, batch);
}

async function sideBySide(batches: Batch[]): Promise<void> {
  await Promise.all(batches.map((batch) => ingest(database, batch)));
}

/** The same events in batches of any size, shuffled, some of them twice. */
const anyWay = (events: NewEvent[]) =>
  fc
    .tuple(
      fc.shuffledSubarray(events, { minLength: events.length }),
      fc.shuffledSubarray(events),
      fc.integer({ min: 1, max: Math.max(events.length, 1) }),
    )
    .map(([all, again, size]) => inBatches([...all, ...again], size));

test("any order, any repetition and any split of the demonstration's events end in the same rows", async () => {
  const expected = await rowsAfter([events]);
  expect(expected).toMatchObject({ firstArrived: [], payouts: [{ state: "PAID_OUT" }] });
  expect(expected.transactions).toHaveLength(6);
  await fc.assert(
    fc.asyncProperty(anyWay(events), async (batches) => {
      expect(await rowsAfter(batches)).toEqual(expected);
    }),
    { numRuns: 15 },
  );
});

test("and so of any events", async () => {
  const eachWay = family
    .map((all) => all.map(({ id: _, ...event }): NewEvent => event))
    .chain((all) => fc.tuple(fc.constant(all), anyWay(all)));
  await fc.assert(
    fc.asyncProperty(eachWay, async ([all, batches]) => {
      const expected = await rowsAfter([all]);
      expect(await rowsAfter(batches)).toEqual(expected);
    }),
    { numRuns: 100 },
  );
});

test("batches that come side by side end in the same rows", async () => {
  const expected = await rowsAfter([events]);
  expect(await rowsAfter(inBatches([...events, ...events], 3), sideBySide)).toEqual(expected);
});

const inBatches = <Item>(items: Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
