import { expect, test } from "vitest";
import type { Contract } from "../../../src/contract/operations.ts";
import { compiled, itemsCoveredBy, itemsOf } from "./coverage.ts";

const optional = {
  colour: { type: "string", enum: ["red", "blue"] },
  size: { type: ["integer", "null"] },
  parts: { type: "array", items: { $ref: "#/components/schemas/Shape" } },
  weight: { anyOf: [{ type: "number" }, { type: "string" }] },
  round: { type: "boolean" },
};
const properties = { kind: { type: "string", const: "shape" }, ...optional };
const contract: Contract = {
  openapi: "3.1.0",
  info: { title: "Shapes", version: "1.0.0" },
  paths: {},
  components: { schemas: { Shape: { type: "object", required: ["kind"], properties } } },
};
const compiledContract = compiled(contract);
const shape = { $ref: "#/components/schemas/Shape" };
const uncovered = (...values: object[]) => {
  const covered = values.map((value) => itemsCoveredBy(compiledContract, "shape", shape, value));
  const items = [...itemsOf(compiledContract, "shape", shape)];
  return items.filter((item) => !covered.some((set) => set.has(item))).sort();
};

test("the items of a schema are its optional members, enum values, types and alternatives", () => {
  expect(uncovered()).toEqual([
    ...['Shape.colour: the value "blue"', 'Shape.colour: the value "red"'],
    ...["Shape.round: the value false", "Shape.round: the value true"],
    ...["Shape.size: a value of type integer", "Shape.size: a value of type null"],
    ...["Shape.weight: alternative 1", "Shape.weight: alternative 2"],
    ...["colour", "kind", "parts", "round", "size", "weight"].map((member) => `Shape: with ${member}`),
    ...["colour", "parts", "round", "size", "weight"].map((member) => `Shape: without ${member}`),
  ]);
});

test("values cover items, nested values too", () => {
  const minimal = { kind: "shape" };
  const full = { kind: "shape", colour: "red", size: null, weight: 2, round: true };
  expect(uncovered(minimal, { ...minimal, parts: [full] })).toEqual([
    ...['Shape.colour: the value "blue"', "Shape.round: the value false"],
    ...["Shape.size: a value of type integer", "Shape.weight: alternative 2"],
  ]);
  const other = { kind: "shape", colour: "blue", size: 3, weight: "heavy", round: false, parts: [] };
  expect(uncovered(minimal, full, other)).toEqual([]);
});
