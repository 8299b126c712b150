import fc from "fast-check";
import { expect, test } from "vitest";
import { compareNewestFirst } from "../projection/history.ts";
import { stateEventTypes } from "../projection/states.ts";
import {
  type EventRow,
  eventsInPieces,
  type NewEvent,
  resourcesOf,
  saveEvents,
  transactionTypes,
} from "./event.ts";
import { type EventPosition, listEvents, listShortHistory } from "./event-list.ts";
import { ledgerDatabaseOfFile } from "./ledger-database.fixture.ts";

const database = await ledgerDatabaseOfFile();

const ids = ["parent", "child", "other-child"];
const event: fc.Arbitrary<NewEvent> = fc.record({
  resource_type: fc.constantFrom("payment", "refund", "dispute"),
  resource_external_id: fc.constantFrom(...ids),
  parent_resource_external_id: fc.constant(null),
  timestamp: fc.integer({ min: 1, max: 4 }).map((second) => `2024-01-01T00:00:0${second}.000000Z`),
  event_type: fc.constantFrom(...stateEventTypes.slice(0, 6), "B", "a", "Ä"),
  service_id: fc.constant(null),
  live: fc.constant(null),
  event_details: fc.integer({ min: 0, max: 60 }).map((length) => ({ reference: "x".repeat(length) })),
});

/** Stores the events in empty tables, with their transactions, which have an amount. */
async function store(events: NewEvent[]): Promise<EventRow[]> {
  await database.run("delete from event; delete from transaction");
  const saved = await saveEvents(database, events);
  await database.run(
    `insert into transaction (external_id, parent_external_id, gateway_account_id, transaction_type, state, created_date,
                              event_count, first_event_id, details)
     select resource_external_id, nullif('parent', resource_external_id), '57', 'PAYMENT', 'UNDEFINED', now(), count(*), 1,
            jsonb_build_object('amount', length(resource_external_id))
     from event group by resource_external_id`,
  );
  return saved;
}

const name = ({ resource_external_id, resource_type, timestamp, event_type }: EventPosition) =>
  [timestamp, event_type, resource_type, resource_external_id].join(" ");

test("pages of any count and size have all events in their order, also when read quickly", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 40 }),
      fc.integer({ min: 1, max: 12 }),
      fc.oneof(fc.integer({ min: 1, max: 3000 }), fc.constant(1e6)),
      async (events, countMax, bytesMax) => {
        const stored = (await store(events)).sort(compareNewestFirst).reverse().map(name);
        const listed: string[] = [];
        let after: EventPosition | undefined;
        for (let isLast = false; !isLast; ) {
          const limits = { after, countMax, bytesMax };
          const page = await listEvents(
            database,
            resourcesOf(transactionTypes, ids),
            stateEventTypes,
            limits,
          );
          listed.push(...page.events.map(name));
          isLast = page.isLast;
          after = page.events.at(-1);
        }
        expect(listed).toEqual(stored);
        const quick = await listShortHistory(database, "parent", "57");
        const hasOwn = events.some(({ resource_external_id }) => resource_external_id === "parent");
        expect(quick?.events.map(name).sort()).toEqual(hasOwn ? stored.sort() : undefined);
        for (const { external_id, details } of quick?.family ?? [])
          expect(details.amount).toBe(external_id.length);
      },
    ),
    { numRuns: 60 },
  );
});

test("many or large events, large details and events of another account are not read quickly", async () => {
  const first = fc.sample(event, { numRuns: 1, seed: 1 })[0] as NewEvent;
  const at = (index: number, timestamp: string): NewEvent => ({
    ...first,
    resource_external_id: "parent",
    timestamp,
    event_type: `E${index}`,
  });
  const read = (account = "57") => listShortHistory(database, "parent", account);
  const many = Array.from({ length: 51 }, (_, index) => at(index, "2024-01-02T00:00:00.000000Z"));
  await store(many);
  expect(await read()).toBeUndefined();
  await store(many.slice(1));
  expect((await read())?.events).toHaveLength(50);

  const one = at(0, "2024-01-02T00:00:00.000000Z");
  await store([one]);
  expect((await read())?.events).toHaveLength(1);
  expect(await read("58")).toBeUndefined();
  await database.run(
    "update transaction set details = jsonb_build_object('text', (select string_agg(md5(n::text), '') from generate_series(1, 1000) as n))",
  );
  expect(await read()).toBeUndefined();

  await store([{ ...one, event_details: { reference: "x".repeat(5000) } }]);
  expect(await read()).toBeUndefined();
});

test("a history that became long is read in few rows, although the table was tiny until now", async () => {
  await store([]);
  const read = await database.transaction(async (sql) => {
    const insert = (id: string, count: number) =>
      sql.query(
        `insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
         select 'payment', $1, timestamptz '2024-01-01Z' + n * interval '1 second', 'DETAILS', '{}'
         from generate_series(1, $2::integer) as n`,
        [id, count],
      );
    async function read(id: string, expected: number): Promise<void> {
      let count = 0;
      for await (const piece of eventsInPieces(sql, ["payment"], [id])) count += piece.length;
      expect(count).toBe(expected);
    }
    const rowsRead = async () => {
      const [row] = await sql.query<{ count: bigint }>(
        `select seq_tup_read + coalesce(idx_tup_fetch, 0) as count from pg_stat_xact_user_tables where relname = 'event'`,
      );
      return Number(row?.count);
    };
    await insert("short", 3);
    await sql.run("analyze event");
    // Engines keep the plan of a prepared statement from its sixth execution on.
    for (let execution = 0; execution < 8; execution += 1) await read("short", 3);
    await insert("long", 5000);
    const before = await rowsRead();
    await read("long", 5000);
    return (await rowsRead()) - before;
  });
  expect(read).toBeGreaterThanOrEqual(5000);
  // Some plans read the table once for a part of the pieces; a plan for a tiny table reads it for each.
  expect(read).toBeLessThan(10 * 5000);
});
