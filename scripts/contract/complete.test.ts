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

test("an operation gets the common responses that it does not declare, in its error format", () => {
  const { yaml, contract } = completeContract(written);
  expect(parse(yaml)).toEqual(contract);
  const { paths, components, ...rest } = parse(yaml);
  expect(rest).toEqual({ openapi: "3.1.0" });
  const reference = (name: string) => ({ $ref: `#/components/responses/${name}` });
  expect(paths["/plain"].get.responses).toEqual({ "200": { description: "Yes." }, "400": reference("Bad") });
  expect(paths["/plain"].post.responses).toEqual({
    "204": { description: "Yes." },
    "400": { description: "Its own." },
    "401": reference("Unknown"),
    "413": reference("Large"),
  });
  expect(paths["/json"].get.responses["400"]).toEqual(reference("JsonBad"));
  expect(components.responses).toEqual({
    Bad: {
      description: "Bad.",
      content: {
        "text/plain": {
          schema: { $ref: "#/components/schemas/Line" },
          examples: { empty: { value: "the name is empty\n" } },
        },
      },
    },
    JsonBad: {
      description: "Bad.",
      content: {
        "application/json": {
          schema: { $ref: "#/components/schemas/Error" },
          examples: { empty: { value: { code: 400, title: "Bad Request", all: ["the name is empty"] } } },
        },
      },
    },
    Unknown: {
      description: "Unknown.",
      headers: {},
      content: {
        "text/plain": {
          schema: { $ref: "#/components/schemas/Line" },
          examples: { none: { value: "no token\n" } },
        },
      },
    },
    Large: { description: "Large." },
  });
});

test("every response gets the common headers, beside its own", () => {
  const common = `x-common-headers: { Id: { $ref: "#/components/headers/Id" } }\n${written}`;
  const { paths, components } = parse(
    completeContract(common.replace("headers: {}", "headers: { Own: {} }")).yaml,
  );
  const Id = { $ref: "#/components/headers/Id" };
  expect(paths["/plain"].post.responses).toMatchObject({
    "204": { headers: { Id } },
    "400": { headers: { Id } },
  });
  expect(components.responses).toMatchObject({
    Bad: { headers: { Id } },
    JsonBad: { headers: { Id } },
    Unknown: { headers: { Id, Own: {} } },
    Large: { headers: { Id } },
  });
  expect(paths["/plain"].get.responses["400"]).toEqual({ $ref: "#/components/responses/Bad" });
});

test.each([
  ["an unknown condition", "always:", "sometimes:", "unknown condition sometimes"],
  ["an unknown response", "responses/Large", "responses/Larger", "responses/Larger does not exist"],
  [
    "a response that no operation uses",
    "requestBody: { content: {} }",
    "",
    "no operation uses the response Large",
  ],
  [
    "an unused response whose name is the end of a used one",
    "    Large: { description: Large. }",
    "    Large: { description: Large. }\n    arge: { description: Other. }",
    "no operation uses the response arge",
  ],
  ["a response with two statuses", "responses/Unknown", "responses/Bad", "Bad has the statuses 400, 401"],
])("%s is an error", (_title, from, to, message) => {
  const invalid = written.replace(from, to);
  expect(invalid).not.toBe(written);
  expect(() => completeContract(invalid)).toThrow(message);
});
