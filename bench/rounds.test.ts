import { expect, test } from "vitest";
import { chartOf } from "./chart.ts";
import { tableOf } from "./results.ts";
import { compare } from "./rounds.ts";
import type { Comparison } from "./row.ts";

/** Gives these figures one after another, and tells who was asked. */
function figures(name: string, given: number[], asked: string[]) {
  const left = [...given];
  return async () => {
    asked.push(name);
    return left.shift() as number;
  };
}

const asked: string[] = [];
const comparison: Comparison = {
  name: "lookups & pages",
  unit: "requests/s",
  ours: figures("ours", [1, 1, 60, 90, 80], asked),
  baseline: { name: "by hand", measure: figures("baseline", [1, 1, 100, 100, 160], asked) },
  target: { atLeast: 0.6 },
};
const result = await compare(comparison, 3, () => {});

test("both are warmed up, and then measured in turn", () => {
  const warmUp = ["ours", "baseline", "ours", "baseline"];
  expect(asked).toEqual([...warmUp, "ours", "baseline", "baseline", "ours", "ours", "baseline"]);
});

test("what is judged is the median of the ratios, each of one round", () => {
  expect(result.ours).toEqual({ median: 80, least: 60, most: 90 });
  expect(result.ratio).toEqual({ median: 0.6, least: 0.5, most: 0.9 });
  expect(result.reached).toBe(true);
});

test("without a baseline, our own figure is judged; once, and cold, where it can be had but once", async () => {
  const ours = figures("ours", [1600], []);
  const once = await compare(
    { name: "start", unit: "ms", ours, target: { atMost: 1500 }, rounds: 1 },
    3,
    () => {},
  );
  expect(once).toMatchObject({ ours: { median: 1600 }, reached: false });
});

test("the table and the chart tell all of it", () => {
  const rows = [{ number: 4, work: "reading", measured: "2026-01-01", results: [result] }];
  const [, line] = tableOf(rows);
  expect(line).toContain("ratio 0.6 (0.5 to 0.9); at least 0.6: reached");
  const machine = { system: "Linux", processor: "two", memoryGiB: 1, node: "v24" };
  const chart = chartOf({ machine, rows });
  expect(chart).toMatch(/>4\. reading<.*>lookups &amp; pages<.*>0\.60</s);
  expect(chart).not.toContain("less is better");
});
