import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../../service/eventually.fixture.ts";
import { readDemoEvents } from "../commands/demo-events.fixture.ts";
import type { Database } from "../database/database.ts";
import { openNewDatabase } from "../database/new-database.fixture.ts";
import { family } from "../projection/events.fixture.ts";
import { type NewEvent, saveEvents } from "../tables/event.ts";
import { keptRows } from "../tables/kept-rows.fixture.ts";
import { migrate } from "../tables/migrate.ts";
import { lockTransactions } from "../tables/transaction.ts";
import { type Batch, ingest } from "./ingest.ts";

let database: Database;
beforeAll(async () => {
  database = await openNewDatabase();
  await migrate(database);
});
afterAll(() => database[Symbol.asyncDispose]());

const events = readDemoEvents();

/** All that is kept, and the transactions whose first event is not the one that arrived first. */
async function rowsAfter(batches: NewEvent[][], ingestAll = oneAfterAnother) {
  await database.run("truncate event, transaction, payout, metadata_key");
  await ingestAll(batches.map((batch) => ({ events: batch, reprojections: [], parked: [] })));
  return {
    ...(await keptRows(database)),
    firstArrived: await database.query(
      `select external_id from transaction where first_event_id <> (
         select min(id) from event
         where resource_external_id = external_id and resource_type in ('payment', 'refund', 'dispute'))`,
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

/** `count` events of one resource, a minute apart. */
const eventsOf = (resource_type: NewEvent["resource_type"], id: string, count: number): NewEvent[] =>
  Array.from({ length: count }, (_, minute) => ({
    resource_type,
    resource_external_id: id,
    parent_resource_external_id: null,
    timestamp: `2024-03-05T09:${String(minute).padStart(2, "0")}:00.000000Z`,
    event_type: minute === 0 ? "PAYOUT_CREATED" : "PAYOUT_PAID",
    service_id: null,
    live: null,
    event_details: { gateway_account_id: "57", [`minute${minute}`]: true },
  }));

test("so do those of payouts, and of what moves nothing, in opposite orders", async () => {
  const all = Array.from({ length: 30 }, (_, index) => [
    ...eventsOf("payout", `payout${index}`, 4),
    ...eventsOf("service", `service${index}`, 2),
  ]).flat();
  const expected = await rowsAfter([all]);
  for (let round = 0; round < 5; round++) {
    const quarters = [0, 1, 2, 3].map((part) => all.filter((_, index) => index % 4 === part));
    const batches = [...quarters, ...quarters.map((batch) => batch.toReversed())];
    expect(await rowsAfter(batches, sideBySide)).toEqual(expected);
  }
});

test.runIf(process.env.TEST_DATABASE === "postgres")(
  "a parent that becomes known while a receiver waits for the child is held, too",
  async () => {
    const child = { ...eventsOf("refund", "child", 1)[0], event_type: "REFUND_CREATED_BY_USER" } as NewEvent;
    const later = { ...child, event_type: "REFUND_SUBMITTED", timestamp: "2024-03-05T10:00:00.000000Z" };
    const payment = eventsOf("payment", "payment", 1)[0] as NewEvent;
    payment.event_details = { gateway_account_id: "57", reference: "of the payment" };
    await rowsAfter([[payment]]);
    const waiting = await database.transaction(async (sql) => {
      await lockTransactions(sql, ["child"]);
      const behind = ingest(database, { events: [later], reprojections: [], parked: [] });
      await eventually(async () =>
        expect(await sql.query("select from pg_locks where not granted")).toHaveLength(1),
      );
      await saveEvents(sql, [{ ...child, parent_resource_external_id: "payment" }]);
      return { behind };
    });
    await waiting.behind;
    expect(
      await database.query(
        "select reference, parent_external_id from transaction where external_id = 'child'",
      ),
    ).toEqual([{ reference: "of the payment", parent_external_id: "payment" }]);
  },
);

const inBatches = <Item>(items: Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
