import { describe, expect, test } from "vitest";
import type { Contract } from "./operations.ts";
import { responseChecker } from "./response-check.ts";

const contract: Contract = {
  openapi: "3.1.0",
  info: { title: "Shapes", version: "1.0.0" },
  paths: {
    "/shape": {
      get: {
        operationId: "getShape",
        responses: {
          200: {
            description: "a shape",
            headers: {
              "X-Colour": { required: true, schema: { type: "string" } },
              "X-Size": { required: true, schema: { type: "integer" } },
              "X-Note": {},
            },
            content: {
              "application/json": {
                schema: {
                  oneOf: [
                    { type: "object", required: ["side"], properties: { side: { type: "integer" } } },
                    { type: "array", items: { type: "object", properties: { angle: { type: "number" } } } },
                  ],
                },
              },
              "text/plain": { schema: { type: "string", pattern: "^[a-z]+$" } },
            },
          },
          204: { description: "none" },
          304: { description: "the same", headers: { ETag: { required: true } } },
        },
      },
    },
  },
  "x-general-responses": {
    405: {
      description: "another method",
      headers: { Allow: { $ref: "#/components/headers/Allow" } },
      content: { "text/plain": { schema: { type: "string", pattern: "allowed" } } },
    },
  },
  components: { headers: { Allow: { required: true, schema: { type: "string" } } } },
};
const violationOf = responseChecker(contract);
const json = { "content-type": "application/json; charset=utf-8", "x-colour": "red", "x-size": "3" };
const text = { ...json, "content-type": "text/plain" };
const html = { ...json, "content-type": "text/html" };
const square = '{"side":1}';

describe("a response", () => {
  test.each<[string, number, Record<string, unknown>, string | undefined]>([
    ["an object", 200, json, square],
    ["an array", 200, json, '[{"angle":1.5}]'],
    ["text", 200, text, "square"],
    ["a stream, whose body is unknown", 200, json, undefined],
    ["no body", 204, {}, ""],
    ["no body and a required header", 304, { etag: '"a"' }, ""],
    ["one that no operation lists", 405, { ...text, allow: "GET" }, "not allowed"],
  ])("conforms to the contract: %s", (_, status, headers, body) => {
    expect(violationOf("getShape", { status, headers, body })).toBeUndefined();
  });

  test.each<[string, number, Record<string, unknown>, string, string]>([
    ["an undeclared status", 201, json, "{}", "the status is not declared"],
    ["an undeclared media type", 200, html, "", 'the media type "text/html" is not declared'],
    ["no media type", 200, { "x-colour": "red", "x-size": "3" }, "", 'the media type "" is not declared'],
    ["a missing header", 200, { ...json, "x-size": undefined }, square, "missing the headers X-Size"],
    ["a missing header without a body", 304, {}, "", "missing the headers ETag"],
    [
      "a header of a wrong type",
      200,
      { ...json, "x-size": "large" },
      square,
      "X-Size does not match its schema",
    ],
    ["a number for a text", 200, { ...json, "x-colour": "3" }, square, "X-Colour does not match its schema"],
    ["an undeclared body", 204, {}, "a", "a body is not declared"],
    ["a member of a wrong type", 200, json, '{"side":"1"}', "body/side must be an integer"],
    ["an undeclared member", 200, json, '{"side":1,"colour":"red"}', "body/colour is unknown; known: side"],
    [
      "one in an alternative of oneOf",
      200,
      json,
      '[{"angle":1,"colour":"red"}]',
      "body/0/colour is unknown; known: angle",
    ],
    ["invalid JSON", 200, json, "nonsense", "body must be an object or a list"],
    ["text that does not match the pattern", 200, text, "2", "body must be in another form"],
    ["one that no operation lists", 405, text, "not allowed", "missing the headers Allow"],
    ["the body of one that no operation lists", 405, { ...text, allow: "GET" }, "no", "body must be"],
  ])("violates the contract: %s", (_, status, headers, body, violation) => {
    expect(violationOf("getShape", { status, headers, body })).toContain(violation);
  });
});
