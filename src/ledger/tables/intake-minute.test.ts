import { expect, test } from "vitest";
import { addToIntakeMinutes, type IntakeMinuteRow, intakeMinutesSince } from "./intake-minute.ts";
import { ledgerDatabaseOfFile } from "./ledger-database.fixture.ts";

const database = await ledgerDatabaseOfFile();

const minuteMs = 60_000;
/** The start of the minute before which this number of minutes ends. */
const minutesAgo = (minutes: number) =>
  new Date(Math.floor(Date.now() / minuteMs - minutes) * minuteMs).toISOString();
const row = (minute: string, numbers: Partial<IntakeMinuteRow> = {}): IntakeMinuteRow => ({
  minute,
  ...{ stored: 0, duplicate: 0, rebuilt: 0, dead_letter: 0, retried: 0 },
  ...{ lag_messages: 0, lag_ms_sum: 0, lag_ms_max: 0 },
  ...numbers,
});
const read = (minute: string) => minute.replace("Z", "000Z");

test("the numbers of processes add up, and the longest lag counts", async () => {
  const [first, second] = [minutesAgo(200), minutesAgo(199)];
  const numbers = { stored: 5, duplicate: 4, rebuilt: 3, dead_letter: 2, retried: 1 };
  const lags = { lag_messages: 10, lag_ms_sum: 700, lag_ms_max: 90 };
  await addToIntakeMinutes(database, [row(second, { stored: 1 }), row(first, { ...numbers, ...lags })]);
  await addToIntakeMinutes(database, [row(first, { ...numbers, ...lags, lag_ms_max: 80 })]);
  await addToIntakeMinutes(database, [row(first, { lag_messages: 1, lag_ms_sum: 100, lag_ms_max: 100 })]);
  expect(await intakeMinutesSince(database, first)).toEqual([
    row(read(first), {
      ...{ stored: 10, duplicate: 8, rebuilt: 6, dead_letter: 4, retried: 2 },
      ...{ lag_messages: 21, lag_ms_sum: 1500, lag_ms_max: 100 },
    }),
    row(read(second), { stored: 1 }),
  ]);
});

test("rows are removed after a day, except those that are added", async () => {
  const [old, older, kept] = [minutesAgo(1442), minutesAgo(3000), minutesAgo(1430)];
  await addToIntakeMinutes(
    database,
    [old, older, kept].map((minute) => row(minute, { stored: 1 })),
  );
  await addToIntakeMinutes(database, [row(older, { stored: 1 })]);
  const rows = await database.query<{ minute: string; stored: bigint }>(
    "select minute, stored from intake_minute where minute = any($1::timestamptz[]) order by minute",
    [[old, older, kept]],
  );
  expect(rows).toEqual([
    { minute: read(older), stored: 2n },
    { minute: read(kept), stored: 1n },
  ]);
});

test("many processes add to the same minutes at the same time", async () => {
  const minutes = Array.from({ length: 20 }, (_, index) => minutesAgo(700 - index));
  await Promise.all(
    Array.from({ length: 30 }, (_, process) => {
      const rows = minutes.map((minute) => row(minute, { stored: process }));
      return addToIntakeMinutes(database, process % 2 === 0 ? rows : rows.toReversed());
    }),
  );
  const found = await intakeMinutesSince(database, minutes[0] as string);
  expect(found.map(({ stored }) => stored)).toEqual(minutes.map(() => 435));
});
