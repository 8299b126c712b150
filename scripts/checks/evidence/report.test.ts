import { expect, test } from "vitest";
import type { Contract } from "../../../src/contract/operations.ts";
import type { Security } from "../../../src/http/access/security.ts";
import { messagesOf } from "../../../src/http/failure.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import { createService } from "../../../src/http/service.ts";
import { openLog } from "../../../src/process/log.ts";
import { observe } from "./observe.ts";
import { faultsOf } from "./report.ts";
import { type Subject, withThrowingHandlers } from "./subjects.ts";

const text = { content: { "text/plain": { schema: { type: "string" } } } };
const error = { description: "an error", ...text };
const cacheControl = { "Cache-Control": { required: true, schema: { type: "string" } } };
const allow = { ...cacheControl, Allow: { required: true, schema: { type: "string" } } };
const retryAfter = { "Retry-After": { required: true, schema: { type: "integer" } } };
const errors = { 400: error, 421: error, 500: error, 503: { ...error, headers: retryAfter } };
/** The responses that no operation lists. */
const general = {
  405: { ...error, headers: allow },
  408: { ...error, headers: cacheControl },
  431: { ...error, headers: cacheControl },
};
type Responses = Record<string, { description?: string; headers?: object } | undefined>;
const requestId = { "X-Request-Id": { required: true, schema: { type: "string" } } };
const withRequestId = (responses: Responses) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      response && { ...response, headers: { ...requestId, ...response.headers } },
    ]),
  );
const light = {
  type: "object",
  required: ["colour"],
  properties: { colour: { type: "string", enum: ["red", "green"] }, since: { type: "string" } },
};
const side = {
  name: "side",
  in: "query",
  required: true,
  schema: { type: "string", enum: ["north", "south"] },
};
const past = { name: "past", in: "query", schema: { type: "boolean" } };

/** The contract of a service with one operation. Tests change its responses, the enum of its colours and the general responses. */
function lightContract(
  changed: object = {},
  colours = ["red", "green"],
  security?: object[],
  changedGeneral: object = {},
): Contract {
  const schema = { ...light, properties: { ...light.properties, colour: { type: "string", enum: colours } } };
  const success = { description: "its colour", content: { "application/json": { schema } } };
  const get = {
    ...{ operationId: "getLight", parameters: [side, past], security },
    responses: withRequestId({ 200: success, ...errors, ...changed }),
  };
  const contract = {
    ...{ openapi: "3.1.0", info: { title: "Crossing", version: "1.0.0" }, paths: { "/light": { get } } },
    "x-general-responses": withRequestId({ ...general, ...changedGeneral }),
    components: {
      schemas: { Message: light },
      ...(security && { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } }),
    },
  };
  return JSON.parse(JSON.stringify(contract));
}

const bodies: Record<string, object> = {
  north: { colour: "red", since: "noon" },
  south: { colour: "green" },
};
const get = (status: number, path: string) => ({ status, method: "GET" as const, path });
const requests = [
  get(200, "/light?side=north&past=true"),
  get(200, "/light?side=south&past=false"),
  get(200, "/light?side=north"),
  get(400, "/light"),
];

type Change = Partial<Subject> & { bodies?: Record<string, object>; security?: Security };

async function faultsWith(change: Change): Promise<string[]> {
  const contract = change.contract ?? lightContract();
  await using subject: Subject = {
    ...{ contract, requests, accepted: {} },
    async open(situation) {
      const app = await createService<Record<string, never>>({
        allowedHosts: [],
        contract,
        security: change.security,
        handlers: {
          getLight: async ({ query }: { query: { side: string } }) => ({
            status: 200,
            body: (change.bodies ?? bodies)[query.side],
          }),
        } as never,
        renderError: (failed) => ({ type: "text/plain", body: messagesOf(failed).join("; ") }),
        log: openLog("silent"),
      });
      return situation === "handlers throw" ? withThrowingHandlers(app) : app;
    },
    async [Symbol.asyncDispose]() {},
    ...change,
  };
  return faultsOf(subject, await observe(subject));
}

const withResponses = (changed: object): Change => ({ contract: lightContract(changed) });
const withGeneral = (changed: object): Change => ({
  contract: lightContract({}, undefined, undefined, changed),
});
/** A service with tokens that also accepts these by mistake. `none` is a request without a token. */
const secured = (...accepted: string[]): Change => ({
  contract: lightContract({ 401: error, 403: error }, undefined, [{ bearer: ["see"] }]),
  tokens: { sufficient: "see", insufficient: "hear" },
  security:
    () =>
    async ({ headers }, [scope]) => {
      const token = headers.authorization?.replace("Bearer ", "");
      const isAccepted = token === scope || accepted.includes(token ?? "none");
      if (!isAccepted) throw new HttpError(token === undefined ? 401 : 403, ["no"]);
      return { scopes: new Set(), claims: {}, token: token ?? "none" };
    },
});
const request = "/light?side=north&past=true";
const media = { ...text.content, "application/json": { schema: {} } };
const headers = { ...allow, "X-Since": {}, Allow: { schema: {} } };
const coded = {
  ...cacheControl,
  Allow: { required: true, schema: { type: "string", enum: ["GET, HEAD", "PUT"] } },
};
const undeclared = { ...bodies, south: { colour: "green", size: 3 } };
const withoutPast = requests
  .filter(({ path }) => !path.includes("past"))
  .concat(get(200, "/light?side=south"));
const messages = { Message: [{ colour: "red" }] };
const green = 'getLight 200.colour: the value "green"';
const items = (...names: string[]) => names.map((name) => `not covered: ${name}`);

test.each<[name: string, Change, faults: string[]]>([
  ["returns exactly what its contract declares", {}, []],
  ["requires tokens and enforces them", secured(), []],
  [
    "never returned a status",
    withResponses({ 404: error }),
    ["getLight never returned 404 text/plain", ...items("getLight 404 X-Request-Id: present")],
  ],
  [
    "accepts a request without a token",
    secured("none"),
    [
      ...["getLight never returned 401 text/plain", `GET ${request} returned 200: 401 was expected`],
      ...items("getLight 401 X-Request-Id: present"),
    ],
  ],
  [
    "accepts a token without the required scope",
    secured("hear"),
    [
      ...["getLight never returned 403 text/plain", `GET ${request} returned 200: 403 was expected`],
      ...items("getLight 403 X-Request-Id: present"),
    ],
  ],
  [
    "never returned a media type",
    withResponses({ 500: { ...error, content: media } }),
    ["getLight never returned 500 application/json"],
  ],
  [
    "never returned a general status",
    withGeneral({ 418: error }),
    ["every operation never returned 418 text/plain", ...items("every operation 418 X-Request-Id: present")],
  ],
  [
    "lists a general status at its operation too",
    withResponses({ 405: general[405] }),
    [
      "every operation never returned 405 text/plain",
      ...items(
        ...["Allow", "Cache-Control", "X-Request-Id"].map((name) => `every operation 405 ${name}: present`),
      ),
    ],
  ],
  [
    "returned an undeclared status",
    withGeneral({ 405: undefined }),
    [`PATCH ${request} returned 405: the status is not declared`],
  ],
  [
    "returned an undeclared header",
    withGeneral({ 405: { ...error, headers: cacheControl } }),
    [
      `PATCH ${request} returned 405: the headers allow are not declared`,
      ...items("every operation 405 Cache-Control: present", "every operation 405 X-Request-Id: present"),
    ],
  ],
  [
    "never returned a header, or always an optional one",
    withGeneral({ 405: { ...error, headers } }),
    items("every operation 405 Allow: absent", "every operation 405 X-Since: present"),
  ],
  [
    "never returned a value of a header",
    withGeneral({ 405: { ...error, headers: coded } }),
    items('header Allow: the value "PUT"'),
  ],
  [
    "returned an undeclared member",
    { bodies: undeclared },
    [
      "GET /light?side=south&past=false returned 200: body/size is unknown; known: colour, since",
      ...items(green, "getLight 200: without since"),
      ...items("getLight past: the value false", 'getLight side: the value "south"'),
    ],
  ],
  [
    "returned another status than expected",
    { requests: [...requests, get(400, "/light?side=south")] },
    ["GET /light?side=south returned 200: 400 was expected"],
  ],
  [
    "never returned a value of an enum",
    { contract: lightContract({}, ["red", "green", "blue"]) },
    items('getLight 200.colour: the value "blue"'),
  ],
  [
    "never got a parameter",
    { requests: withoutPast },
    items(...["present", "the value false", "the value true"].map((what) => `getLight past: ${what}`)),
  ],
  ["always got a required parameter", { requests: requests.slice(0, 3) }, items("getLight side: missing")],
  [
    "accepted messages that do not cover their schema",
    { accepted: messages },
    items('Message.colour: the value "green"', "Message: with since"),
  ],
])("the faults of a service that %s", async (_name, change, faults) => {
  expect((await faultsWith(change)).sort()).toEqual(faults.sort());
});

const coloured = { ...get(200, "/light?side=north"), headers: { "x-colour": "red" } };
test.each([
  [[], "there is no successful request to getLight"],
  [[get(200, "/dark")], "no operation at GET /dark"],
  [[coloured], "getLight has no parameter x-colour"],
])("there is no evidence with the requests %j", async (requests, message) => {
  await expect(faultsWith({ requests })).rejects.toThrow(message);
});
