import { expect, test } from "vitest";
import { currencyOf, toMajorUnits } from "./currency.ts";

test.each([
  ["GBP", 2],
  ["JPY", 0],
  ["KWD", 3],
  ["HUF", 2],
  ["IQD", 3],
  ["gbp", undefined],
  ["ABC", undefined],
  ["", undefined],
])("%s has %s decimals", (code, digits) => {
  expect(currencyOf(code)).toEqual(digits === undefined ? undefined : { code, digits });
});

test.each([
  [0, 2, "0.00"],
  [-5, 2, "-0.05"],
  [123_456, 0, "123456"],
  [-7, 3, "-0.007"],
  [12_345, 3, "12.345"],
  [9_007_199_254_740_993n, 2, "90071992547409.93"],
])("%s minor units with %s decimals are %s", (amount, digits, text) => {
  expect(toMajorUnits(amount, { code: "XXX", digits })).toBe(text);
});
