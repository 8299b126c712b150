import fc from "fast-check";
import { expect, test } from "vitest";
import {
  formatDay,
  formatDuration,
  formatJson,
  formatMoney,
  formatName,
  formatUtc,
  showCurrency,
} from "./format.ts";

const digitsOf = (text: string) => text.replaceAll(/[^\d.-]/g, "");

test.each([
  [0, "0.00"],
  [5, "0.05"],
  [-5, "-0.05"],
  [4250, "42.50"],
  [123_456_789, "1234567.89"],
  [9_007_199_254_740_993n, "90071992547409.93"],
  [-(2n ** 63n), "-92233720368547758.08"],
])("%s pence are £%s", (pence, pounds) => {
  expect(formatMoney(pence)).toContain("£");
  expect(digitsOf(formatMoney(pence))).toBe(pounds);
});

test("no amount loses a penny", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (pence) => {
      expect(BigInt(digitsOf(formatMoney(pence)).replace(".", ""))).toBe(pence);
    }),
  );
});

test("JSON keeps all digits of an integer", () => {
  expect(formatJson({ event_id: 9_007_199_254_740_993n, other: 17n })).toBe(
    '{\n  "event_id": 9007199254740993,\n  "other": 17\n}',
  );
});

test("names, days, instants and durations are readable", () => {
  expect(formatName("needs_response")).toBe("Needs response");
  expect(formatName("PAYMENT")).toBe("Payment");
  expect(formatDay("2024-03-05")).toMatch(/5/);
  expect(formatUtc("2024-03-05T09:14:22.018408Z")).toBe("2024-03-05 09:14:22.018408 UTC");
  expect([0, 999, 1500, 61_000, 7_200_000].map(formatDuration)).toEqual([
    "0 ms",
    "999 ms",
    "1.5 s",
    "1 min",
    "2 h",
  ]);
});

test("amounts have the currency of the page", () => {
  showCurrency({ code: "JPY", digits: 0 });
  expect(formatMoney(-1234)).toMatch(/^-(JP)?¥1,234$/);
  showCurrency({ code: "IQD", digits: 3 });
  expect(formatMoney(1234)).toMatch(/^IQD\s1\.234$/);
  showCurrency({ code: "GBP", digits: 2 });
});
