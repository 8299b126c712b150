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

const examples = / +examples:\n +created:\n +\$ref: "#\/components\/examples\/Event"\n/;
const unused = "    Unused:\n      description: Nothing refers to it.\n      type: string\n";
const reference = `    Day:\n      $ref: "#/components/schemas/ExternalId"\n`;

const describedFee =
  /description: Amount without the fee.\n +allOf:\n +- (\$ref: '#\/components\/schemas\/LenientPence'\n)/;

/** By the rule or text that reports them: texts of a contract, by default the ledger's, and what replaces them. */
const violations: Record<string, [from: string | RegExp, to: string, file?: string][]> = {
  "operation-ids-are-verbs": [
    ["operationId: getEvent\n", "operationId: event\n"],
    ["operationId: getEvent\n", "operationId: getevent\n"],
  ],
  "operation-description": [[/(summary: Get an event\n) +description: \|\n.*\n.*\n/, "$1"]],
  "operations-say-who-may-call": [[/( {6}operationId: getEvent\n {6}tags:.*\n) +security:\n.*\n/, "$1"]],
  "errors-are-declared": [
    [/ {8}"400":\n.*\n( {8}"421":\n)/, "$1"],
    [/ {8}"500":\n.*\n( {8}"503":\n)/, "$1"],
    [/( {8}"500":\n.*\n) {8}"503":\n.*\n/, "$1"],
  ],
  "parameters-belong-to-operations": [["  /v1/event/{eventId}:\n", "$&    parameters: []\n"]],
  "parameters-have-an-example": [["          example: 17\n", ""]],
  "no-invalid-parameter-examples": [["          example: 17\n", "          example: many\n"]],
  "bodies-have-examples": [
    [examples, ""],
    [examples, "          examples: {}\n"],
  ],
  "no-invalid-media-type-examples": [
    ["        event_id: 17\n        event_type", "        event_type"],
    ["      value:\n        event_id: 17\n", "$&        colour: red\n"],
    ["{ status: created, finished: false }", "{ status: create, finished: false }"],
    ['settled_date: "2024-03-11"', 'settled_date: "2024-02-31"'],
  ],
  "no-invalid-schema-examples": [["      examples: [ 17 ]", "      examples: [ many ]"]],
  "schemas-are-described": [
    [", description: Number of matches on this page.", ""],
    ["      description: An opaque identifier of 1 to 255 characters without NUL.\n", ""],
  ],
  "versions-are-semantic": [["version: ", "version: banana"]],
  "parameter-description": [["          description: Number of the event.\n", ""]],
  "lists-keep-their-order": [["\n          maxItems: 1000\n", "$&          uniqueItems: true\n"]],
  "schemas-can-be-generated": [
    ["          x-const: null\n", "          const: null\n"],
    ["enum: [ PAYMENT, REFUND, DISPUTE ]", "enum: [ PAYMENT, payment ]"],
    ["    Day:\n", reference.replace("$", "$$$$")],
  ],
  "enum-names-are-unique": [[/( {6}enum: \[ payment, .*\n)( {6}x-enum-varnames:\n(?: {8}- .*\n)+)/, "$1"]],
  "alternatives-differ": [["enum: [ REFUND ]", "enum: [ REFUND, OTHER ]"]],
  "the values of all alternatives": [["enum: [ PAYMENT, REFUND, DISPUTE ]", "enum: [ PAYMENT, REFUND ]"]],
  "scalar-alternatives-are-one-of": [[/(LenientBoolean:\n.*\n +)oneOf/, "$1anyOf"]],
  "formats-have-no-pattern": [
    ["      x-fraction-digits: 3\n", "$&      pattern: Z$$\n"],
    ["          x-rfc-3339: true\n", "          pattern: Z$$\n"],
  ],
  "patterns-have-no-control-characters": [
    ["      x-excluded-characters: NUL\n", "      pattern: '^[^\\x00]*$$'\n"],
    ["      x-excluded-characters: NUL\n", '      pattern: "^[^\\x7f]*$$"\n'],
  ],
  "named-values-have-no-default": [["enum: [ open, discarded ]\n", "$&      default: open\n"]],
  "no-unused-components": [["    SearchText:\n", `${unused}$&`]],
  "sent-members-have-a-type": [[/(targetingKey:\n.*\n) +type: string\n/, "$1", "features.yaml"]],
  "responses-are-bounded": [
    // In a header, in a response that no operation lists, in a list, and by one of two bounds of an integer.
    ["schema: { type: string, maxLength: 65536 }", "schema: { type: string }"],
    ["          maxLength: 100\n        example: GET", "        example: GET"],
    [/( {8}events:\n {10}description: The events\..*\n {10}type: array\n) {10}maxItems: 1000\n/, "$1"],
    ["items: { type: string, maxLength: 32768 }", "items: { type: string }"],
    ["schema: { type: integer, minimum: 1, maximum: 60 }", "schema: { type: integer, minimum: 1 }"],
    [/( {10}maxItems: 1\n)( {10}items:\n.*EventStream)/, "$2", "features.yaml"],
  ],
  "models-have-names": [["      title: CloudEvent\n", "", "payment-events.asyncapi.yaml"]],
  "net_amount has no description of its own": [[describedFee, "$1", "payment-events.asyncapi.yaml"]],
};
const cases = Object.entries(violations).flatMap(([report, changes]) =>
  changes.map(([from, to, file = "ledger.yaml"]) => [report, file, from, to] as const),
);

test.each(cases)("the linter reports %s (%s, case %#)", async (report, file, from, to) => {
  expect(await lint(file, from, to)).toContain(report);
});
