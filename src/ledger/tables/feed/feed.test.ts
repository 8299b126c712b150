import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { ingest } from "../../intake/ingest.ts";
import { type NewEvent, type Resource, type ResourceType, saveEvents } from "../event.ts";
import { ledgerDatabaseOfFile } from "../ledger-database.fixture.ts";
import { migrate } from "../migrate.ts";
import type { Position } from "../page.ts";
import { placeOf } from "../reported-transaction.ts";
import { searchTransactions } from "../search/search.ts";
import { event, feedIsComplete } from "./feed.fixture.ts";
import {
  continueFeed,
  type FeedFilter,
  feedStart,
  isInFeed,
  mayBeInFeed,
  newestInFeed,
  positionOf,
  readFeed,
} from "./feed.ts";

const database = await ledgerDatabaseOfFile();
const empty = () =>
  database.run(`truncate event, event_feed, transaction, transaction_outline, payout, agreement, payment_instrument,
    payment_instrument_account, metadata_key`);
beforeEach(empty);

/** The embedded engine has one transaction at a time. */
const isConcurrent = process.env.TEST_DATABASE === "postgres";

const limits = { countMax: 1000, bytesMax: 2 ** 21 };

/** The pages of this size behind a position, to the last one. */
async function* pagesAfter(after: typeof feedStart, filter: FeedFilter, size: Partial<typeof limits> = {}) {
  for (let isLast = false; !isLast; ) {
    const page = await readFeed(database, filter, after, { ...limits, ...size });
    ({ end: after, isLast } = page);
    yield page;
  }
}

/** The events behind a position, read in pages of this size. */
async function readAll(filter: FeedFilter = {}, size: Partial<typeof limits> = {}, after = feedStart) {
  await feedIsComplete(database);
  const pages = await Array.fromAsync(pagesAfter(after, filter, size));
  for (const { events } of pages) expect(events.length).toBeLessThanOrEqual(size.countMax ?? limits.countMax);
  return pages.flatMap(({ events }) => events);
}

const idsOf = (rows: Resource[]) => rows.map(({ resource_external_id }) => resource_external_id);

const store = (...events: NewEvent[]) => ingest(database, { events, rebuilds: [], deadLetters: [] });

const resources: { type: ResourceType; ids: string[] }[] = [
  { type: "payment", ids: ["p1", "p2"] },
  { type: "refund", ids: ["r1"] },
  { type: "payout", ids: ["o1"] },
  { type: "agreement", ids: ["a1", "a2", "a3"] },
  { type: "payment_instrument", ids: ["i1", "i2"] },
  { type: "service", ids: ["s1"] },
];
/** The account of each resource, and of the agreements of each payment instrument, never changes. */
const accountOf = (id: string) => (["p2", "a2"].includes(id) ? "58" : "57");
const agreementsOf = (id: string) => (id === "i2" ? ["a2"] : ["a1", "a3"]);

const someEvent: fc.Arbitrary<NewEvent> = fc
  .record({
    resource: fc.constantFrom(...resources.flatMap(({ type, ids }) => ids.map((id) => ({ type, id })))),
    second: fc.integer({ min: 1, max: 9 }),
    event_type: fc.constantFrom("PAYMENT_CREATED", "OTHER", "Ä"),
    names: fc.boolean(),
    length: fc.constantFrom(0, 1, 500),
  })
  .map(({ resource: { type, id }, second, event_type, names, length }) => {
    const named =
      type === "payment_instrument"
        ? { agreement_external_id: agreementsOf(id).at(second % 2) ?? "a2" }
        : { gateway_account_id: accountOf(id) };
    return event(id, second, {
      resource_type: type,
      event_type,
      event_details: { reference: "x".repeat(length), ...(names && named) },
    });
  });

const keyOf = ({
  resource_external_id,
  resource_type,
  timestamp,
  event_type,
}: Omit<NewEvent, "event_details" | "other_members">) =>
  [resource_external_id, resource_type, timestamp, event_type].join(" ");

/** The keys of the events that belong to an account, from all events. */
function ofAccount(events: NewEvent[], account: string): string[] {
  const named = new Set(
    events.filter((one) => "gateway_account_id" in one.event_details).map((one) => one.resource_external_id),
  );
  const tied = new Set(
    events.map((one) => `${one.resource_external_id} ${one.event_details.agreement_external_id}`),
  );
  return events
    .filter(({ resource_type, resource_external_id: id, event_details }) => {
      if (resource_type === "service")
        return "gateway_account_id" in event_details && accountOf(id) === account;
      if (resource_type === "payment_instrument")
        return agreementsOf(id).some(
          (one) => tied.has(`${id} ${one}`) && named.has(one) && accountOf(one) === account,
        );
      return named.has(id) && accountOf(id) === account;
    })
    .map(keyOf)
    .sort();
}

test("every reader gets each event once, in the order of storage, in pages of any size and of any filter", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(someEvent, { selector: keyOf, maxLength: 24 }),
      fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 10 }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom(1, 700, 1e6),
      async (events, batches, countMax, bytesMax) => {
        const size = { countMax, bytesMax };
        await empty();
        const followed: Record<string, string[]> = { all: [], 57: [], 58: [] };
        const ends: Record<string, typeof feedStart> = { all: feedStart, 57: feedStart, 58: feedStart };
        const left = [...events];
        for (let turn = 0; left.length > 0; turn += 1) {
          await store(...left.splice(0, batches[turn % batches.length]));
          if (left.length === 0) await feedIsComplete(database);
          // Readers that follow the feed while events are stored.
          for (const name of Object.keys(followed)) {
            const filter = name === "all" ? {} : { account_ids: [name] };
            for await (const page of pagesAfter(ends[name] as never, filter, size)) {
              followed[name]?.push(...page.events.map(keyOf));
              ends[name] = page.end;
            }
          }
        }
        const all = await readAll({}, size);
        expect(all.map(keyOf)).toEqual(followed.all);
        expect(all.map(keyOf).sort()).toEqual(events.map(keyOf).sort());
        expect(all).toEqual(all.toSorted((one, other) => Number(one.id - other.id)));
        for (const account of ["57", "58"]) {
          const own = (await readAll({ account_ids: [account] }, size)).map(keyOf);
          expect(own).toEqual(followed[account]);
          expect([...own].sort()).toEqual(ofAccount(events, account));
        }
        const both = (await readAll({ account_ids: ["58", "57", "58"] }, size)).map(keyOf);
        expect([...both].sort()).toEqual([...ofAccount(events, "57"), ...ofAccount(events, "58")].sort());
        const someTypes = { resource_types: ["payment", "agreement"], event_types: ["Ä"] };
        const isOne = ({ event_type, resource_type }: Pick<NewEvent, "event_type" | "resource_type">) =>
          event_type === "Ä" && someTypes.resource_types.includes(resource_type);
        const some = await readAll(someTypes as FeedFilter, size);
        expect(some.map(keyOf)).toEqual(all.filter(isOne).map(keyOf));
      },
    ),
    { numRuns: 20 },
  );
});

const agreement = (id: string, second: number, event_details = {}) =>
  event(id, second, { resource_type: "agreement", event_details });
const instrument = (id: string, second: number, event_details = {}) =>
  event(id, second, { resource_type: "payment_instrument", event_details });

test("events of payment instruments are in the feed of an account that an agreement gets at the same time", async () => {
  const rounds = isConcurrent ? 60 : 5;
  for (let round = 0; round < rounds; round += 1) {
    const [id, first, second] = [`i${round}`, `a${round}`, `b${round}`];
    await store(
      instrument(id, 1, { agreement_external_id: first }),
      instrument(id, 2, { agreement_external_id: second }),
    );
    await Promise.all([
      store(instrument(id, 3)),
      ...[first, second].map((named) => store(agreement(named, 1, { gateway_account_id: "57" }))),
    ]);
  }
  const own = (await readAll({ account_ids: ["57"] })).map(keyOf);
  expect(own).toHaveLength(rounds * 5);
  expect(new Set(own).size).toBe(own.length);
});

test("no reader misses an event or gets one twice while commits of many writers are held back", async () => {
  const [writers, rounds] = isConcurrent ? [8, 25] : [4, 6];
  let isWriting = true;
  const write = async (writer: number) => {
    for (let round = 0; round < rounds; round += 1) {
      await database.transaction(async (sql) => {
        const events = Array.from({ length: 1 + Math.floor(Math.random() * 4) }, (_, index) =>
          event(`w${writer}-${round}-${index}`, index, {
            event_details: { gateway_account_id: String(writer % 2) },
          }),
        );
        await saveEvents(sql, events);
        await sleep(Math.random() < 0.2 ? Math.random() * 60 : 0);
      });
    }
  };
  const read = async (filter: FeedFilter) => {
    const seen: bigint[] = [];
    let after = feedStart;
    for (let [wasWriting, isLast] = [true, false]; wasWriting || !isLast; ) {
      wasWriting = isWriting;
      const page = await readFeed(database, filter, after, {
        ...limits,
        countMax: 1 + Math.floor(Math.random() * 20),
      });
      seen.push(...page.events.map(({ id }) => id));
      ({ end: after, isLast } = page);
      await sleep(1);
    }
    return seen;
  };
  const filters: FeedFilter[] = [{}, { account_ids: ["0"] }, { account_ids: ["0", "1"] }];
  const reading = Promise.all(filters.map(read));
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  await feedIsComplete(database);
  isWriting = false;
  const seen = await reading;
  for (const [index, filter] of filters.entries()) {
    expect(seen[index]).toEqual((await readAll(filter)).map(({ id }) => id));
  }
  const stored = await database.query<{ id: bigint }>("select id from event order by id");
  expect([...(seen[0] ?? [])].sort((one, other) => Number(one - other))).toEqual(stored.map(({ id }) => id));
});

test.runIf(isConcurrent)(
  "later pages of a search have all rows that had arrived at the first one, and no others",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("arrived", "after", "late"), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (arrivals, countMax) => {
          await empty();
          const create = (index: number) =>
            event(`p${String(index).padStart(2, "0")}`, 1, { event_details: { gateway_account_id: "57" } });
          const { promise: firstPageRead, resolve: finish } = Promise.withResolvers<void>();
          /** Stores a transaction and commits it after the first page. */
          const begin = (index: number, hasBegun: () => void) =>
            database.transaction(async (sql) => {
              await saveEvents(sql, [create(index)]);
              await sql.query(
                `insert into transaction (external_id, transaction_type, gateway_account_id, state, created_date,
                   event_count, first_event_id, details)
                 select resource_external_id, 'PAYMENT', '57', 'CREATED', timestamp, 1, id, '{}' from event
                 where resource_external_id = $1`,
                [create(index).resource_external_id],
              );
              hasBegun();
              await firstPageRead;
            });
          const late: Promise<void>[] = [];
          // Of the transactions in flight at the first page, some have begun before others that have ended.
          for (const [index, arrival] of arrivals.entries()) {
            if (arrival === "arrived") await store(create(index));
            if (arrival === "late") await new Promise<void>((hasBegun) => late.push(begin(index, hasBegun)));
          }
          const pages = [];
          let position: Position | undefined;
          for (let isLast = false; !isLast; ) {
            const page = await searchTransactions(
              database,
              { account_id: ["57"], after: position },
              { countMax, bytesMax: 1e6 },
            );
            if (!position) {
              finish();
              await Promise.all(late);
              for (const [index, arrival] of arrivals.entries())
                if (arrival === "after") await store(create(index));
            }
            pages.push(...page.rows.map((row) => placeOf(row).position.external_id));
            position = page.next;
            isLast = position === undefined;
          }
          const had = arrivals.flatMap((arrival, index) =>
            arrival === "arrived" ? create(index).resource_external_id : [],
          );
          expect(pages).toEqual(had.reverse());
        },
      ),
      { numRuns: 40 },
    );
  },
);

test("a page ends after 10,000 events that do not match", async () => {
  await database.run(`
    insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
    select 'payment', 'p' || number, '2024-01-01', case number when 10500 then 'RARE' else 'COMMON' end, '{}'
    from generate_series(1, 10500) as number`);
  // The server could have done it in the middle of the insert.
  await database.run("analyze event");
  await database.run("analyze event_feed");
  await feedIsComplete(database);
  const pages = await Array.fromAsync(pagesAfter(feedStart, { event_types: ["RARE"] }));
  expect(pages.map(({ events }) => events.length)).toEqual([0, 1]);
  for (const { end } of pages) expect(await isInFeed(database, end)).toBe(true);
});

test("positions continue in a server whose ids of SQL transactions are lower", async () => {
  await store(event("p1", 1), event("p2", 1));
  // As if a server with far higher ids had stored them.
  await database.run("update event_feed set sql_transaction = sql_transaction + 1000000");
  const before =
    (await database.query<{ epoch: bigint }>("select epoch from event_feed_epoch"))[0]?.epoch ?? 0n;
  expect((await readFeed(database, {}, feedStart, limits)).events).toEqual([]);
  await continueFeed(database);
  await continueFeed(database);
  const [row] = await database.query<{ epoch: bigint }>("select epoch from event_feed_epoch");
  expect(row?.epoch).toBe(before + 1n);
  const [first] = await readAll();
  if (!first) throw new Error("the feed must not be empty");
  await store(event("p0", 1));
  expect(idsOf(await readAll())).toEqual(["p1", "p2", "p0"]);
  const rest = await readAll({}, { countMax: 1, bytesMax: 1 }, positionOf(first));
  expect(idsOf(rest)).toEqual(["p2", "p0"]);
});

test("a position is in the feed if its event exists, and may be if the feed has not arrived there", async () => {
  await store(event("p1", 1));
  await feedIsComplete(database);
  const newest = await newestInFeed(database);
  const ahead = { ...newest, sql_transaction: newest.sql_transaction + 1_000_000n };
  for (const is of [isInFeed, mayBeInFeed]) {
    expect(await is(database, feedStart)).toBe(true);
    expect(await is(database, newest)).toBe(true);
    expect(await is(database, { ...newest, event_id: newest.event_id + 1n })).toBe(false);
    expect(await is(database, { ...newest, timestamp: "2024-01-01T00:00:02.000000Z" })).toBe(false);
    expect(await is(database, ahead)).toBe(is === mayBeInFeed);
  }
  expect((await readFeed(database, {}, ahead, limits)).end).toEqual(ahead);
  expect(await newestInFeed(database, ahead)).toEqual(newest);
  expect(await newestInFeed(database, { ...newest, event_id: newest.event_id - 1n })).toEqual(feedStart);
});

test("events that are older than the feed come first, by their ids", async () => {
  await database.run("alter table event disable trigger add_to_event_feed");
  await store(
    event("old2", 1),
    event("old1", 1, { event_details: { gateway_account_id: "57" } }),
    event("old1", 2),
  );
  await database.run(`
    alter table event enable trigger add_to_event_feed;
    update event_feed_epoch set older_event_id = (select max(id) from event)`);
  await store(event("new", 1, { event_details: { gateway_account_id: "57" } }));
  await database.run("delete from migration where name like '0024%'");
  await migrate(database);
  expect(idsOf(await readAll())).toEqual(["old2", "old1", "old1", "new"]);
  expect(idsOf(await readAll({ account_ids: ["57"] }))).toEqual(["old1", "old1", "new"]);
});
