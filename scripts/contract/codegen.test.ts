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

/** Runs codegen on a small contract in place of those of the copy. */
async function codegenOf(text: string) {
  for (const file of await contractsIn(path("openapi"))) await rm(path(`openapi/${file}`));
  await writeFile(path("openapi/odd.yaml"), text);
  return codegen();
}

test("the check fails and names stale files until codegen has updated them", async () => {
  expect(await codegen("--check")).toMatchObject({ code: 0, output: expect.stringContaining("up to date") });
  const contract = await readFile(path("openapi/ledger.yaml"), "utf8");
  await writeFile(
    path("openapi/ledger.yaml"),
    contract.replace("message of the queue", "message of a queue"),
  );
  await writeFile(path("generated/left-over.ts"), "");
  const stale = [
    ...["ledger.yaml", "ledger.json", "ledger.ts"],
    ...["payment-events.asyncapi.yaml", "payment-events.html", "payment-events.md", "left-over.ts"],
  ];
  const names = stale.map((name) => `generated/${name}`).join(", ");
  const errors = `codegen: not up to date: ${names}; run npm run codegen\n`;
  for (const _ of ["first", "second"])
    expect(await codegen("--check")).toEqual({ code: 1, output: "", errors });
  expect(await codegen()).toMatchObject({ code: 0, output: `wrote or removed ${names}\n` });
  expect(await readdir(path("generated"))).not.toContain("left-over.ts");
  expect(await codegen("--check")).toMatchObject({ code: 0 });
});

test("the schemas to be read are those that the migrations create", async () => {
  const schema = "src/ledger/tables/schema.sql";
  const text = await readFile(path(schema), "utf8");
  await writeFile(path(schema), text.replace("CREATE TABLE payout (", "CREATE TABLE edited ("));
  const errors = `codegen: not up to date: ${schema}; run npm run codegen\n`;
  expect(await codegen("--check")).toEqual({ code: 1, output: "", errors });

  await writeFile(
    path("src/ledger/tables/migrations/9001-thing.sql"),
    `create table thing (id bigint primary key, name text default 'none');
    comment on table thing is 'A thing.'; comment on column thing.name is 'Its name.';
    create index thing_name on thing (name)`,
  );
  expect(await codegen()).toMatchObject({ code: 0, output: `wrote or removed ${schema}\n` });
  const current = await readFile(path(schema), "utf8");
  expect(current).not.toContain("edited");
  expect(current).toContain(`
-- A thing.
CREATE TABLE thing (
  id bigint NOT NULL,
  -- Its name.
  name text DEFAULT 'none'::text,
  CONSTRAINT thing_pkey PRIMARY KEY (id)
);
CREATE INDEX thing_name ON thing USING btree (name);
`);

  const number = path("src/features/store/postgres/migrations/9001-number.sql");
  for (const [statement, error] of [
    [
      "create materialized view feature_storage.number as select 1",
      "does not describe the kind of feature_storage.number",
    ],
    [
      "create sequence feature_storage.number",
      "no migration has a comment on SEQUENCE feature_storage.number",
    ],
    ["create view feature_storage.one as select 1", "no migration has a comment on VIEW feature_storage.one"],
  ] as const) {
    await writeFile(number, statement);
    expect(await codegen()).toMatchObject({ code: 1, errors: expect.stringContaining(error) });
  }
});

/** A contract with each kind of thing that codegen validates. */
const odd = `openapi: 3.1.0
info: { title: Odd, version: 1.0.0 }
x-problems:
  odd-request: { status: 400, title: It is odd, description: It is., advice: Send another one., example: it is odd }
x-error-formats:
  default: [{ media-type: application/problem+json, schema: Problem, example: { type: "{type}" } }]
x-keywords:
  description: Keywords of the contract.
  operations: { description: Of operations., rows: [{ keyword: "\`x-idempotent\`", meaning: It can be repeated. }] }
x-event-types:
  odd:
    rows:
      - { event_type: ODD_STARTED, description: It started., details: [size] }
      - { event_type: ODD_ENDED, description: It ended. }
paths:
  /odd/{id}:
    get:
      operationId: getOdd
      parameters:
        - { name: id, in: path, required: true, schema: { type: string } }
        - { name: ids, in: query, explode: false, schema: { type: array, items: { type: string } } }
        - { name: page, in: query, schema: { $ref: "#/components/schemas/Page" } }
      responses:
        "200": { description: A tree., content: { application/json: { schema: { $ref: "#/components/schemas/Node" } } } }
        "404": { description: None. }
    delete:
      operationId: removeOdd
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { "204": { description: Nothing. } }
    post: { operationId: addOdd, responses: { "204": { description: Nothing. } } }
  /query:
    post:
      operationId: hasOdd
      x-idempotent: true
      responses:
        "200": { description: Numbers., content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Id" } } } } }
    put:
      operationId: setOdd
      requestBody: { content: { application/json: { schema: { type: object } } } }
      responses: { "201": { description: Text., content: { text/plain: { schema: { type: string } } } } }
components:
  schemas:
    EventDetails: { type: object, properties: { size: {} } }
    Page: { type: integer, default: 1 }
    Id: { type: integer, format: int64 }
    Node:
      oneOf:
        - { type: object, required: [id], properties: { id: { $ref: "#/components/schemas/Id" }, count: { type: integer } } }
        - { type: object, properties: { children: { type: array } } }
        - { type: object, required: [ids, parent, pence], properties: {
              ids: { type: array, items: { type: [integer, "null"], format: int64 } },
              parent: { type: [integer, "null"], format: int64 },
              pence: { type: integer, format: int64, minimum: 0, maximum: 9007199254740991 } } }
`;
const tree = 'children: { type: array, items: { $ref: "#/components/schemas/Node" } }';

test.each([
  ["version", ", version: 1.0.0", ""],
  ["components/schemas/Page: data/", "default: 1", "minimum: many"],
  ["getOdd: ids: data/", "type: array, items: { type: string }", "type: int"],
  ["setOdd: body: data/", "schema: { type: object }", "schema: { type: objects }"],
  [
    "getOdd: ids has a pattern without x-pattern-description: ^a",
    "type: array, items: { type: string }",
    "type: array, items: { type: string, pattern: ^a }",
  ],
  ["hasOdd: 200: data/", "type: array, items: { $ref", "type: list, items: { $ref"],
  [
    "reference to another file",
    'schema: { $ref: "#/components/schemas/Page" }',
    'schema: { $ref: "other.yaml#/components/schemas/Page" }',
  ],
  ["x-keywords must list what is used, but for x-idempotent\n", "      x-idempotent: true\n", ""],
  [
    "x-keywords must list what is used, but for x-new\n",
    "      x-idempotent: true\n",
    "$&      x-new: true\n",
  ],
  ["ODD_STARTED is listed twice", "ODD_ENDED", "ODD_STARTED"],
  ["ODD_ENDED has no description", ", description: It ended.", ""],
  ["colour is not a member of EventDetails", "[size]", "[size, colour]"],
  ["hue is a member of EventDetails, and no event type has it", "{ size: {} }", "{ size: {}, hue: {} }"],
  ["a schema that contains itself", "children: { type: array }", tree],
  ["the problem odd-request has no example", ", example: it is odd", ""],
])("an error is %s", async (error, from, to) => {
  expect(odd).toContain(from);
  const { code, errors } = await codegenOf(odd.replace(from, to));
  expect([code, errors]).toEqual([1, expect.stringContaining(error)]);
});

test("types and operations know large integers, defaults, calls that can be repeated and kinds of problems", async () => {
  expect(await codegenOf(odd)).toMatchObject({ code: 0 });
  const types = await readFile(path("generated/odd.ts"), "utf8");
  expect(types).toMatch(/\bId: bigint;/);
  expect(types).toMatch(/\bparent: bigint \| null;/);
  expect(types).toMatch(/\bpence: number;/);
  expect(types).toMatch(/\bcount\?: number;/);
  expect(types).toContain('page: components["schemas"]["Page"];');
  const defaults = await readFile(path("generated/odd.defaults.ts"), "utf8");
  expect(defaults).toMatch(/"getOdd": \{\s+"page": 1\s+\}/);
  const { problems } = await import(path("generated/odd.problems.ts"));
  expect(problems).toEqual({ "odd-request": { status: 400, title: "It is odd" } });
  const { operations } = await import(path("generated/odd.operations.ts"));
  const of = (members: string[]) =>
    operations.map((operation: Record<string, unknown>) => members.map((member) => operation[member]));
  expect(of(["operationId", "method", "path", "hasBody", "isIdempotent"])).toEqual([
    ["getOdd", "GET", "/odd/{id}", undefined, undefined],
    ["removeOdd", "DELETE", "/odd/{id}", undefined, undefined],
    ["addOdd", "POST", "/odd/{id}", undefined, false],
    ["hasOdd", "POST", "/query", undefined, undefined],
    ["setOdd", "PUT", "/query", true, undefined],
  ]);
  const id = { name: "id", in: "path" };
  const none = { 204: { type: "none", bigints: [] } };
  expect(of(["parameters", "successes"])).toEqual([
    [
      [id, { name: "ids", isJoined: true }, { name: "page" }],
      { 200: { type: "json", bigints: [["id"], ["ids", "*"], ["parent"]] } },
    ],
    [[id], none],
    [[], none],
    [[], { 200: { type: "json", bigints: [["*"]] } }],
    [[], { 201: { type: "text", bigints: [] } }],
  ]);
});
