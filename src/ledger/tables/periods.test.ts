import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  always,
  beginning,
  dayAfter,
  end,
  type Interval,
  midnightOf,
  type Part,
  partsOf,
} from "./periods.ts";

const instant = (day: string, time = "00:00:00.000000") => `${day}T${time}Z`;

describe("the parts of an interval", () => {
  test.each<[string, Interval, Parameters<typeof partsOf>[1], string[]]>([
    ["all time", always, "ever", ["ever -infinity infinity"]],
    ["all time in months", always, "month", ["month -infinity infinity"]],
    ["all time in days", always, "day", ["day -infinity infinity"]],
    [
      "whole months",
      { from: instant("2024-02-01"), to: instant("2024-04-01") },
      "ever",
      ["month 2024-02-01 2024-04-01"],
    ],
    [
      "months, days and rests",
      { from: instant("2023-11-29", "23:59:59.999999"), to: instant("2024-02-03", "00:00:00.000001") },
      "ever",
      [
        "instant 2023-11-29T23:59:59.999999Z 2023-11-30T00:00:00.000000Z",
        "day 2023-11-30 2023-12-01",
        "month 2023-12-01 2024-02-01",
        "day 2024-02-01 2024-02-03",
        "instant 2024-02-03T00:00:00.000000Z 2024-02-03T00:00:00.000001Z",
      ],
    ],
    [
      "days of two months",
      { from: instant("2024-02-28"), to: instant("2024-03-02") },
      "day",
      ["day 2024-02-28 2024-03-02"],
    ],
    [
      "a part of a day",
      { from: instant("2024-02-28", "10:00:00.000000"), to: instant("2024-02-28", "11:00:00.000000") },
      "ever",
      ["instant 2024-02-28T10:00:00.000000Z 2024-02-28T11:00:00.000000Z"],
    ],
    [
      "until a day",
      { from: beginning, to: instant("2024-03-02") },
      "ever",
      ["month -infinity 2024-03-01", "day 2024-03-01 2024-03-02"],
    ],
    [
      "the end of the calendar",
      { from: instant("9999-11-30", "12:00:00.000000"), to: end },
      "ever",
      ["instant 9999-11-30T12:00:00.000000Z 9999-12-01T00:00:00.000000Z", "month 9999-12-01 infinity"],
    ],
    ["nothing", { from: instant("2024-03-02"), to: instant("2024-03-02") }, "ever", []],
    ["a reversed interval", { from: instant("2024-03-05"), to: instant("2024-03-01") }, "ever", []],
  ])("%s", (_name, interval, coarsest, expected) => {
    expect(partsOf(interval, coarsest).map(({ grain, from, to }) => `${grain} ${from} ${to}`)).toEqual(
      expected,
    );
  });

  test("follow each other without a gap and cover the interval, whatever it is", () => {
    const instants = fc
      .date({
        min: new Date("0001-01-01T00:00:00Z"),
        max: new Date("9999-12-31T23:59:59.999Z"),
        noInvalidDate: true,
      })
      .chain((date) =>
        fc.constantFrom(
          `${date.toISOString().slice(0, 23)}000Z`,
          midnightOf(date.toISOString().slice(0, 10)),
          midnightOf(`${date.toISOString().slice(0, 7)}-01`),
          beginning,
          end,
        ),
      );
    const asInstant = ({ grain }: Part, text: string) => (grain === "instant" ? text : midnightOf(text));
    fc.assert(
      fc.property(instants, instants, fc.constantFrom("ever", "month", "day"), (from, to, coarsest) => {
        const parts = partsOf({ from, to }, coarsest);
        if (from >= to) {
          expect(parts).toEqual([]);
          return;
        }
        expect(parts.map((part) => asInstant(part, part.from))).toEqual([
          from,
          ...parts.slice(0, -1).map((part) => asInstant(part, part.to)),
        ]);
        const last = parts.at(-1) as Part;
        expect(asInstant(last, last.to)).toBe(to);
        for (const { grain, from, to } of parts) {
          expect(from < to).toBe(true);
          if (grain === "instant") expect(midnightOf(dayAfter(from.slice(0, 10))) >= to).toBe(true);
          if (grain === "month") for (const day of [from, to]) expect(day).toMatch(/-01$|infinity/);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
