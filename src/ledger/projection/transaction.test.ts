import { expect, test } from "vitest";
import { events, projectTransactions } from "./events.fixture.ts";

// That events fold into what the contract says, in any order, is in `../tests/model.test.ts`.

const row = (details: object) => projectTransactions(events("payment", "pay", ["10:00", "A", details]))[0];

test.each<[string, object, string[] | null]>([
  ["texts in lower case, each once", { a: "North", b: 2, c: true, d: "north" }, ["2", "north", "true"]],
  ["texts of up to 255 characters", { a: "x".repeat(256), b: "y".repeat(255) }, ["y".repeat(255)]],
  ["no objects", { a: { b: 1 } }, null],
  ["null without metadata", {}, null],
])("metadata values for searches are %s", (_title, external_metadata, metadata_values) => {
  expect(row({ external_metadata })).toMatchObject({ metadata_values });
});

test("a member named __proto__ is an ordinary member", () => {
  expect(row(JSON.parse('{"__proto__":{"email":"x"}}'))).toMatchObject({ email: null });
});
