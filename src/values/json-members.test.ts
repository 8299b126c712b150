import fc from "fast-check";
import { expect, test } from "vitest";
import { Bytes } from "./bytes.ts";
import { MemberNames, Members } from "./json-members.ts";

const names = ["a", "amount", "amounts", "payer", "bytes", "x".repeat(40)];
const known = new MemberNames();
const numbers = names.map((name) => known.add(name));

/** Names that are known, nearly known, or contain characters that JSON escapes. */
const name = fc.oneof(fc.constantFrom(...names, "amoun", "amouns", 'a"', "\\a", "ä"), fc.string());
const object = fc.dictionary(name, fc.jsonValue({ stringUnit: "grapheme" }));
/** An object as JSON.stringify writes it, and as PostgreSQL does. */
const written = object.chain((value) =>
  fc.constantFrom(
    JSON.stringify(value),
    `{${Object.entries(value)
      .map(([key, member]) => `${JSON.stringify(key)}: ${JSON.stringify(member)}`)
      .join(", ")}}`,
  ),
);

test("finds the text of each member of any object, and where the object ends", () => {
  const members = new Members(known);
  fc.assert(
    fc.property(written, fc.string(), (text, before) => {
      const bytes = Bytes.from(`${before}${text}\n{"a":1}`);
      const start = Buffer.byteLength(before);
      const end = members.find(bytes, start);
      expect(bytes.buffer.subarray(start, end).toString()).toBe(text);
      const parsed = JSON.parse(text);
      const found = numbers.map((number) => members.textOf(number));
      const expected = names.map((one) =>
        Object.hasOwn(parsed, one) ? JSON.stringify(parsed[one]) : undefined,
      );
      expect(found.map((one) => one && JSON.stringify(JSON.parse(one)))).toEqual(expected);
    }),
  );
});

test("keeps a number as it is written", () => {
  const members = new Members(known);
  members.find(Bytes.from('{"amount": 9007199254740993.10, "a": 1}'), 0);
  expect(members.textOf(numbers[1] as number)).toBe("9007199254740993.10");
});

test("a name that is added later is found in the next object", () => {
  const later = new MemberNames();
  const members = new Members(later);
  const bytes = Bytes.from('{"b": 2}');
  members.find(bytes, 0);
  const number = later.add("b");
  expect(members.textOf(number)).toBeUndefined();
  members.find(bytes, 0);
  expect(members.textOf(number)).toBe("2");
  expect(later.add("b")).toBe(number);
});
