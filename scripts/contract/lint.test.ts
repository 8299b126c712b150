import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openProjectCopy, type ProjectCopy, redocly } from "../../testing/project.ts";

let copy: ProjectCopy;
beforeAll(async () => {
  copy = await openProjectCopy();
});
afterAll(() => copy[Symbol.asyncDispose]());

/** Replaces a text in a contract and returns the output of the linter, or "nothing" if it passes. */
async function lint(file: string, from: string | RegExp, to: string): Promise<string> {
  const path = join(copy.folder, "generated", file);
  const original = await readFile(path, "utf8");
  const changed = original.replace(from, to);
  expect(changed).not.toBe(original);
  await writeFile(path, changed);
  const [name = ""] = file.split(".");
  const { code, output, errors } = await redocly(["lint", "--format=stylish", name], copy.folder);
  await writeFile(path, original);
  return code === 0 ? "nothing" : output + errors;
}

test.each([
  [
    "an operation id without a verb",
    "operationId: getEvent\n",
    "operationId: event\n",
    "operation-ids-are-verbs",
  ],
  [
    "an operation without a description",
    /(summary: Get an event\n) +description: \|\n.*\n.*\n/,
    "$1",
    "operation-description",
  ],
  [
    "an operation without security",
    /( {6}operationId: getEvent\n {6}tags:.*\n) +security:\n.*\n/,
    "$1",
    "operations-say-who-may-call",
  ],
  ["an undeclared error", /( {8}"405":\n.*\n)( {8}"431":\n.*\n)/, "$1", "errors-are-declared"],
  [
    "parameters of a path item",
    "  /v1/event/{eventId}:\n",
    "  /v1/event/{eventId}:\n    parameters: []\n",
    "parameters-belong-to-operations",
  ],
  ["a parameter without an example", "          example: 17\n", "", "parameters-have-an-example"],
  [
    "a parameter with an example of another type",
    "          example: 17\n",
    "          example: many\n",
    "no-invalid-parameter-examples",
  ],
  [
    "a body without examples",
    / +examples:\n +created:\n +\$ref: "#\/components\/examples\/Event"\n/,
    "",
    "bodies-have-examples",
  ],
  [
    "an example without a required member",
    "        event_id: 17\n        event_type",
    "        event_type",
    "no-invalid-media-type-examples",
  ],
  [
    "an example with an undeclared member",
    "      value:\n        event_id: 17\n",
    "      value:\n        event_id: 17\n        colour: red\n",
    "no-invalid-media-type-examples",
  ],
  [
    "an example with a value outside the enum",
    "{ status: created, finished: false }",
    "{ status: create, finished: false }",
    "no-invalid-media-type-examples",
  ],
  [
    "an example with a date that does not exist",
    'settled_date: "2024-03-11"',
    'settled_date: "2024-02-31"',
    "no-invalid-media-type-examples",
  ],
  [
    "a schema with an example of another type",
    "      examples: [ 17 ]",
    "      examples: [ many ]",
    "no-invalid-schema-examples",
  ],
  [
    "a member without a description",
    ", description: Number of matches on all pages.",
    "",
    "schemas-are-described",
  ],
  ["an invalid version", "version: ", "version: banana", "versions-are-semantic"],
  [
    "a schema without a description",
    "      description: An opaque identifier of 1 to 255 characters without NUL.\n",
    "",
    "schemas-are-described",
  ],
  [
    "a parameter without a description",
    "          description: Number of the event.\n",
    "",
    "parameter-description",
  ],
  ["an undeclared bad request", /( {8}"400":\n.*\n)( {8}"405":\n)/, "$2", "errors-are-declared"],
  [
    "an operation id in lower case",
    "operationId: getEvent\n",
    "operationId: getevent\n",
    "operation-ids-are-verbs",
  ],
  [
    "a body with an empty list of examples",
    /examples:\n +created:\n +\$ref: "#\/components\/examples\/Event"\n/,
    "examples: {}\n",
    "bodies-have-examples",
  ],
  [
    "a set",
    "          type: array\n          items:",
    "          type: array\n          uniqueItems: true\n          items:",
    "lists-keep-their-order",
  ],
  [
    "a constant that is no text",
    "          x-const: null\n",
    "          const: null\n",
    "schemas-can-be-generated",
  ],
  [
    "an enum with both letter cases",
    "enum: [ PAYMENT, REFUND, DISPUTE ]",
    "enum: [ PAYMENT, payment ]",
    "schemas-can-be-generated",
  ],
  [
    "a schema that only refers to another one",
    "    Day:\n      description: A calendar day.\n",
    '    Day:\n      $ref: "#/components/schemas/ExternalId"\n      description: A calendar day.\n',
    "schemas-can-be-generated",
  ],
  [
    "two enums with the same name of a value",
    /( {6}enum: \[ payment, .*\n)( {6}x-enum-varnames:\n(?: {8}- .*\n)+)/,
    "$1",
    "enum-names-are-unique",
  ],
  [
    "an alternative without a type of its own",
    "enum: [ REFUND ]",
    "enum: [ REFUND, OTHER ]",
    "alternatives-differ",
  ],
  [
    "an instant with a pattern",
    "      x-fraction-digits: 3\n",
    "      x-fraction-digits: 3\n      pattern: Z$\n",
    "received-dates-have-no-pattern",
  ],
  [
    "an unused schema",
    "    SearchText:\n",
    "    Unused:\n      description: Nothing refers to it.\n      type: string\n    SearchText:\n",
    "no-unused-components",
  ],
])("the linter reports %s", async (_name, from, to, rule) => {
  expect(await lint("ledger.yaml", from, to)).toContain(rule);
});

test("the linter reports a member of a message that has no description of its own", async () => {
  const reference = "allOf:\n            - $ref: '#/components/schemas/LenientPence'\n";
  expect(
    await lint(
      "payment-events.asyncapi.yaml",
      `          description: Amount without the fee.\n          ${reference}`,
      "          $ref: '#/components/schemas/LenientPence'\n",
    ),
  ).toContain("net_amount has no description of its own");
});

test("the linter reports a member of a request body without a type", async () => {
  expect(await lint("features.yaml", /(targetingKey:\n.*\n) +type: string\n/, "$1")).toContain(
    "sent-members-have-a-type",
  );
});
