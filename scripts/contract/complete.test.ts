import { expect, test } from "vitest";
import { parse } from "yaml";
import { completeContract } from "./complete.ts";

const written = `openapi: 3.1.0
x-problems:
  bad: { status: 400, title: Bad request, description: What., advice: Do. }
  odd: { status: 400, title: Odd request, description: What., advice: Do. }
  unknown: { status: 401, title: No token, description: What., advice: Do. }
  other: { status: 405, title: Other method, description: What., advice: Do. }
  late: { status: 408, title: Too late, description: What., advice: Do., example: it is late }
  full: { status: 400, title: Full, description: What., advice: Do., example: it is full }
x-common-responses:
  always: { "400": { $ref: "#/components/responses/Bad" } }
  with-security: { "401": { $ref: "#/components/responses/Unknown" } }
  with-request-body: { "413": { $ref: "#/components/responses/Large" } }
x-general-responses:
  "405": { description: Other., headers: { Allow: {} }, x-messages: { put: PUT is not allowed } }
  "408": { description: Late., content: {} }
x-error-formats:
  default:
    - { media-type: text/plain, schema: Line, example: "{message}\\n" }
    - media-type: application/problem+json
      schema: Problem
      example: { type: "{type}", title: "{title}", status: "{status}", detail: "{message}", errors: "{errors}" }
  json: [{ media-type: application/json, schema: Error, example: { code: "{status}", title: "{title}", all: ["{message}"] } }]
paths:
  /plain:
    get:
      tags: [plain]
      responses: { "200": { description: Yes. } }
    post:
      tags: [plain]
      security: [{ bearer: [] }]
      requestBody: { content: {} }
      responses: { "204": { description: Yes. }, "400": { description: Its own. } }
  /json:
    get:
      tags: [json]
      security: []
      responses: { "200": { description: Yes. } }
components:
  schemas:
    Problem: { properties: { type: { type: string } } }
  responses:
    Bad:
      description: Bad.
      x-messages:
        empty: { parameter: name, rule: { minLength: 1 }, detail: the name is empty, remedy: [] }
        odd: { problem: odd, detail: the name is odd }
    Unknown: { description: Unknown., headers: {}, x-messages: { none: no token } }
    Large: { description: Large. }
`;

const reference = (name: string) => ({ $ref: `#/components/responses/${name}` });
/** The content of a response in one format. */
function content(type: string, schema: string, values: object) {
  const examples = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
  return { [type]: { schema: { $ref: `#/components/schemas/${schema}` }, examples } };
}
const problem = (kind: string, title: string, status: number, detail: string) => ({
  ...{ type: `/problems/${kind}`, title, status, detail },
});
const errors = [{ parameter: "name", rule: { minLength: 1 }, detail: "the name is empty", remedy: [] }];
const problems = {
  bad: { ...problem("bad", "Bad request", 400, "the name is empty"), errors },
  odd: problem("odd", "Odd request", 400, "the name is odd"),
  unknown: problem("unknown", "No token", 401, "no token"),
  other: problem("other", "Other method", 405, "PUT is not allowed"),
  late: problem("late", "Too late", 408, "it is late"),
  full: problem("full", "Full", 400, "it is full"),
};

test("an operation gets the common responses that it does not declare, in its error formats", () => {
  const { yaml, contract } = completeContract(written);
  expect(parse(yaml)).toEqual(contract);
  const { paths, components, ...rest } = parse(yaml);
  expect(Object.keys(rest)).toEqual(["openapi", "x-problems", "x-general-responses"]);
  const yes = { description: "Yes." };
  expect(paths["/plain"].get.responses).toEqual({ "200": yes, "400": reference("Bad") });
  expect(paths["/plain"].post.responses).toEqual({
    ...{ "204": yes, "400": { description: "Its own." } },
    ...{ "401": reference("Unknown"), "413": reference("Large") },
  });
  expect(paths["/json"].get.responses["400"]).toEqual(reference("JsonBad"));
  const { bad, odd, unknown } = problems;
  expect(components.responses).toEqual({
    Bad: {
      description: "Bad.",
      content: {
        ...content("text/plain", "Line", { empty: "the name is empty\n", odd: "the name is odd\n" }),
        ...content("application/problem+json", "Problem", { empty: bad, odd }),
      },
    },
    JsonBad: {
      description: "Bad.",
      content: content("application/json", "Error", {
        empty: { code: 400, title: "Bad request", all: ["the name is empty"] },
        odd: { code: 400, title: "Odd request", all: ["the name is odd"] },
      }),
    },
    Unknown: {
      ...{ description: "Unknown.", headers: {} },
      content: {
        ...content("text/plain", "Line", { none: "no token\n" }),
        ...content("application/problem+json", "Problem", { none: unknown }),
      },
    },
    Large: { description: "Large." },
  });
});

test("a kind of problem gets its own example, or that of its first message", () => {
  const { "x-problems": kinds, components } = parse(completeContract(written).yaml);
  for (const [kind, example] of Object.entries(problems))
    expect(kinds[kind]).toEqual({
      ...{ title: example.title, status: example.status, description: "What.", advice: "Do." },
      example,
    });
  const pattern = "^\\S*problems\\W(bad|odd|unknown|other|late|full)$";
  expect(components.schemas.Problem.properties.type).toEqual({ type: "string", pattern });
});

test("the responses that do not depend on the operation stay apart, in all formats", () => {
  const common = `x-common-headers: { Id: { description: The id. } }\n${written}`;
  const { paths, components, "x-general-responses": general } = parse(completeContract(common).yaml);
  const Id = { description: "The id." };
  expect(general).toEqual({
    "405": {
      ...{ description: "Other.", headers: { Allow: {}, Id } },
      content: {
        ...content("text/plain", "Line", { put: "PUT is not allowed\n" }),
        ...content("application/problem+json", "Problem", { put: problems.other }),
        ...content("application/json", "Error", {
          put: { code: 405, title: "Other method", all: ["PUT is not allowed"] },
        }),
      },
    },
    "408": { description: "Late.", headers: { Id }, content: {} },
  });
  expect(Object.keys(paths["/plain"].get.responses)).toEqual(["200", "400"]);
  expect(Object.keys(components.responses).sort()).toEqual(["Bad", "JsonBad", "Large", "Unknown"]);
});

test("every response gets the common headers, beside its own", () => {
  const common = `x-common-headers: { Id: { $ref: "#/components/headers/Id" } }\n${written}`;
  const { yaml } = completeContract(common.replace("headers: {}", "headers: { Own: {} }"));
  const { paths, components } = parse(yaml);
  const headers = { Id: { $ref: "#/components/headers/Id" } };
  expect(paths["/plain"].post.responses).toMatchObject({ "204": { headers }, "400": { headers } });
  const own = { headers: { ...headers, Own: {} } };
  const all = { Bad: { headers }, JsonBad: { headers }, Large: { headers }, Unknown: own };
  expect(components.responses).toMatchObject(all);
  expect(paths["/plain"].get.responses["400"]).toEqual(reference("Bad"));
});

test("an operation with an entity tag has its parameter, header and status, and keeps a header of its own", () => {
  const operation = (headers: string) => `
      x-entity-tag: true
      parameters: [{ name: id }]
      responses: { "200": { description: Done., headers: { ${headers} } } }`;
  const { paths } = parse(
    completeContract(`
components: { responses: { NotModified: { description: Current. } } }
paths:
  /tagged:
    get: ${operation("")}
  /own:
    get: ${operation("ETag: { description: Some. }")}`).yaml,
  );
  const expected = (ETag: object) => ({
    parameters: [{ name: "id" }, { $ref: "#/components/parameters/IfNoneMatch" }],
    responses: {
      "200": { description: "Done.", headers: { ETag } },
      "304": { $ref: "#/components/responses/NotModified" },
    },
  });
  expect(paths["/tagged"].get).toEqual(expected({ $ref: "#/components/headers/ETag" }));
  expect(paths["/own"].get).toEqual(expected({ description: "Some." }));
});

test("an operation with a position has its parameters, header and status; a QUERY has the parameters in its body", () => {
  const { paths } = parse(
    completeContract(`
components:
  parameters:
    KnownAt: { name: known_at, in: query, schema: { type: string } }
    AtLeast: { name: at_least, in: query, schema: { type: string } }
  responses: { UnknownPosition: { description: Unknown. } }
paths:
  /thing:
    get: { x-position: known_at, x-query: queryThings, parameters: [], responses: { "200": { description: Done. } } }
  /other:
    get: { x-position: at_least, parameters: [], responses: { "200": { description: Done. } } }`).yaml,
  );
  const reference = (name: string) => ({ $ref: `#/components/${name}` });
  const responses = (header: string) => ({
    "200": { headers: { "Ledger-Position": reference(`headers/${header}`) } },
    "410": reference("responses/UnknownPosition"),
  });
  expect(paths["/thing"].get).toMatchObject({
    parameters: [reference("parameters/KnownAt"), reference("parameters/AtLeast")],
    responses: responses("LedgerPosition"),
  });
  const { parameters, requestBody, ...query } = paths["/thing"]["x-query"];
  expect(parameters).toEqual([]);
  expect(Object.keys(requestBody.content["application/json"].schema.properties)).toEqual([
    "known_at",
    "at_least",
  ]);
  expect(query).toMatchObject({ responses: responses("LedgerPosition") });
  expect(paths["/other"].get).toMatchObject({
    parameters: [reference("parameters/AtLeast")],
    responses: responses("IncludedPosition"),
  });
});

const large = "    Large: { description: Large. }\n";
const late = ", example: it is late";
test.each([
  ["always:", "sometimes:", "unknown condition sometimes"],
  ["responses/Large", "responses/Larger", "responses/Larger does not exist"],
  ["requestBody: { content: {} }", "", "no operation uses the response Large"],
  // The end of the name of a used one.
  [large, `${large}    arge: { description: Other. }\n`, "no operation uses the response arge"],
  ["responses/Unknown", "responses/Bad", "Bad has the statuses 400, 401"],
  ["problem: odd", "problem: even", "x-problems has no even with the status 400"],
  ["problem: odd", "problem: unknown", "x-problems has no unknown with the status 400"],
  ["status: 401", "status: 402", "x-problems has no kind with the status 401"],
  ["status: 405", "status: 406", "x-problems has no kind with the status 405"],
  [late, "", "the problem late has no example"],
  [late, ", example: { problem: bad, detail: it is late }", "x-problems has no bad with the status 408"],
  ["schema: Problem", "schema: Fault", "the problem bad has no example"],
])("without %j but with %j, %s", (from, to, message) => {
  expect(written).toContain(from);
  expect(() => completeContract(written.replace(from, to))).toThrow(message);
});

test("a complete contract stays as it is", () => {
  const { contract } = completeContract(written);
  expect(completeContract(JSON.stringify(contract)).contract).toEqual(contract);
});
