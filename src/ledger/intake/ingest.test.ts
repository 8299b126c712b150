import fc from "fast-check";
import { expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import type { Database, Sql } from "../../database/database.ts";
import { readDemoEvents } from "../commands/demo-events.fixture.ts";
import { arbitraryEvents, relatedEvents } from "../projection/events.fixture.ts";
import { stateEventTypes } from "../projection/states.ts";
import { type NewEvent, resourcesOf, saveEvents, transactionTypes } from "../tables/event.ts";
import { listEvents, listShortHistory } from "../tables/event-list.ts";
import { event } from "../tables/feed/feed.fixture.ts";
import { ledgerDatabaseOfFile } from "../tables/ledger-database.fixture.ts";
import { lockResources } from "../tables/lock.ts";
import { findTransaction } from "../tables/reported-transaction.ts";
import { countingSql, rowsReadDuring } from "../tables/rows-read.fixture.ts";
import { savedRows } from "../tables/saved-rows.fixture.ts";
import { type Batch, ingest } from "./ingest.ts";
import { verify } from "./verify.ts";

const database = await ledgerDatabaseOfFile();

const events = readDemoEvents();

/**
 * Ingests the batches into empty tables. Returns all rows, and the transactions and agreements whose `first_event_id` is not
 * the event that arrived first.
 */
async function rowsAfter(batches: NewEvent[][], ingestAll = sequentially) {
  const tables = ["event", "transaction", "payout", "agreement", "payment_instrument", "metadata_key"];
  await database.run(tables.map((table) => `delete from ${table};`).join(""));
  await ingestAll(batches.map((batch) => ({ events: batch, rebuilds: [], deadLetters: [] })));
  return {
    ...(await savedRows(database)),
    firstArrived: await database.query(
      `select external_id from transaction where first_event_id <> (
         select min(id) from event
         where resource_external_id = external_id and resource_type in ('payment', 'refund', 'dispute'))
       union all
       select external_id from agreement where first_event_id <> (
         select min(id) from event where resource_external_id = external_id and resource_type = 'agreement')`,
    ),
  };
}

async function sequentially(batches: Batch[]): Promise<void> {
  for (const batch of batches) await ingest(database, batch);
}

async function concurrently(batches: Batch[]): Promise<void> {
  await Promise.all(batches.map((batch) => ingest(database, batch)));
}

/** The same events, shuffled, in batches of any size and with duplicates. */
const anyBatches = (events: NewEvent[]) =>
  fc
    .tuple(
      fc.shuffledSubarray(events, { minLength: events.length }),
      fc.shuffledSubarray(events),
      fc.integer({ min: 1, max: Math.max(events.length, 1) }),
    )
    .map(([all, again, size]) => inBatches([...all, ...again], size));

const anyEvents = fc
  .oneof(relatedEvents, arbitraryEvents)
  .map((all) => all.map(({ id: _, ...event }): NewEvent => event));

/** Ingests as the previous release does: it does not read the column `folded` and keeps its values. */
async function ingestAsPreviousRelease(batch: Batch): Promise<void> {
  const before = await database.query("select external_id as id, folded from transaction");
  const payoutsBefore = await database.query("select gateway_payout_id as id, folded from payout");
  await database.run("update transaction set folded = null; update payout set folded = null");
  await ingest(database, batch);
  const restore = (table: string, key: string) =>
    `update ${table} set folded = nullif(was.folded, 'null') from (
       select ${key} as id, wanted.folded from ${table}
       left join jsonb_to_recordset($1::jsonb) as wanted (id text, folded jsonb) on wanted.id = ${key}
     ) as was where was.id = ${key}`;
  await database.query(restore("transaction", "external_id"), [JSON.stringify(before)]);
  await database.query(restore("payout", "gateway_payout_id"), [JSON.stringify(payoutsBefore)]);
}

const withoutFolded = (rows: Awaited<ReturnType<typeof rowsAfter>>) =>
  JSON.parse(
    JSON.stringify(rows, (name, value) =>
      name === "folded" || typeof value === "bigint" ? undefined : value,
    ),
  );

test("any events give the same rows in any order and in any batches, also if two releases fold them in turn", async () => {
  const cases = anyEvents.chain((all) =>
    fc.tuple(fc.constant(all), anyBatches(all), fc.infiniteStream(fc.boolean())),
  );
  await fc.assert(
    fc.asyncProperty(cases, async ([all, batches, turns]) => {
      const expected = await rowsAfter([all]);
      expect(await rowsAfter(batches)).toEqual(expected);
      const inTurn = await rowsAfter(batches, async (batches) => {
        for (const batch of batches) {
          if (turns.next().value) await ingest(database, batch);
          else await ingestAsPreviousRelease(batch);
        }
      });
      expect(withoutFolded(inTurn)).toEqual(withoutFolded(expected));
      expect(await verify(database, [...new Set(all.map((event) => event.resource_external_id))])).toEqual(
        [],
      );
    }),
    { numRuns: 30 },
  );
});

test("verification finds a row whose fold state differs from its events", async () => {
  await rowsAfter([events]);
  await database.run(
    `update transaction set folded = jsonb_set(folded, '{origins,0}', '"2024-03-05T00:00:00.000000Z payment PAYMENT_CREATED"')
     where external_id = 'demo-success'`,
  );
  expect(await verify(database, ["demo-success", "demo-refund"])).toEqual([
    "transaction demo-success: folded",
  ]);
});

test("verification finds outlines that differ, and a rebuild writes them", async () => {
  await rowsAfter([events]);
  await database.run(`
    update transaction_outline set state = 'ERROR' where external_id = 'demo-success';
    delete from transaction_outline where external_id = 'demo-refund';
    insert into transaction_outline values ('demo-unknown', '57', 'PAYMENT', 'CREATED', now(), 1)`);
  const ids = ["demo-success", "demo-refund", "demo-unknown"];
  expect((await verify(database, ids)).sort()).toEqual(
    ids.map((id) => `outline of transaction ${id}: differs from the transaction`).sort(),
  );
  const rebuild = () => ingest(database, { events: [], rebuilds: ids, deadLetters: [] });
  expect(await rebuild()).toMatchObject({ changedRows: 3 });
  expect(await verify(database, ids)).toEqual([]);
  expect(await rebuild()).toMatchObject({ changedRows: 0 });
});

/** Ingests the events in one batch. Resolves with the number of rows that its statements return. */
async function rowsReadBy(events: NewEvent[]): Promise<number> {
  const counts = { statements: 0, rows: 0 };
  const counting: Database = {
    ...database,
    transaction: (work) => database.transaction((sql) => work(countingSql(sql, counts))),
  };
  await ingest(counting, { events, rebuilds: [], deadLetters: [] });
  return counts.rows;
}

/** Events of one payment in order, a second apart. */
const hotPayment = (count: number): NewEvent[] =>
  Array.from({ length: count }, (_, second) =>
    event("hot", 0, {
      timestamp: new Date(Date.UTC(2024, 2, 5) + 1000 * second).toISOString().replace("Z", "000Z"),
      event_type: second === 0 ? "PAYMENT_CREATED" : "FEE_INCURRED",
      event_details: {
        gateway_account_id: "57",
        reference: "LIC-88",
        fee: second,
        external_metadata: { [`key${second % 3}`]: second },
      },
    }),
  );

test("the rows that a batch reads do not grow with the events of its payment, nor with their delay", async () => {
  const inOrder = inBatches(hotPayment(300), 20);
  for (const batches of [inOrder, inOrder.toReversed()]) {
    await rowsAfter([]);
    const read: number[] = [];
    for (const batch of batches) read.push(await rowsReadBy(batch));
    // 20 new events, the lock, the row and its relations.
    expect(Math.max(...read)).toBe(23);
    if (batches === inOrder) expect(new Set(read.slice(1))).toEqual(new Set([23]));
  }
});

test("the rows that a batch reads do not grow with the refunds of its payment if these show the same details", async () => {
  const refunds = Array.from({ length: 100 }, (_, index) => ({
    ...(hotPayment(1)[0] as NewEvent),
    resource_type: "refund" as const,
    resource_external_id: `refund${index}`,
    parent_resource_external_id: "hot",
    event_type: "REFUND_SUBMITTED",
  }));
  const [created, ...others] = hotPayment(5) as [NewEvent, ...NewEvent[]];
  await rowsAfter([[created, ...refunds]]);
  const versions = () =>
    database.query("select external_id, xmin::text from transaction where external_id <> 'hot' order by 1");
  const before = await versions();
  expect(await rowsReadBy(others.slice(0, 3))).toBe(3 + 3);
  expect(await versions()).toEqual(before);
  const renamed = { ...(others[3] as NewEvent), event_details: { reference: "renamed" } };
  expect(await rowsReadBy([renamed])).toBe(1 + 3 + 100);
  expect(
    await database.query("select distinct reference from transaction where transaction_type = 'REFUND'"),
  ).toEqual([{ reference: "renamed" }]);
});

/** `count` events of one resource, a second apart. */
const eventsOf = (resource_type: NewEvent["resource_type"], id: string, count: number): NewEvent[] =>
  Array.from({ length: count }, (_, second) =>
    event(id, second, {
      resource_type,
      event_type: second === 0 ? "PAYOUT_CREATED" : "PAYOUT_PAID",
      event_details: { gateway_account_id: "57", [`second${second}`]: true },
    }),
  );

const payoutsAndServices = Array.from({ length: 30 }, (_, index) => [
  ...eventsOf("payout", `payout${index}`, 4),
  ...eventsOf("service", `service${index}`, 2),
]).flat();
const quarters = [0, 1, 2, 3].map((part) => payoutsAndServices.filter((_, index) => index % 4 === part));

test.each([
  ["of the demonstration", events, inBatches([...events, ...events], 3)],
  [
    "of payouts and services in opposite orders",
    payoutsAndServices,
    [...quarters, ...quarters.map((batch) => batch.toReversed())],
  ],
])("concurrent batches %s give the same rows", async (_title, all, batches) => {
  const expected = await rowsAfter([all]);
  for (let round = 0; round < 3; round++) expect(await rowsAfter(batches, concurrently)).toEqual(expected);
});

test.runIf(process.env.TEST_DATABASE === "postgres")(
  "a parent that another receiver stores while the child is locked is locked, too",
  async () => {
    const child = { ...eventsOf("refund", "child", 1)[0], event_type: "REFUND_CREATED_BY_USER" } as NewEvent;
    const later = { ...child, event_type: "REFUND_SUBMITTED", timestamp: "2024-03-05T10:00:00.000000Z" };
    const payment = eventsOf("payment", "payment", 1)[0] as NewEvent;
    payment.event_details = { gateway_account_id: "57", reference: "of the payment" };
    await rowsAfter([[payment]]);
    const { blocked } = await database.transaction(async (sql) => {
      await lockResources(sql, ["child"]);
      const blocked = ingest(database, { events: [later], rebuilds: [], deadLetters: [] });
      await eventually(async () =>
        expect(
          await sql.query(
            "select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))",
          ),
        ).toHaveLength(1),
      );
      await saveEvents(sql, [{ ...child, parent_resource_external_id: "payment" }]);
      return { blocked };
    });
    await blocked;
    expect(
      await database.query(
        "select reference, parent_external_id from transaction where external_id = 'child'",
      ),
    ).toEqual([{ reference: "of the payment", parent_external_id: "payment" }]);
  },
);

function inBatches<Item>(items: Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** Stores a payment with this many events, one in each second. */
async function storeHistory(id: string, count: number): Promise<void> {
  await database.within(testWaitMaxMs).query(
    `insert into event (resource_type, resource_external_id, timestamp, event_type, event_details, size)
     select 'payment', $1, timestamptz '2024-01-01Z' + n * interval '1 second', 'DETAILS',
            jsonb_build_object('gateway_account_id', '57', 'amount', n, 'reference', 'R' || n), 60
     from generate_series(1, $2::integer) as n`,
    [id, count],
  );
  await ingest(database, { events: [], rebuilds: [id], deadLetters: [] });
}

test("what is done with a payment of 5,000 events reads at most twice as many rows as with one of 100", async () => {
  const lengths = { short: 100, long: 5000 };
  await rowsAfter([]);
  for (const [id, count] of Object.entries(lengths)) await storeHistory(id, count);
  await database.run("analyze event");
  const at = (seconds: number) => new Date(Date.UTC(2024, 0, 1) + 1000 * seconds).toISOString();
  const details = { event_type: "DETAILS", resource_type: "payment" as const };
  const add = (sql: Sql, id: string, timestamp: string) => {
    const added = event(id, 0, { ...details, timestamp, event_details: { gateway_account_id: "57" } });
    const inTransaction: Database = { ...database, transaction: (work) => work(sql) };
    return ingest(inTransaction, { events: [added], rebuilds: [], deadLetters: [] });
  };
  const list = (sql: Sql, id: string, after?: number) =>
    listEvents(sql, resourcesOf(transactionTypes, [id]), stateEventTypes, {
      countMax: 50,
      bytesMax: 1e6,
      ...(after && { after: { ...details, resource_external_id: id, timestamp: at(after) } }),
    });
  const works: Record<string, (sql: Sql, id: keyof typeof lengths) => Promise<unknown>> = {
    "add an event": (sql, id) => add(sql, id, at(200_000)),
    "add a late event": (sql, id) => add(sql, id, at(-1)),
    "find the transaction": (sql, id) => findTransaction(sql, { external_id: id }),
    "list the first events": (sql, id) => list(sql, id),
    "list events from the middle": (sql, id) => list(sql, id, lengths[id] / 2),
    "try to list them quickly": (sql, id) => listShortHistory(sql, id, "57"),
  };
  for (const [name, work] of Object.entries(works)) {
    const readWith = (id: keyof typeof lengths) =>
      database.transaction(async (sql) => {
        // As in a table with more rows of others.
        await sql.run("set local enable_seqscan = off");
        return rowsReadDuring(sql, (measured) => work(measured, id));
      });
    const short = await readWith("short");
    expect(short, name).toBeGreaterThan(0);
    expect(await readWith("long"), name).toBeLessThanOrEqual(2 * short);
  }
});
