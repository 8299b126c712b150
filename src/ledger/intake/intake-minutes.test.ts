import { afterEach, expect, test, vi } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { type Database, DatabaseUnavailable } from "../../database/database.ts";
import { openLog } from "../../process/log.ts";
import type { IntakeMinuteRow } from "../tables/intake-minute.ts";
import { openIntakeMinutes, startSavingIntakeMinutes } from "./intake-minutes.ts";

afterEach(() => {
  vi.useRealTimers();
});

const at = (instant: string) => vi.useFakeTimers({ toFake: ["Date"], now: new Date(instant) });
const none = { stored: 0, duplicate: 0, rebuilt: 0, dead_letter: 0, retried: 0 };
const noLags = { lag_messages: 0, lag_ms_sum: 0, lag_ms_max: 0 };
const row = (minute: string, numbers: object) => ({ minute, ...none, ...noLags, ...numbers });

test("numbers are collected by minute, and are taken once; those that are given back are added", () => {
  const minutes = openIntakeMinutes();
  at("2024-03-05T09:14:59.999Z");
  minutes.add({ stored: 2, dead_letter: 1 }, [10, 0, 20.4]);
  at("2024-03-05T09:15:00.000Z");
  minutes.add({ retried: 1 });
  minutes.add({ retried: 2 }, [5]);
  const first = { stored: 2, dead_letter: 1, lag_messages: 3, lag_ms_sum: 30, lag_ms_max: 20 };
  const taken = minutes.take();
  expect(taken).toEqual([
    row("2024-03-05T09:14:00.000Z", first),
    row("2024-03-05T09:15:00.000Z", { retried: 3, lag_messages: 1, lag_ms_sum: 5, lag_ms_max: 5 }),
  ]);
  expect(minutes.take()).toEqual([]);
  minutes.add({ stored: 1, retried: 1 }, [4]);
  minutes.putBack(taken);
  expect(minutes.take().toReversed()).toEqual([
    row("2024-03-05T09:14:00.000Z", first),
    row("2024-03-05T09:15:00.000Z", { stored: 1, retried: 4, lag_messages: 2, lag_ms_sum: 9, lag_ms_max: 5 }),
  ]);
});

test("the newest 60 minutes are kept, whatever the clock does", () => {
  const minutes = openIntakeMinutes();
  const start = Date.parse("2024-03-05T00:00:00Z");
  for (let minute = 0; minute < 1000; minute += 1) {
    at(new Date(start + minute * 60_000).toISOString());
    minutes.add({ retried: 1 });
    if (minute % 7 === 0) minutes.putBack(minutes.take());
  }
  const rows = minutes.take();
  expect(rows.map((row) => (Date.parse(row.minute) - start) / 60_000).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 60 }, (_, index) => 940 + index),
  );
});

test("the lag of a message with a wrong time of sending is limited, so that sums fit into 64 bits", () => {
  const minutes = openIntakeMinutes();
  minutes.add({ stored: 2 }, [Number.MAX_VALUE, 1]);
  const dayMs = 24 * 60 * 60 * 1000;
  expect(minutes.take()).toMatchObject([{ lag_ms_sum: 366 * dayMs + 1, lag_ms_max: 366 * dayMs }]);
});

/** A database whose writes behave like these, one after the other; then they succeed. */
function databaseWith(...writes: (() => Promise<unknown>)[]) {
  const saved: IntakeMinuteRow[][] = [];
  const database = {
    async query(_statement: string, [rows]: [string]) {
      await writes.shift()?.();
      saved.push(JSON.parse(rows));
      return [];
    },
  } as unknown as Database;
  return { database, saved };
}
const fails = () => Promise.reject(new DatabaseUnavailable(new Error("it is away")));
const openTestLog = (logged: string[]) => openLog("warn", { write: (line) => logged.push(line) });

test("a stop saves the last numbers, if there are any", async () => {
  const { database, saved } = databaseWith();
  for (const count of [0, 1]) {
    const minutes = openIntakeMinutes();
    await using _saving = startSavingIntakeMinutes(database, { minutes }, openLog("silent"));
    if (count > 0) minutes.add({ stored: count });
  }
  expect(saved).toMatchObject([[{ ...none, stored: 1, ...noLags }]]);
});

test("a failed write keeps its numbers for the next one, is logged once, and nothing counts twice", async () => {
  at("2024-03-05T09:14:00Z");
  const logged: string[] = [];
  const added = Promise.withResolvers<void>();
  const { database, saved } = databaseWith(fails, () => added.promise.then(fails));
  const minutes = openIntakeMinutes();
  minutes.add({ stored: 1 });
  {
    await using _saving = startSavingIntakeMinutes(database, { minutes }, openTestLog(logged), 10);
    await eventually(() => expect(logged).toHaveLength(1));
    minutes.add({ stored: 2 });
    added.resolve();
    await eventually(() => expect(saved).toHaveLength(1));
    minutes.add({ stored: 4 });
  }
  expect(saved).toMatchObject([[{ stored: 3 }], [{ stored: 4 }]]);
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain("numbers of messages could not be saved");
});

test("a stop does not wait for a database that does not respond", async () => {
  const logged: string[] = [];
  const { database } = databaseWith(() => new Promise(() => {}));
  const minutes = openIntakeMinutes();
  const saving = startSavingIntakeMinutes(database, { minutes }, openTestLog(logged));
  minutes.add({ stored: 1 });
  await saving[Symbol.asyncDispose]();
  expect(logged).toMatchObject([expect.stringContaining("the last numbers of messages were not saved")]);
});
