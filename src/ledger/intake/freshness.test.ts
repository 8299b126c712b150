import { Registry } from "prom-client";
import { afterEach, expect, test, vi } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { saveEvents } from "../tables/event.ts";
import { event } from "../tables/feed/feed.fixture.ts";
import { openLedgerDatabase } from "../tables/ledger-database.fixture.ts";
import { acceptedAt, knownTimes, openFreshness, roundUp } from "./freshness.ts";
import { watchArrivals } from "./watch-arrivals.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("times are rounded up to two digits of milliseconds, and a negative one is 0", () => {
  const rounded = [-5, 0, 0.2, 1, 98.5, 99, 100, 101, 999, 1001, 12_345, Number.MAX_VALUE].map(roundUp);
  expect(rounded).toEqual([0, 0, 1, 1, 99, 99, 100, 110, 1000, 1100, 13_000, 32_000_000_000]);
});

test("a message was accepted when it was sent, if that is known, and not later than it was received", () => {
  const received = Date.parse("2024-03-05T09:14:02.500Z");
  const accepted = (sentAt?: number) => received - Date.parse(acceptedAt(sentAt, received));
  expect(accepted()).toBe(0);
  expect(accepted(received - 7)).toBe(7);
  expect(accepted(received + 7)).toBe(0);
  // RabbitMQ has whole seconds: the message was sent at some time in this second, or in the one before.
  expect(accepted(received - 500)).toBe(0);
  expect(accepted(received - 1500)).toBe(501);
});

test("arrivals are counted by minute, destination and time; rows that are given back are added", () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2024-03-05T09:14:59.000Z") });
  const freshness = openFreshness(new Registry());
  const second = "2024-03-05T09:14:58.000Z";
  freshness.arrived(["feed"], knownTimes([second, second, null, undefined]));
  const row = { minute: "2024-03-05T09:14:00.000Z", destination: "feed", visible_ms: 1000, events: 2 };
  const taken = freshness.take();
  expect(taken).toEqual([row]);
  freshness.arrived(["feed"], knownTimes([second]));
  freshness.arrived(["lookup"], knownTimes([second]));
  freshness.putBack(taken);
  expect(freshness.take()).toEqual([
    { ...row, events: 3 },
    { ...row, destination: "lookup", events: 1 },
  ]);
  vi.setSystemTime(new Date("2024-03-05T09:20:00Z"));
  freshness.putBack(taken);
  expect(freshness.take()).toEqual([]);
});

test("with a replica, events are visible to lookup and report when it has them", async () => {
  await using database = await openLedgerDatabase();
  const freshness = openFreshness(new Registry());
  const arrivals = watchArrivals(database, true, freshness);
  const numbers = () => freshness.take().map(({ destination, events }) => `${destination} ${events}`);
  // Like a replica, the database has the events later.
  await database.transaction(async (sql) => {
    const accepted_at = new Date().toISOString();
    arrivals.committed(await saveEvents(sql, [event("p1", 1, { accepted_at }), event("p1", 2)]));
    await sql.query("select 1");
    expect(numbers()).toEqual([]);
  });
  const seen: string[] = [];
  await eventually(() => {
    seen.push(...numbers());
    expect(seen.toSorted()).toEqual(["feed 1", "lookup 1", "report 1"]);
  });
});
