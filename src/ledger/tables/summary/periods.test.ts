import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { always, beginning, end, type Interval, midnightOf, type Part, partsOf } from "./periods.ts";

const instant = (day: string, time = "00:00:00.000000") => `${day}T${time}Z`;

/** Infinity is that of the year 9999. */
const hoursIn = ({ from, to }: Interval) =>
  (Date.parse(to === end ? "+010000-01-01T00:00:00Z" : to) - Date.parse(from)) / 3_600_000;
const signOf = (part: Part) => ("sign" in part ? part.sign : 1);
const shown = (part: Part) =>
  `${"sign" in part ? (part.sign === 1 ? "+ " : "- ") : ""}${part.grain} ${part.from} ${part.to}`;

describe("the parts of an interval", () => {
  test.each<[string, Interval, Parameters<typeof partsOf>[1], string[]]>([
    ["all time", always, "ever", ["ever -infinity infinity"]],
    [
      "months, days and rests",
      { from: instant("2023-11-29", "23:59:59.999999"), to: instant("2024-02-03", "00:00:00.000001") },
      "ever",
      [
        "+ instant 2023-11-29T23:59:59.999999Z 2023-11-30T00:00:00.000000Z",
        "+ instant 2024-02-03T00:00:00.000000Z 2024-02-03T00:00:00.000001Z",
        "day 2023-11-30 2023-12-01",
        "month 2023-12-01 2024-02-01",
        "day 2024-02-01 2024-02-03",
      ],
    ],
    [
      "days from which a rest is taken away",
      { from: instant("2024-02-28", "00:00:00.000001"), to: instant("2024-03-01", "23:00:00.000000") },
      "ever",
      [
        "- instant 2024-02-28T00:00:00.000000Z 2024-02-28T00:00:00.000001Z",
        "- hour 2024-03-01T23:00:00.000000Z 2024-03-02T00:00:00.000000Z",
        "day 2024-02-28 2024-03-02",
      ],
    ],
    [
      "days of London in summer",
      { from: instant("2024-06-30", "23:00:00.000000"), to: instant("2024-07-02", "23:00:00.000000") },
      "ever",
      [
        "+ hour 2024-06-30T23:00:00.000000Z 2024-07-01T00:00:00.000000Z",
        "- hour 2024-07-02T23:00:00.000000Z 2024-07-03T00:00:00.000000Z",
        "day 2024-07-01 2024-07-03",
      ],
    ],
    [
      "hours of two days",
      { from: instant("2024-07-01", "18:29:00.000000"), to: instant("2024-07-02", "04:31:00.000000") },
      "hour",
      [
        "- instant 2024-07-01T18:00:00.000000Z 2024-07-01T18:29:00.000000Z",
        "- instant 2024-07-02T04:31:00.000000Z 2024-07-02T05:00:00.000000Z",
        "+ hour 2024-07-01T18:00:00.000000Z 2024-07-02T05:00:00.000000Z",
      ],
    ],
    [
      "the last hour of the year 9999",
      { from: instant("9999-12-31", "23:00:00.000000"), to: end },
      "ever",
      ["+ hour 9999-12-31T23:00:00.000000Z infinity"],
    ],
    [
      "a part of an hour",
      { from: instant("2024-03-02", "09:31:00.000000"), to: instant("2024-03-02", "10:29:00.000000") },
      "ever",
      ["+ instant 2024-03-02T09:31:00.000000Z 2024-03-02T10:29:00.000000Z"],
    ],
    [
      "days of two months",
      { from: instant("2024-02-28"), to: instant("2024-03-02") },
      "day",
      ["day 2024-02-28 2024-03-02"],
    ],
    ["nothing", { from: instant("2024-03-02"), to: instant("2024-03-02") }, "ever", []],
    ["a reversed interval", { from: instant("2024-03-05"), to: instant("2024-03-01") }, "ever", []],
  ])("%s", (_name, interval, coarsest, expected) => {
    expect(partsOf(interval, coarsest).map(shown)).toEqual(expected);
  });

  test("add up to the interval, whatever it is", () => {
    const limits = {
      min: new Date("0001-01-01T00:00:00Z"),
      max: new Date("9999-12-31T23:59:59.999Z"),
      noInvalidDate: true,
    };
    const near = { ...limits, min: new Date("2024-02-27T00:00:00Z"), max: new Date("2024-03-03T00:00:00Z") };
    const instants = fc
      .oneof(fc.date(limits), fc.date(near))
      .chain((date) =>
        fc.constantFrom(
          `${date.toISOString().slice(0, 23)}000Z`,
          midnightOf(date.toISOString().slice(0, 10)),
          midnightOf(`${date.toISOString().slice(0, 7)}-01`),
          beginning,
          end,
        ),
      );
    const coarsest = fc.constantFrom("ever" as const, "month" as const, "day" as const, "hour" as const);
    const contains = (part: Part, instant: string) =>
      "sign" in part
        ? part.from <= instant && instant < part.to
        : midnightOf(part.from) <= instant && instant < midnightOf(part.to);
    fc.assert(
      fc.property(instants, instants, coarsest, fc.array(instants), (from, to, grain, others) => {
        const parts = partsOf({ from, to }, grain);
        const bounds = parts.flatMap((part) =>
          "sign" in part ? [part.from, part.to] : [midnightOf(part.from), midnightOf(part.to)],
        );
        for (const instant of [from, to, ...bounds, ...others]) {
          const times = parts
            .filter((part) => contains(part, instant))
            .reduce((sum, part) => sum + signOf(part), 0);
          if (instant !== end) expect(times).toBe(from <= instant && instant < to ? 1 : 0);
        }
        for (const part of parts) {
          expect(part.from < part.to).toBe(true);
          if (part.grain === "month")
            for (const day of [part.from, part.to]) expect(day).toMatch(/-01$|infinity/);
          if (part.grain === "hour")
            for (const hour of [part.from, part.to]) expect(hour).toMatch(/:00:00.000000Z$|infinity/);
          if (part.grain === "hour" && grain !== "hour") expect(hoursIn(part)).toBeLessThanOrEqual(24);
          if (part.grain === "instant") expect(hoursIn(part)).toBeLessThan(1);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
