import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openProjectCopy, type ProjectCopy, redocly } from "../../testing/project.ts";

let copy: ProjectCopy;
beforeAll(async () => {
  copy = await openProjectCopy();
});
afterAll(() => copy[Symbol.asyncDispose]());

/** What the linter says of the contracts when a text in one of them is another. */
async function lint(file: string, text: string | RegExp, other: string): Promise<string> {
  const path = join(copy.folder, "generated", file);
  const right = await readFile(path, "utf8");
  const wrong = right.replace(text, other);
  expect(wrong).not.toBe(right);
  await writeFile(path, wrong);
  const { code, output, errors } = await redocly(["lint", "--format=stylish"], copy.folder);
  await writeFile(path, right);
  return code === 0 ? "nothing" : output + errors;
}

test.each([
  [
    "an operation without a verb",
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
    "an operation that does not say who may call it",
    /( {6}tags: \[ events \]\n) +security:\n.*\n/,
    "$1",
    "operations-say-who-may-call",
  ],
  ["an error that is not declared", /( {8}"405":\n.*\n)( {8}"431":\n.*\n)/, "$1", "errors-are-declared"],
  [
    "parameters of a path",
    "  /v1/event/{eventId}:\n",
    "  /v1/event/{eventId}:\n    parameters: []\n",
    "parameters-belong-to-operations",
  ],
  ["a parameter without an example", "          example: 17\n", "", "parameters-have-an-example"],
  [
    "a parameter's example of another type",
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
    "an example with a member that is not declared",
    "        event_id: 17\n",
    "        event_id: 17\n        colour: red\n",
    "no-invalid-media-type-examples",
  ],
  [
    "an example that is not in the enum",
    "{ status: created, finished: false }",
    "{ status: create, finished: false }",
    "no-invalid-media-type-examples",
  ],
  [
    "an example with a day that is not",
    'settled_date: "2024-03-11"',
    'settled_date: "2024-02-31"',
    "no-invalid-media-type-examples",
  ],
  [
    "a schema's example of another type",
    "      examples: [ 17 ]",
    "      examples: [ many ]",
    "no-invalid-schema-examples",
  ],
  [
    "a member that is not described",
    ", description: Number of matches on all pages.",
    "",
    "schemas-are-described",
  ],
  ["a version that is none", "version: ", "version: banana", "versions-are-semantic"],
  [
    "a schema that is not described",
    "      description: An opaque identifier of 1 to 255 characters without NUL.\n",
    "",
    "schemas-are-described",
  ],
  [
    "a parameter that is not described",
    "          description: Number of the event.\n",
    "",
    "parameter-description",
  ],
  ["a bad request that is not declared", /( {8}"400":\n.*\n)( {8}"405":\n)/, "$2", "errors-are-declared"],
  [
    "a verb that does not end",
    "operationId: getEvent\n",
    "operationId: getevent\n",
    "operation-ids-are-verbs",
  ],
  [
    "a body with no example",
    /examples:\n +created:\n +\$ref: "#\/components\/examples\/Event"\n/,
    "examples: {}\n",
    "bodies-have-examples",
  ],
  [
    "a schema that is not used",
    "    SearchText:\n",
    "    Unused:\n      description: Nobody's.\n      type: string\n    SearchText:\n",
    "no-unused-components",
  ],
])("the contract's linter finds %s", async (_name, text, other, rule) => {
  expect(await lint("ledger.yaml", text, other)).toContain(rule);
});
