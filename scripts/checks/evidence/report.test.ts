import { describe, expect, test } from "vitest";
import type { Contract } from "../../../src/contract/operations.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import type { Security } from "../../../src/http/security.ts";
import { createService } from "../../../src/http/service.ts";
import { openLog } from "../../../src/process/log.ts";
import { observe } from "./observe.ts";
import { evidenceOf, faultsOf } from "./report.ts";
import { type Situation, type Subject, withBug } from "./subjects.ts";

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

/** A service that tells the light of a crossing; a test changes what the contract or the service says of it. */
const crossing = (
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

const replies: Record<string, object> = {
  north: { status: 200, body: { colour: "red", since: "noon" } },
  south: { status: 200, body: { colour: "green" } },
};

const asked = (status: number, path: string) => ({ status, method: "GET" as const, path });
const requests = [
  asked(200, "/light?side=north&past=true"),
  asked(200, "/light?side=south&past=false"),
  asked(200, "/light?side=north"),
  asked(400, "/light"),
];

async function faultsWith(
  change: Partial<Subject> & { replies?: Record<string, object>; security?: Security },
): Promise<string[]> {
  const contract = change.contract ?? crossing();
  const answers = change.replies ?? replies;
  await using subject: Subject = {
    contract,
    requests,
    taken: {},
    async open(situation: Situation) {
      const app = await createService<Record<string, never>>({
        contract,
        security: change.security,
        handlers: {
          getLight: async ({ query }: { query: { side: string } }) => answers[query.side],
        } as never,
        renderError: (_, messages) => ({ type: "text/plain", body: messages.join("; ") }),
        log: openLog("silent"),
      });
      return situation === "a handler has a bug" ? withBug(app) : app;
    },
    async [Symbol.asyncDispose]() {},
    ...change,
  };
  return faultsOf(evidenceOf(subject, await observe(subject)));
}

const guarded = crossing({ security: [{ bearer: ["see"] }], responses: { 401: error, 403: error } });
const tokens = { good: "see", poor: "hear" };
/** Somebody who lets in whom they should, unless told whom. */
const guard = (...letIn: (string | undefined)[]): Security => ({
  bearer: async ({ headers }, [scope]) => {
    const token = headers.authorization?.replace("Bearer ", "");
    const isLetIn = token === scope || letIn.includes(token ?? "nobody");
    if (!isLetIn) throw new HttpError(token === undefined ? 401 : 403, ["no"]);
    return { scopes: new Set(), claims: {} };
  },
});

test("a service that answers all that its contract declares, and nothing else, is without fault", async () => {
  expect(await faultsWith({})).toEqual([]);
});

test("so is one that asks for tokens", async () => {
  expect(await faultsWith({ contract: guarded, tokens, security: guard() })).toEqual([]);
});

describe("the evidence is not enough", () => {
  test.each<[string, Parameters<typeof faultsWith>[0], string[]]>([
    [
      "when a declared status was never seen",
      { contract: crossing({ responses: { 404: error } }) },
      ["getLight was never seen to answer 404 text/plain"],
    ],
    [
      "when somebody is let in without a token",
      { contract: guarded, tokens, security: guard("nobody") },
      [
        "getLight was never seen to answer 401 text/plain",
        "GET /light?side=north&past=true returned 200: 401 was expected",
      ],
    ],
    [
      "when somebody is let in whose token is not enough",
      { contract: guarded, tokens, security: guard("hear") },
      [
        "getLight was never seen to answer 403 text/plain",
        "GET /light?side=north&past=true returned 200: 403 was expected",
      ],
    ],
    [
      "when a declared media type was never seen",
      {
        contract: crossing({
          responses: { 500: { ...error, content: { ...text.content, "application/json": { schema: {} } } } },
        }),
      },
      ["getLight was never seen to answer 500 application/json"],
    ],
    [
      "when a status was seen that is not declared",
      { contract: crossing({ responses: { 405: undefined } }) },
      ["PATCH /light?side=north&past=true returned 405: the status is not declared"],
    ],
    [
      "when a reply has a header that is not declared",
      { contract: crossing({ responses: { 405: error } }) },
      ["PATCH /light?side=north&past=true returned 405: the headers allow are not declared"],
    ],
    [
      "when a header was never seen, or never left out",
      {
        contract: crossing({
          responses: { 405: { ...error, headers: { ...allow, "X-Since": {}, Allow: { schema: {} } } } },
        }),
      },
      ["nothing was seen of getLight 405 Allow: left out", "nothing was seen of getLight 405 X-Since: given"],
    ],
    [
      "when a reply did not conform",
      { replies: { ...replies, south: { status: 200, body: { colour: "green", size: 3 } } } },
      [
        'GET /light?side=south&past=false returned 200: body/"size" is unknown; known: colour, since',
        ...[
          'getLight 200.colour: the value "green"',
          "getLight 200: without since",
          "getLight past: the value false",
          'getLight side: the value "south"',
        ].map((claim) => `nothing was seen of ${claim}`),
      ],
    ],
    [
      "when a request returned with another status than it must be",
      { requests: [...requests, asked(400, "/light?side=south")] },
      ["GET /light?side=south returned 200: 400 was expected"],
    ],
    [
      "when a value of an enum was never seen",
      {
        contract: crossing({
          light: {
            properties: { ...light.properties, colour: { type: "string", enum: ["red", "green", "blue"] } },
          },
        }),
      },
      ['nothing was seen of getLight 200.colour: the value "blue"'],
    ],
    [
      "when a parameter was never given, or never left out",
      {
        requests: requests
          .filter(({ path }) => !path.includes("past"))
          .concat(asked(200, "/light?side=south")),
      },
      ["given", "the value false", "the value true"].map(
        (claim) => `nothing was seen of getLight past: ${claim}`,
      ),
    ],
    [
      "when nobody tried without a parameter that is required",
      { requests: requests.slice(0, 3) },
      ["nothing was seen of getLight side: missed"],
    ],
    [
      "when a message does not show all that its schema says",
      { taken: { Message: [{ colour: "red" }] } },
      ['nothing was seen of Message.colour: the value "green"', "nothing was seen of Message: with since"],
    ],
  ])("%s", async (_, change, faults) => {
    expect(await faultsWith(change)).toEqual(expect.arrayContaining(faults));
    expect((await faultsWith(change)).length).toBe(faults.length);
  });

  test("when nothing succeeds to begin with", async () => {
    await expect(faultsWith({ requests: [] })).rejects.toThrow("nothing is asked of getLight");
    await expect(faultsWith({ requests: [asked(200, "/dark")] })).rejects.toThrow(
      "no operation at GET /dark",
    );
    const coloured = { ...asked(200, "/light?side=north"), headers: { "x-colour": "red" } };
    await expect(faultsWith({ requests: [coloured] })).rejects.toThrow("getLight has no parameter x-colour");
  });
});
