import fc from "fast-check";
import { expect, test } from "vitest";
import { Bytes } from "../values/bytes.ts";
import { JsonOutput } from "../values/json-output.ts";
import {
  constantWriter,
  ifNotEmpty,
  noWriter,
  objectWriter,
  orElse,
  valueWriter,
  type Writer,
} from "../values/json-writer.ts";
import { bodyOf, listBody } from "./json-body.ts";

interface Source {
  a?: unknown;
  b?: unknown;
}

const a = valueWriter((source: Source) => source.a);
const b = valueWriter((source: Source) => source.b);
/** A writer that writes before it returns that there is no value. */
const partOf = ifNotEmpty(objectWriter<Source, { b?: unknown }>({ b })) as Writer<Source, object, boolean>;

const write = objectWriter<Source, Record<"a" | "constant" | "part" | "never" | "other", unknown>>({
  a: a as never,
  constant: constantWriter("ä"),
  part: partOf as never,
  never: noWriter as never,
  other: orElse(partOf, constantWriter(null)),
});

const source = fc.record(
  { a: fc.jsonValue({ stringUnit: "grapheme" }), b: fc.jsonValue() },
  { requiredKeys: [] },
);

const viewed = (given: Source) => {
  const part = given.b === undefined ? undefined : { b: given.b };
  return { a: given.a, constant: "ä", part, other: part ?? null };
};

test("an object has the members that have a value, in their order, and is written like JSON.stringify", () => {
  fc.assert(
    fc.property(source, (given) => {
      expect(bodyOf(write, given).toString()).toBe(`${JSON.stringify(viewed(given))}\n`);
    }),
  );
});

test("an object without members is empty", () => {
  expect(bodyOf(objectWriter<Source, { a?: unknown }>({ a }), {}).toString()).toBe("{}\n");
});

test("a list has its elements among the other members, however many they are", async () => {
  const members = fc.dictionary(fc.constantFrom("x", "y"), fc.jsonValue(), { minKeys: 1 });
  await fc.assert(
    fc.asyncProperty(
      members,
      fc.array(source),
      fc.dictionary(fc.constant("z"), fc.jsonValue()),
      async (...given) => {
        const [before, elements, after] = given;
        const body = await listBody(before, "list", { elements, write }, after);
        const expected = { ...before, list: elements.map(viewed), ...after };
        expect(body.toString()).toBe(`${JSON.stringify(expected)}\n`);
      },
    ),
  );
});

test("an output grows with what is written, of any length and in any characters", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 200 })), fc.nat(10), (texts, expected) => {
      const out = new JsonOutput(expected);
      for (const text of texts) {
        const bytes = Bytes.from(`-${text}-`);
        out.text(text);
        out.ascii("|");
        out.copy(bytes, 1, bytes.length - 1);
      }
      expect(out.take().toString()).toBe(texts.map((text) => `${text}|${text}`).join(""));
    }),
  );
});
