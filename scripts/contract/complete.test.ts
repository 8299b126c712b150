import { expect, test } from "vitest";
import { parse } from "yaml";
import { completeContract } from "./complete.ts";

const written = `openapi: 3.1.0
x-common-responses:
  always: { "400": { $ref: "#/components/responses/Bad" } }
  with-security: { "401": { $ref: "#/components/responses/Unknown" } }
  with-request-body: { "413": { $ref: "#/components/responses/Large" } }
x-error-formats:
  default: { media-type: text/plain, schema: Line, example: "{message}\\n" }
  json: { media-type: application/json, schema: Error, example: { code: "{status}", title: "{title}", all: ["{message}"] } }
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
  responses:
    Bad: { description: Bad., x-messages: { empty: the name is empty } }
    Unknown: { description: Unknown., headers: {}, x-messages: { none: no token } }
    Large: { description: Large. }
`;

const reference = (name: string) => ({ $ref: `#/components/responses/${name}` });
function content(type: string, schema: string, values: object) {
  const examples = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
  return { content: { [type]: { schema: { $ref: `#/components/schemas/${schema}` }, examples } } };
}

test("an operation gets the common responses that it does not declare, in its error format", () => {
  const { yaml, contract } = completeContract(written);
  expect(parse(yaml)).toEqual(contract);
  const { paths, components, ...rest } = parse(yaml);
  expect(rest).toEqual({ openapi: "3.1.0" });
  const yes = { description: "Yes." };
  expect(paths["/plain"].get.responses).toEqual({ "200": yes, "400": reference("Bad") });
  expect(paths["/plain"].post.responses).toEqual({
    ...{ "204": yes, "400": { description: "Its own." } },
    ...{ "401": reference("Unknown"), "413": reference("Large") },
  });
  expect(paths["/json"].get.responses["400"]).toEqual(reference("JsonBad"));
  const unknown = { description: "Unknown.", headers: {} };
  const empty = { code: 400, title: "Bad Request", all: ["the name is empty"] };
  expect(components.responses).toEqual({
    Bad: { description: "Bad.", ...content("text/plain", "Line", { empty: "the name is empty\n" }) },
    JsonBad: { description: "Bad.", ...content("application/json", "Error", { empty }) },
    Unknown: { ...unknown, ...content("text/plain", "Line", { none: "no token\n" }) },
    Large: { description: "Large." },
  });
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

const large = "    Large: { description: Large. }\n";
test.each([
  ["always:", "sometimes:", "unknown condition sometimes"],
  ["responses/Large", "responses/Larger", "responses/Larger does not exist"],
  ["requestBody: { content: {} }", "", "no operation uses the response Large"],
  // The end of the name of a used one.
  [large, `${large}    arge: { description: Other. }\n`, "no operation uses the response arge"],
  ["responses/Unknown", "responses/Bad", "Bad has the statuses 400, 401"],
])("without %j but with %j, %s", (from, to, message) => {
  expect(written).toContain(from);
  expect(() => completeContract(written.replace(from, to))).toThrow(message);
});
