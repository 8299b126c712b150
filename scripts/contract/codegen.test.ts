import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { contractsIn, openProjectCopy, type ProjectCopy } from "../../testing/project.ts";

let copy: ProjectCopy;
beforeEach(async () => {
  copy = await openProjectCopy();
});
afterEach(() => copy[Symbol.asyncDispose]());
const path = (file: string) => join(copy.folder, file);

const codegen = (...args: string[]) => copy.run("scripts/contract/codegen.ts", args);

/** Replaces the contracts of the copy with a small one. */
async function writeOnlyContract(text: string): Promise<void> {
  for (const file of await contractsIn(path("openapi"))) await rm(path(`openapi/${file}`));
  await writeFile(path("openapi/odd.yaml"), text);
}

test("the check fails and names stale files until codegen has updated them", async () => {
  expect(await codegen("--check")).toMatchObject({ code: 0, output: expect.stringContaining("up to date") });
  const contract = await readFile(path("openapi/ledger.yaml"), "utf8");
  await writeFile(
    path("openapi/ledger.yaml"),
    contract.replace("A message of the queue", "A message of a queue"),
  );
  await writeFile(path("generated/left-over.ts"), "");
  const stale = [
    "ledger.yaml",
    "ledger.json",
    "ledger.ts",
    "payment-events.asyncapi.yaml",
    "payment-events.html",
    "left-over.ts",
  ];
  const names = stale.map((name) => `generated/${name}`).join(", ");
  for (const _ of ["first", "second"]) {
    expect(await codegen("--check")).toEqual({
      code: 1,
      output: "",
      errors: `codegen: not up to date: ${names}; run npm run codegen\n`,
    });
  }
  expect(await codegen()).toMatchObject({ code: 0, output: `wrote or removed ${names}\n` });
  expect(await readdir(path("generated"))).not.toContain("left-over.ts");
  expect(await codegen("--check")).toMatchObject({ code: 0 });
});

test("an invalid contract is an error", async () => {
  await writeOnlyContract("openapi: 3.1.0\ninfo: { title: Odd }\npaths: {}\n");
  expect(await codegen()).toMatchObject({ code: 1, errors: expect.stringContaining("version") });
});

test.each([
  ["components/schemas/Page", "{ type: integer, minimum: many }"],
  ["getOdd: page", "{ type: int }"],
])("a schema that is invalid (%s) is an error that names its place", async (place, schema) => {
  const inPlace = (at: string, other: string) => (at === place ? schema : other);
  await writeOnlyContract(
    `openapi: 3.1.0
info: { title: Odd, version: 1.0.0 }
paths:
  /odd:
    get:
      operationId: getOdd
      parameters:
        - { name: page, in: query, schema: ${inPlace("getOdd: page", "{}")} }
      responses:
        "204": { description: Nothing. }
components:
  schemas:
    Page: ${inPlace("components/schemas/Page", "{}")}
`,
  );
  expect(await codegen()).toMatchObject({ code: 1, errors: expect.stringContaining(`${place}: data/`) });
});

test.each([
  ["ODD_STARTED is listed twice", "ODD_ENDED", "ODD_STARTED"],
  ["ODD_ENDED has no description", ", description: It ended.", ""],
  ["colour is not a member of EventDetails", "details: [size]", "details: [size, colour]"],
  [
    "colour is a member of EventDetails, and no event type has it",
    "{ size: {} }",
    "{ size: {}, colour: {} }",
  ],
])("a table of event types of which %s is an error", async (error, from, to) => {
  const contract = `openapi: 3.1.0
info: { title: Odd, version: 1.0.0 }
paths: {}
x-event-types:
  odd:
    rows:
      - { event_type: ODD_STARTED, description: It started., details: [size] }
      - { event_type: ODD_ENDED, description: It ended. }
components:
  schemas:
    EventDetails: { type: object, properties: { size: {} } }
`;
  expect(contract).toContain(from);
  await writeOnlyContract(contract.replace(from, to));
  expect(await codegen("--check")).toMatchObject({ code: 1, errors: `codegen: x-event-types: ${error}\n` });
});

test("the types use bigint for large integers and require parameters with a default", async () => {
  await writeOnlyContract(
    `openapi: 3.1.0
info: { title: Odd, version: 1.0.0 }
paths:
  /odd:
    get:
      operationId: getOdd
      parameters:
        - { name: page, in: query, schema: { $ref: "#/components/schemas/Page" } }
        - { name: size, in: query, schema: { type: integer } }
      responses:
        "200":
          description: Numbers.
          content:
            application/json:
              schema:
                type: object
                required: [id, parent, pence]
                properties:
                  id: { type: integer, format: int64 }
                  parent: { type: [integer, "null"], format: int64 }
                  pence: { type: integer, format: int64, minimum: 0, maximum: 9007199254740991 }
components:
  schemas:
    Page: { type: integer, default: 1 }
`,
  );
  expect(await codegen()).toMatchObject({ code: 0 });
  const types = await readFile(path("generated/odd.ts"), "utf8");
  expect(types).toMatch(/\bid: bigint;/);
  expect(types).toMatch(/\bparent: bigint \| null;/);
  expect(types).toMatch(/\bpence: number;/);
  expect(types).toMatch(/\bsize\?: number;/);
  expect(types).toContain('page: components["schemas"]["Page"];');
  const defaults = await readFile(path("generated/odd.defaults.ts"), "utf8");
  expect(defaults).toMatch(/"getOdd": \{\s+"page": 1\s+\}/);
});

test("the operations of the client say which calls can be repeated and where integers are large", async () => {
  const contract = `openapi: 3.1.0
info: { title: Odd, version: 1.0.0 }
paths:
  /odd/{id}:
    get:
      operationId: getOdd
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
        - { name: ids, in: query, explode: false, schema: { type: array, items: { type: string } } }
      responses:
        "200":
          description: A tree.
          content:
            application/json:
              schema: { $ref: "#/components/schemas/Node" }
        "404": { description: None. }
    delete:
      operationId: removeOdd
      responses:
        "204": { description: Nothing. }
    post:
      operationId: addOdd
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses:
        "201": { description: Text., content: { text/plain: { schema: { type: string } } } }
  /query:
    post:
      operationId: hasOdd
      x-idempotent: true
      responses:
        "200": { description: Numbers., content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Id" } } } } }
components:
  schemas:
    Id: { type: integer, format: int64 }
    Node:
      oneOf:
        - { type: object, properties: { id: { $ref: "#/components/schemas/Id" }, pence: { type: integer } } }
        - { type: object, properties: { children: { type: array, items: { $ref: "#/components/schemas/Node" } } } }
        - { type: object, properties: { ids: { type: array, items: { type: [integer, "null"], format: int64 } } } }
`;
  await writeOnlyContract(contract);
  expect(await codegen()).toMatchObject({ code: 1, errors: expect.stringContaining("contains itself") });
  await writeOnlyContract(contract.replace('items: { $ref: "#/components/schemas/Node" }', ""));
  expect(await codegen()).toMatchObject({ code: 0 });
  const { operations } = await import(path("generated/odd.operations.ts"));
  const none = { parameters: [], hasBody: false };
  expect(operations).toEqual([
    {
      ...{ operationId: "getOdd", method: "GET", path: "/odd/{id}", hasBody: false, isIdempotent: true },
      parameters: [
        { name: "id", in: "path" },
        { name: "ids", isJoined: true },
      ],
      successes: { 200: { type: "json", bigints: [["id"], ["ids", "*"]] } },
    },
    {
      ...{ operationId: "removeOdd", method: "DELETE", path: "/odd/{id}", isIdempotent: true, ...none },
      successes: { 204: { type: "none", bigints: [] } },
    },
    {
      ...{ operationId: "addOdd", method: "POST", path: "/odd/{id}", isIdempotent: false, ...none },
      hasBody: true,
      successes: { 201: { type: "text", bigints: [] } },
    },
    {
      ...{ operationId: "hasOdd", method: "POST", path: "/query", isIdempotent: true, ...none },
      successes: { 200: { type: "json", bigints: [["*"]] } },
    },
  ]);
});
