import { expect, test } from "vitest";
import { addDays, createdBetween, dayOf, daysBetween, startOf } from "./periods.ts";

test.each([
  ["2026-01-15", "2026-01-15T00:00:00.000Z"],
  ["2026-03-29", "2026-03-29T00:00:00.000Z"],
  ["2026-03-30", "2026-03-29T23:00:00.000Z"],
  ["2026-07-01", "2026-06-30T23:00:00.000Z"],
  ["2026-10-25", "2026-10-24T23:00:00.000Z"],
  ["2026-10-26", "2026-10-26T00:00:00.000Z"],
])("in London %s begins at %s", (day, start) => {
  expect(startOf(day, "Europe/London").toISOString()).toBe(start);
  expect(startOf(day, "UTC").toISOString()).toBe(`${day}T00:00:00.000Z`);
});

test("every day of a year in London begins with its first instant", () => {
  for (const day of daysBetween("2026-01-01", "2026-12-31")) {
    const start = startOf(day, "Europe/London");
    expect(dayOf(start, "Europe/London")).toBe(day);
    expect(dayOf(new Date(start.getTime() - 1), "Europe/London")).toBe(addDays(day, -1));
  }
});

test("the bounds of a period are exclusive, so the first instant is inside", () => {
  const [from, to] = [new Date("2026-11-25T00:00:00Z"), new Date("2026-11-26T00:00:00Z")];
  expect(createdBetween(from, to)).toEqual({
    from_date: "2026-11-24T23:59:59.999999Z",
    to_date: "2026-11-26T00:00:00.000Z",
  });
});
