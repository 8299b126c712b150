import fc from "fast-check";
import { expect, test } from "vitest";
import { addDays, boundsOf, createdBetween, dayOf, periodOf, startOf } from "./periods.ts";

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

test.each([
  ["2024-03-05", "Asia/Kolkata", "2024-03-04T18:30:00.000Z"],
  ["2024-03-05", "Asia/Kathmandu", "2024-03-04T18:15:00.000Z"],
  ["2024-03-05", "Pacific/Kiritimati", "2024-03-04T10:00:00.000Z"],
  ["2024-03-05", "Pacific/Pago_Pago", "2024-03-05T11:00:00.000Z"],
  // The day began at 01:00.
  ["2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00.000Z"],
  ["2024-03-31", "Asia/Beirut", "2024-03-30T22:00:00.000Z"],
  // The hour after midnight came twice.
  ["2024-11-03", "America/Havana", "2024-11-03T04:00:00.000Z"],
  // Samoa had no 30 December.
  ["2011-12-30", "Pacific/Apia", "2011-12-30T10:00:00.000Z"],
  ["2011-12-31", "Pacific/Apia", "2011-12-30T10:00:00.000Z"],
])("%s in %s begins at %s", (day, zone, start) => {
  expect(startOf(day, zone).toISOString()).toBe(start);
});

test("every day in every zone begins with its first instant", () => {
  const days = fc.date({ min: new Date("1970-01-01"), max: new Date("2040-12-31"), noInvalidDate: true });
  const zones = fc.constantFrom("UTC", ...Intl.supportedValuesOf("timeZone"));
  fc.assert(
    fc.property(days, zones, (date, zone) => {
      const day = date.toISOString().slice(0, 10);
      const start = startOf(day, zone);
      // A zone that has crossed the date line has left out a day.
      expect([day, addDays(day, 1)]).toContain(dayOf(start, zone));
      expect(dayOf(new Date(start.getTime() - 1), zone) < day).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test("every day of a year in London begins with its first instant", () => {
  for (let day = "2026-01-01"; day <= "2026-12-31"; day = addDays(day, 1)) {
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

test.each([
  ["2026-01-01..2026-03-31", "2025-09-30T23:00:00.000Z"],
  ["2026-03-02..2026-03-31", "2026-01-31T00:00:00.000Z"],
  ["2026-03-05T11:30..2026-03-05T12:29", "2026-03-05T10:30:00.000Z"],
  ["1900-01-01..2199-12-31", "1600-01-01T00:01:15.000Z"],
  ["1900-01-02..2199-12-31", "1600-01-03T00:01:15.000Z"],
])("the period before %s begins at %s", (text, before) => {
  const bounds = boundsOf(text, "2026-11-30");
  const period = bounds && periodOf(bounds, "Europe/London", new Date("2199-12-31T23:59:00Z"));
  expect(period?.before.from.toISOString()).toBe(before);
});

test.each([
  "1899-12-31..2026-01-01",
  "2026-01-01..9999-12-31",
  "2026-02-30..2026-03-01",
  "2026-03-02..2026-03-01",
])("%s is no period", (text) => expect(boundsOf(text, "2026-11-30")).toBeUndefined());
