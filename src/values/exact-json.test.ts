import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { hasLongerNumber, parseExactly } from "./exact-json.ts";

const digits = (minLength: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789"), minLength, maxLength: 25 });

/** Numbers in the forms of JSON. Each equals `digits` times 10 to the power of `power`. */
const number = fc
  .record({
    sign: fc.constantFrom("", "-"),
    whole: fc.oneof(
      fc.constant("0"),
      fc.tuple(fc.constantFrom("1", "9"), digits(0)).map((parts) => parts.join("")),
    ),
    fraction: fc.oneof(fc.constant(""), digits(1)),
    exponent: fc.option(fc.integer({ min: -30, max: 30 })),
  })
  .map(({ sign, whole, fraction, exponent }) => ({
    text: `${sign}${whole}${fraction && `.${fraction}`}${exponent === null ? "" : `e${exponent}`}`,
    digits: BigInt(sign + whole + fraction),
    power: (exponent ?? 0) - fraction.length,
  }));

/** The value of a number in units of 10 to the power of -100. */
function scaledValue(text: string): bigint {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return BigInt(whole + fraction) * 10n ** BigInt(100 + Number(exponent) - fraction.length);
}

test("every number has the same value after parsing and writing", () => {
  fc.assert(
    fc.property(fc.array(number), (numbers) => {
      const texts = numbers.map(({ text }) => text);
      const written = JSON.stringify(parseExactly(JSON.stringify(texts).replaceAll('"', ""))).slice(1, -1);
      const expected = numbers.map(({ digits, power }) => digits * 10n ** BigInt(100 + power));
      expect(written === "" ? [] : written.split(",").map(scaledValue)).toEqual(expected);
    }),
  );
});

test("a number that is parsed as a double is written without an exponent", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const [read] = parseExactly(`[${JSON.stringify(value)}]`) as unknown[];
      expect(typeof read === "number" && String(read).includes("e")).toBe(false);
    }),
  );
});

test("the result for a number does not depend on other numbers in the text", () => {
  const anyNumber = fc.oneof(
    number.map(({ text }) => text),
    fc.constantFrom("0.0000001", "-0.00000012", "1.0"),
  );
  fc.assert(
    fc.property(anyNumber, (text) => {
      const [alone] = parseExactly(`[${text}]`) as unknown[];
      const [withOther] = parseExactly(`[${text}, 12345678901234567890]`) as unknown[];
      expect(alone).toEqual(withOther);
    }),
  );
});

test("everything but numbers is parsed as by JSON.parse", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const plain = JSON.parse(text);
      fc.pre(!/\d{16}|e/i.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, "")));
      expect(parseExactly(text)).toEqual(plain);
    }),
  );
  expect(() => parseExactly('{"a": 12345678901234567890')).toThrow(SyntaxError);
  expect(Object.keys(parseExactly('{"__proto__":{"a":12345678901234567890}}') as object)).toEqual([
    "__proto__",
  ]);
});

test.each([
  '{"captured_date": "2026-02-28T08:00:00.120000Z", "amount": 1000}',
  '{"created_date":"2026-02-28T08:00:00.000Z","amounts":[10,200]}',
])("%s is parsed without a function for each value, which takes several times as long", (text) => {
  const parse = vi.spyOn(JSON, "parse");
  onTestFinished(() => parse.mockRestore());
  parseExactly(text);
  expect(parse.mock.calls).toEqual([[text]]);
});

test.each([
  ["99", false],
  ["100", true],
  ["-99", false],
  ["1.5", false],
  ["1.55", true],
  ["1e1", false],
  ["1e2", true],
  ["1e-1", false],
  ["1e-2", true],
  ["1e400", true],
  [`1${"0".repeat(500)}`, true],
])("%s has more than two digits: %s", (text, isLonger) => {
  expect(hasLongerNumber(2, { a: [JSON.rawJSON(text)] })).toBe(isLonger);
});
