import { expect, test } from "vitest";
import type { Contract } from "../../../src/contract/operations.ts";
import { claimsOf, openReading, shownBy } from "./claims.ts";

const contract: Contract = {
  openapi: "3.1.0",
  info: { title: "Shapes", version: "1.0.0" },
  paths: {},
  components: {
    schemas: {
      Shape: {
        type: "object",
        required: ["kind"],
        properties: {
          kind: { type: "string", const: "shape" },
          colour: { type: "string", enum: ["red", "blue"] },
          size: { type: ["integer", "null"] },
          parts: { type: "array", items: { $ref: "#/components/schemas/Shape" } },
          weight: { anyOf: [{ type: "number" }, { type: "string" }] },
          round: { type: "boolean" },
        },
      },
    },
  },
};
const reading = openReading(contract);
const shape = { $ref: "#/components/schemas/Shape" };
const claims = claimsOf(reading, "it", shape);
const missing = (...values: object[]) =>
  [...claims]
    .filter((claim) => !values.some((value) => shownBy(reading, "it", shape, value).has(claim)))
    .sort();

test("a schema claims what it leaves open", () => {
  expect([...claims].sort()).toEqual([
    'Shape.colour: the value "blue"',
    'Shape.colour: the value "red"',
    "Shape.round: the value false",
    "Shape.round: the value true",
    "Shape.size: a value of type integer",
    "Shape.size: a value of type null",
    "Shape.weight: form 1",
    "Shape.weight: form 2",
    ...["colour", "kind", "parts", "round", "size", "weight"].map((member) => `Shape: with ${member}`),
    ...["colour", "parts", "round", "size", "weight"].map((member) => `Shape: without ${member}`),
  ]);
});

test("values show claims, also from deep inside", () => {
  const bare = { kind: "shape" };
  const rich = { kind: "shape", colour: "red", size: null, weight: 2, round: true };
  expect(missing(bare, { ...bare, parts: [rich] })).toEqual([
    'Shape.colour: the value "blue"',
    "Shape.round: the value false",
    "Shape.size: a value of type integer",
    "Shape.weight: form 2",
  ]);
  const other = { kind: "shape", colour: "blue", size: 3, weight: "heavy", round: false, parts: [] };
  expect(missing(bare, rich, other)).toEqual([]);
});
