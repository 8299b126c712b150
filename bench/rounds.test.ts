import { expect, test } from "vitest";
import { chartOf } from "./chart.ts";
import { tableOf } from "./results.ts";
import { compare } from "./rounds.ts";
import type { Comparison } from "./row.ts";

/** A measurement that returns these values in order and adds its name to `calls`. */
function measurement(name: string, values: number[], calls: string[]) {
  const left = [...values];
  return async () => {
    calls.push(name);
    return left.shift() as number;
  };
}

const calls: string[] = [];
const comparison: Comparison = {
  name: "lookups & pages",
  unit: "requests/s",
  ours: measurement("ours", [1, 1, 60, 90, 80], calls),
  baseline: { name: "by hand", measure: measurement("baseline", [1, 1, 100, 100, 160], calls) },
  target: { atLeast: 0.6 },
};
const result = await compare(comparison, { rounds: 3, warmUpRounds: 2 }, () => {});

test("both sides are warmed up, then measured in turn", () => {
  const warmUp = ["ours", "baseline", "ours", "baseline"];
  expect(calls).toEqual([...warmUp, "ours", "baseline", "baseline", "ours", "ours", "baseline"]);
});

test("the target applies to the median of the ratios of the rounds", () => {
  expect(result.ours).toEqual({ median: 80, min: 60, max: 90 });
  expect(result.ratio).toEqual({ median: 0.6, min: 0.5, max: 0.9 });
  expect(result.reached).toBe(true);
});

test("without a baseline the target applies to our value; with `rounds: 1` there is one round and no warm-up", async () => {
  const ours = measurement("ours", [1600], []);
  const start: Comparison = { name: "start", unit: "ms", ours, target: { atMost: 1500 }, rounds: 1 };
  const once = await compare(start, { rounds: 3, warmUpRounds: 2 }, () => {});
  expect(once).toMatchObject({ ours: { median: 1600 }, reached: false });
});

test("the table and the chart show the row, the comparison, the ratio and the target", () => {
  const rows = [{ number: 4, title: "reading", date: "2026-01-01", results: [result] }];
  const [, line] = tableOf(rows);
  expect(line).toContain("ratio 0.6 (0.5 to 0.9); at least 0.6: reached");
  const machine = { system: "Linux", processor: "two", memoryGiB: 1, node: "v24" };
  const chart = chartOf({ machine, rows });
  expect(chart).toMatch(/>4\. reading<.*>lookups &amp; pages<.*>0\.60</s);
  expect(chart).not.toContain("lower is better");
});
