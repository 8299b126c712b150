import { describe, expect, test } from "vitest";
import type { Contract } from "../../../src/contract/operations.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import type { Security } from "../../../src/http/security.ts";
import { createService } from "../../../src/http/service.ts";
import { openLog } from "../../../src/process/log.ts";
import { observe } from "./observe.ts";
import { evidenceOf, faultsOf } from "./report.ts";
import { type Situation, type Subject, withThrowingHandlers } from "./subjects.ts";

const text = { content: { "text/plain": { schema: { type: "string" } } } };
const error = { description: "an error", ...text };
const allow = { Allow: { required: true, schema: { type: "string" } } };
const retryAfter = { "Retry-After": { required: true, schema: { type: "integer" } } };
const errors = {
  400: error,
  405: { ...error, headers: allow },
  431: error,
  500: error,
  503: { ...error, headers: retryAfter },
};
const light = {
  type: "object",
  required: ["colour"],
  properties: { colour: { type: "string", enum: ["red", "green"] }, since: { type: "string" } },
};

/** The contract of a service with one operation. Tests change parts of it. */
const lightContract = (
  change: { responses?: object; parameters?: object[]; light?: object; security?: object[] } = {},
): Contract =>
  JSON.parse(
    JSON.stringify({
      openapi: "3.1.0",
      info: { title: "Crossing", version: "1.0.0" },
      paths: {
        "/light": {
          get: {
            operationId: "getLight",
            parameters: change.parameters ?? [
              {
                name: "side",
                in: "query",
                required: true,
                schema: { type: "string", enum: ["north", "south"] },
              },
              { name: "past", in: "query", schema: { type: "boolean" } },
            ],
            ...(change.security && { security: change.security }),
            responses: {
              200: {
                description: "its colour",
                content: { "application/json": { schema: { ...light, ...change.light } } },
              },
              ...errors,
              ...change.responses,
            },
          },
        },
      },
      components: {
        schemas: { Message: light },
        ...(change.security && { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } }),
      },
    }),
  );

const responses: Record<string, object> = {
  north: { status: 200, body: { colour: "red", since: "noon" } },
  south: { status: 200, body: { colour: "green" } },
};

const get = (status: number, path: string) => ({ status, method: "GET" as const, path });
const requests = [
  get(200, "/light?side=north&past=true"),
  get(200, "/light?side=south&past=false"),
  get(200, "/light?side=north"),
  get(400, "/light"),
];

async function faultsWith(
  change: Partial<Subject> & { responses?: Record<string, object>; security?: Security },
): Promise<string[]> {
  const contract = change.contract ?? lightContract();
  const responseBySide = change.responses ?? responses;
  await using subject: Subject = {
    contract,
    requests,
    accepted: {},
    async open(situation: Situation) {
      const app = await createService<Record<string, never>>({
        contract,
        security: change.security,
        handlers: {
          getLight: async ({ query }: { query: { side: string } }) => responseBySide[query.side],
        } as never,
        renderError: (_, messages) => ({ type: "text/plain", body: messages.join("; ") }),
        log: openLog("silent"),
      });
      return situation === "handlers throw" ? withThrowingHandlers(app) : app;
    },
    async [Symbol.asyncDispose]() {},
    ...change,
  };
  return faultsOf(evidenceOf(subject, await observe(subject)));
}

const authenticated = lightContract({
  security: [{ bearer: ["see"] }],
  responses: { 401: error, 403: error },
});
const tokens = { sufficient: "see", insufficient: "hear" };
/** Security that also accepts these tokens by mistake. `none` is a request without a token. */
const security =
  (...accepted: string[]): Security =>
  () =>
  async ({ headers }, [scope]) => {
    const token = headers.authorization?.replace("Bearer ", "");
    const isAccepted = token === scope || accepted.includes(token ?? "none");
    if (!isAccepted) throw new HttpError(token === undefined ? 401 : 403, ["no"]);
    return { scopes: new Set(), claims: {}, token: token ?? "none" };
  };

test("a service that returns exactly what its contract declares has no faults", async () => {
  expect(await faultsWith({})).toEqual([]);
});

test("a service that requires tokens has no faults if it enforces them", async () => {
  expect(await faultsWith({ contract: authenticated, tokens, security: security() })).toEqual([]);
});

describe("the evidence", () => {
  test.each<[string, Parameters<typeof faultsWith>[0], string[]]>([
    [
      "is insufficient if a declared status was never seen",
      { contract: lightContract({ responses: { 404: error } }) },
      ["getLight never returned 404 text/plain"],
    ],
    [
      "is insufficient if a request without a token is accepted",
      { contract: authenticated, tokens, security: security("none") },
      [
        "getLight never returned 401 text/plain",
        "GET /light?side=north&past=true returned 200: 401 was expected",
      ],
    ],
    [
      "is insufficient if a token without the required scope is accepted",
      { contract: authenticated, tokens, security: security("hear") },
      [
        "getLight never returned 403 text/plain",
        "GET /light?side=north&past=true returned 200: 403 was expected",
      ],
    ],
    [
      "is insufficient if a declared media type was never seen",
      {
        contract: lightContract({
          responses: { 500: { ...error, content: { ...text.content, "application/json": { schema: {} } } } },
        }),
      },
      ["getLight never returned 500 application/json"],
    ],
    [
      "is insufficient if an undeclared status was seen",
      { contract: lightContract({ responses: { 405: undefined } }) },
      ["PATCH /light?side=north&past=true returned 405: the status is not declared"],
    ],
    [
      "is insufficient if a response has an undeclared header",
      { contract: lightContract({ responses: { 405: error } }) },
      ["PATCH /light?side=north&past=true returned 405: the headers allow are not declared"],
    ],
    [
      "is insufficient if a declared header was never present, or an optional one never absent",
      {
        contract: lightContract({
          responses: { 405: { ...error, headers: { ...allow, "X-Since": {}, Allow: { schema: {} } } } },
        }),
      },
      ["not covered: getLight 405 Allow: absent", "not covered: getLight 405 X-Since: present"],
    ],
    [
      "is insufficient if a response does not match its schema",
      { responses: { ...responses, south: { status: 200, body: { colour: "green", size: 3 } } } },
      [
        'GET /light?side=south&past=false returned 200: body/"size" is unknown; known: colour, since',
        ...[
          'getLight 200.colour: the value "green"',
          "getLight 200: without since",
          "getLight past: the value false",
          'getLight side: the value "south"',
        ].map((item) => `not covered: ${item}`),
      ],
    ],
    [
      "is insufficient if a response has another status than expected",
      { requests: [...requests, get(400, "/light?side=south")] },
      ["GET /light?side=south returned 200: 400 was expected"],
    ],
    [
      "is insufficient if a value of an enum was never seen",
      {
        contract: lightContract({
          light: {
            properties: { ...light.properties, colour: { type: "string", enum: ["red", "green", "blue"] } },
          },
        }),
      },
      ['not covered: getLight 200.colour: the value "blue"'],
    ],
    [
      "is insufficient if a parameter was never present",
      {
        requests: requests.filter(({ path }) => !path.includes("past")).concat(get(200, "/light?side=south")),
      },
      ["present", "the value false", "the value true"].map((item) => `not covered: getLight past: ${item}`),
    ],
    [
      "is insufficient if a required parameter was never missing",
      { requests: requests.slice(0, 3) },
      ["not covered: getLight side: missing"],
    ],
    [
      "is insufficient if the accepted messages do not cover their schema",
      { accepted: { Message: [{ colour: "red" }] } },
      ['not covered: Message.colour: the value "green"', "not covered: Message: with since"],
    ],
  ])("%s", async (_, change, faults) => {
    const found = await faultsWith(change);
    expect(found).toEqual(expect.arrayContaining(faults));
    expect(found.length).toBe(faults.length);
  });

  test("cannot be gathered without a successful request to each operation", async () => {
    await expect(faultsWith({ requests: [] })).rejects.toThrow("there is no successful request to getLight");
  });

  test("cannot be gathered with an operation or a header that is not declared", async () => {
    await expect(faultsWith({ requests: [get(200, "/dark")] })).rejects.toThrow("no operation at GET /dark");
    const coloured = { ...get(200, "/light?side=north"), headers: { "x-colour": "red" } };
    await expect(faultsWith({ requests: [coloured] })).rejects.toThrow("getLight has no parameter x-colour");
  });
});
