import fc from "fast-check";
import { expect, test } from "vitest";
import { fragmentOf, readFragment } from "./fragment.ts";

test("a place is the same after it was in the address bar", () => {
  const name = fc.string({ minLength: 1, unit: "grapheme" });
  const parameters = fc.dictionary(fc.constantFrom("reference", "state", "account_id"), name);
  fc.assert(
    fc.property(fc.array(name), parameters, (path, given) => {
      const { hash } = new URL(fragmentOf(path, given), "http://127.0.0.1/console");
      const place = readFragment(hash);
      expect(place.path).toEqual(path);
      expect(Object.fromEntries(place.parameters)).toEqual(given);
    }),
  );
});

test("empty parameters are left out, and a list is one value", () => {
  expect(fragmentOf(["transactions"], { state: "", email: undefined, card_brands: ["visa", "jcb"] })).toBe(
    "#/transactions?card_brands=visa%2Cjcb",
  );
});

test.each(["", "#", "#/", "#/?", "#//"])("the fragment %j is the start page", (fragment) => {
  expect(readFragment(fragment).path).toEqual([]);
});

test("a malformed escape is kept", () => {
  expect(readFragment("#/transactions/100%").path).toEqual(["transactions", "100%"]);
});
