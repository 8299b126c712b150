import { beforeEach, expect, test } from "vitest";
import type { Sql } from "../../../database/database.ts";
import { saveEvents } from "../event.ts";
import { ledgerDatabaseOfFile } from "../ledger-database.fixture.ts";
import { rowsReadDuring } from "../rows-read.fixture.ts";
import {
  arrangeDeferred,
  type DeferredDelivery,
  deferDeliveries,
  dueDeliveries,
  releaseDeferred,
  removeDeferred,
  resourcesWithDeferred,
} from "./deferred-delivery.ts";
import { event as eventAt } from "./feed.fixture.ts";
import { publicationStates } from "./publication.ts";

const database = await ledgerDatabaseOfFile();
beforeEach(() => database.run("truncate event, event_feed, publication, deferred_delivery"));

const limits = { resourcesMax: 50, eventsMax: 50, bytesMax: 2 ** 20 };
const dueIds = async (except: DeferredDelivery[] = [], some: Partial<typeof limits> = {}) =>
  (await dueDeliveries(database, "t", except, { ...limits, ...some })).map(
    ({ resource_external_id, timestamp }) => `${resource_external_id} ${Number(timestamp.slice(17, 19))}`,
  );

/** Stores events of these resources, in order, and defers them. */
async function defer(resources: string, of: (index: number) => Partial<DeferredDelivery>) {
  const events = await database.transaction((sql) =>
    saveEvents(
      sql,
      [...resources].map((id, second) => eventAt(id, second)),
    ),
  );
  const inOrder = events.toSorted((one, other) => (one.timestamp < other.timestamp ? -1 : 1));
  const [{ sql_transaction } = { sql_transaction: 0n }] = await database.query<{ sql_transaction: bigint }>(
    "select max(sql_transaction) as sql_transaction from event_feed",
  );
  const deliveries = inOrder.map(({ id, resource_type, resource_external_id }, index) => ({
    ...{ sql_transaction, event_id: id, resource_type, resource_external_id },
    ...{ attempts: 0, delayMs: null, reason: null, ...of(index) },
  }));
  await deferDeliveries(database, "t", deliveries);
  return deliveries;
}

test("the first deferred event of a resource is due alone if it has failed, and with those behind it if it has not", async () => {
  const all = await defer("abaab", (index) => {
    if (index === 0) return { attempts: 2, delayMs: 0, reason: "failed" };
    return index === 1 ? { delayMs: 0 } : {};
  });
  expect(await dueIds()).toEqual(expect.arrayContaining(["a 0", "b 1", "b 4"]));
  expect(await dueIds()).toHaveLength(3);
  expect(await dueIds(all.slice(1, 2))).toEqual(["a 0"]);
  expect(await dueIds(all.slice(0, 1), { eventsMax: 1 })).toEqual(["b 1"]);
  expect(await dueIds([], { resourcesMax: 1 })).not.toEqual(expect.arrayContaining(["a 0", "b 1"]));
  expect(await dueIds(all.slice(0, 1), { bytesMax: 1 })).toEqual(["b 1"]);
  expect(await dueIds(all.slice(0, 2))).toEqual([]);
});

test("the next deferred event of a resource is due when the first one is removed, and keeps a time of its own", async () => {
  const [a0, b1, ...others] = await defer("ababc", (index) => ({ delayMs: index < 3 ? 3_600_000 : null }));
  const ended = [a0, b1] as DeferredDelivery[];
  await releaseDeferred(database, "t", [...ended, ...others]);
  // Those whose first event has a time are not released; the only one of c has none before it.
  expect(await dueIds()).toEqual(["c 4"]);
  await removeDeferred(database, "t", ended);
  await releaseDeferred(database, "t", ended);
  expect((await dueIds()).toSorted()).toEqual(["b 3", "c 4"]);
});

test("rows of the previous release are arranged: the first of a resource is due, and all others wait behind it", async () => {
  // It gives a time to each, and releases none.
  await defer("aabbcc", (index) => ({
    delayMs: index < 2 || index === 5 ? 0 : index === 4 ? 3_600_000 : null,
  }));
  await database.transaction((sql) => arrangeDeferred(sql, "t"));
  const rows = await database.query<{ time: string }>(
    `select resource_external_id || ' ' || case when next_attempt_at = 'infinity' then 'behind'
       when next_attempt_at <= now() then 'due' else 'later' end as time
     from deferred_delivery order by event_id`,
  );
  expect(rows.map(({ time }) => time)).toEqual([
    "a due",
    "a behind",
    "b due",
    "b behind",
    "c later",
    "c behind",
  ]);
});

test("what waits behind a deferred event is not counted, and is read by no statement", async () => {
  const [first] = await defer("a", () => ({ attempts: 3, delayMs: -1, reason: "failed" }));
  const { sql_transaction, event_id, ...resource } = first as DeferredDelivery;
  await database.run(`
    insert into deferred_delivery (target, sql_transaction, event_id, resource_type, resource_external_id, attempts, next_attempt_at)
    select 't', ${sql_transaction}, ${event_id} + n, 'payment', 'a', 0, 'infinity' from generate_series(1, 20000) as n`);
  await database.run("insert into publication values ('t', 0, 0, '2024-01-01Z')");
  const [state] = await publicationStates(database, ["t"]);
  expect(state?.deferred).toBe(1);
  expect(state?.waiting).toEqual([
    {
      ...{ event_id, resource_type: "payment", resource_external_id: "a" },
      ...{ reason: "failed", attempts: 3, next_attempt_at: expect.any(String) },
    },
  ]);
  // Also before the table has statistics of these rows.
  await database.transaction(async (sql) => {
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await sql.run("analyze deferred_delivery");
      const work: ((one: Sql) => Promise<unknown>)[] = [
        (one) => publicationStates(one, ["t"]),
        (one) => dueDeliveries(one, "t", [], limits),
        (one) => resourcesWithDeferred(one, "t", [resource, resource]),
        (one) => releaseDeferred(one, "t", [resource]),
        (one) => removeDeferred(one, "t", [first as DeferredDelivery]),
      ];
      const read: number[] = [];
      for (const one of work) read.push(await rowsReadDuring(sql, one));
      expect(Math.max(...read)).toBeLessThan(100);
    }
  });
});
