import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Contract, follow, operationsOf } from "../src/service/operations.ts";
import { closeObjects } from "../src/service/reply-check.ts";
import { contractCompiler, describeFaults } from "../src/service/validation.ts";
import { generate } from "./codegen.ts";

type Node = Record<string, unknown>;

describe.each(["features", "ledger"])("the contract %s", (name) => {
  const contract = JSON.parse(
    readFileSync(new URL(`../generated/${name}.json`, import.meta.url), "utf8"),
  ) as Contract;
  const closed = closeObjects(contract) as Contract;
  const compile = contractCompiler(closed);

  test("is what was generated from the YAML", async () => {
    for (const [file, text] of await generate(new URL(`../openapi/${name}.yaml`, import.meta.url), name)) {
      expect(readFileSync(new URL(`../generated/${file}`, import.meta.url), "utf8")).toBe(text);
    }
  });

  /** Every place that has a schema and examples of it: the example with the pointer to the schema. */
  const examples: { place: string; schema: unknown; example: unknown }[] = [];
  const visit = (node: unknown, place: string): void => {
    if (typeof node !== "object" || node === null) return;
    const { schema, example, examples: named, properties, type } = node as Node;
    const isSchema =
      place.startsWith("#/components/schemas/") && (type !== undefined || properties !== undefined);
    const told = Array.isArray(named)
      ? named
      : Object.values((named as Node | undefined) ?? {}).map((one) => (follow(closed, one) as Node)?.value);
    if (schema !== undefined || isSchema) {
      for (const value of [...told, ...(example === undefined ? [] : [example])]) {
        examples.push({ place, schema: schema ?? node, example: value });
      }
    }
    for (const [key, child] of Object.entries(node)) if (key !== "examples") visit(child, `${place}/${key}`);
  };
  visit({ paths: closed.paths, components: closed.components }, "#");

  test("has examples, and every one conforms to its schema", () => {
    expect(examples.length).toBeGreaterThan(10);
    const faults = examples.flatMap(({ place, schema, example }) => {
      const validate = compile(schema as object);
      return validate(example) ? [] : describeFaults(validate.errors ?? [], (path) => place + path);
    });
    expect(faults).toEqual([]);
  });

  test("says of every operation, parameter and response what it is", () => {
    for (const { path, method, operationId, parameters, responses } of operationsOf(contract)) {
      const operation = contract.paths[path]?.[method.toLowerCase()] as Node;
      expect(operation, operationId).toMatchObject({
        summary: expect.any(String),
        description: expect.any(String),
      });
      for (const parameter of parameters) {
        expect(parameter, `${operationId} ${parameter.name}`).toHaveProperty("description");
      }
      for (const [status, response] of Object.entries(responses)) {
        expect(response, `${operationId} ${status}`).toHaveProperty("description");
        for (const content of Object.values(response.content ?? {}))
          expect(content).toHaveProperty("examples");
      }
      expect(Object.keys(responses), operationId).toEqual(
        expect.arrayContaining(["400", "405", "500", "503"]),
      );
      if (path.startsWith("/v1/")) {
        expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(["431", "504"]));
      }
    }
  });
});
