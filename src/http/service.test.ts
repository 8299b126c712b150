import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { setImmediate as afterThisTurn } from "node:timers/promises";
import { type FastifyInstance, fastify } from "fastify";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Contract } from "../contract/operations.ts";
import { openLog } from "../process/log.ts";
import type { Authenticate, Caller } from "./access/security.ts";
import { HttpError } from "./http-error.ts";
import { closeGracefully } from "./limits/closing.ts";
import {
  type AnyHandlers,
  contractOf,
  inPath,
  inQuery,
  operation,
  serve,
  serviceOptions,
} from "./service.fixture.ts";
import { createService } from "./service.ts";

const json = (schema: object) => ({ "application/json": { schema } });
const text = { "text/plain": { schema: { type: "string" } } };
const listed = json({ type: "array" });
/** The request as the handler got it. */
const echo = json({ type: "object", additionalProperties: true });
/** An operation that also declares the HTTP errors. */
const operationOf = (
  operationId: string,
  content: Record<string, object>,
  parameters: object[] = [],
  more = {},
) => {
  const { responses } = operation(operationId, content);
  for (const status of [400, 401, 403, 404, 405, 413, 415, 500, 503])
    Object.assign(responses, { [status]: { description: "error", content: { ...text, ...listed } } });
  return { operationId, responses, parameters, ...more };
};

const bodySchema = {
  type: "object",
  required: ["result"],
  additionalProperties: false,
  properties: {
    result: { type: "boolean" },
    size: { type: "integer" },
    parts: {
      type: "array",
      maxItems: 2,
      items: { type: "object", required: ["a", "b"], properties: { a: {}, b: {}, c: {} } },
    },
    names: { type: "array", maxItems: 2, "x-unique-items": true, items: { type: "string" } },
  },
};
const accounts = { type: "array", items: { $ref: "#/components/schemas/Account" } };
const one = json({ type: "object", required: ["amount"], properties: { amount: { type: "integer" } } });
const contract = contractOf(
  {
    "/things/{thing_id}": {
      get: operationOf("getThing", echo, [
        inPath("thing_id", { type: "integer", format: "int64" }),
        inQuery("count", { type: "integer", minimum: 1, default: 7 }),
        inQuery("flag", { type: "boolean" }),
        inQuery("after", { type: "integer", format: "int64" }),
        inQuery("since", { type: "string", format: "date-time" }),
        inQuery("kind", { type: "string", enum: ["Big", "SMALL"], "x-ignore-case": true }),
        inQuery("tag", { type: "array", items: { type: "string" } }),
        inQuery("accounts", accounts, { explode: false }),
      ]),
    },
    "/things/": {
      post: operationOf("addThing", echo, [], { requestBody: { required: true, content: json(bodySchema) } }),
      put: operationOf("touchThings", echo),
    },
    "/names/{name}": {
      get: operationOf("getName", text, [inPath("name", { type: "string", maxLength: 300 })]),
    },
    "/numbers/{count}": {
      get: operationOf("listNumbers", json({ type: "array", items: { type: "integer" } }), [
        inPath("count", { type: "integer" }),
      ]),
    },
    "/secret/{number}": {
      get: operationOf("getSecret", echo, [inPath("number", { type: "integer" })], {
        security: [{ bearer: ["good"] }, { bearer: ["best"] }, { key: [] }],
      }),
    },
    "/health": { get: operationOf("checkHealth", echo, [], { tags: ["health"] }) },
    "/violation/{kind}": { get: operationOf("violate", one, [inPath("kind", { type: "string" })]) },
  },
  {
    schemas: { Account: { type: "string", minLength: 1 } },
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer" },
      key: { type: "apiKey", in: "header", name: "key" },
    },
  },
);

/** Controls the handler of requests for the name "slow": it resolves `entered` and then waits for `released`. */
let slow = { entered: Promise.withResolvers<void>(), released: Promise.withResolvers<void>() };
beforeEach(() => {
  slow = { entered: Promise.withResolvers<void>(), released: Promise.withResolvers<void>() };
});

/** Integers of different lengths, of which only some are safe. */
const numbers = (count: number) => Array.from({ length: count }, (_, index) => (-11n) ** BigInt(index % 20));

const handlers: AnyHandlers = {
  getThing: async ({ path, query }) => ({ status: 200, body: { path, query } }),
  addThing: async ({ body }) => ({ status: 200, body: { body } }),
  touchThings: async ({ body }) => ({ status: 200, body: { body: body ?? "none" } }),
  getName: async ({ path }: { path: { name: string } }) => {
    if (path.name === "thrown") throw Object.assign(new Error("password=hunter2"), { statusCode: 418 });
    if (path.name === "aborted") throw new DOMException("password=hunter2", "AbortError");
    if (path.name === "slow") {
      slow.entered.resolve();
      await slow.released.promise;
    }
    return { status: 200, type: "text/plain", body: path.name };
  },
  listNumbers: async ({ path }: { path: { count: number } }) => ({ status: 200, body: numbers(path.count) }),
  getSecret: async ({ caller }: { caller?: Caller }) => ({ status: 200, body: { ...caller?.claims } }),
  checkHealth: async () => ({ status: 200, body: {} }),
  violate: async ({ path }: { path: { kind: string } }) =>
    ({
      member: { status: 200, body: { amount: 1, undeclared: true } },
      missing: { status: 200, body: {} },
      status: { status: 202, body: {} },
      type: { status: 200, type: "text/csv", body: "a" },
      none: { status: 200, body: { amount: 1 } },
    })[path.kind],
};

/** The authentication of each scheme, by its type. */
const authentication: Record<string, Authenticate> = {
  http: async ({ headers }, scopes) => {
    const { authorization = "Bearer bad" } = headers;
    const token = authorization.slice("Bearer ".length);
    const challenge = { "www-authenticate": `Bearer ${scopes}` };
    if (token === "broken") throw Object.assign(new Error("password=hunter2"), { statusCode: 401 });
    if (token === "bad") throw new HttpError(401, ["invalid token"], challenge);
    if (token === "unverifiable") throw new HttpError(503, ["no keys"]);
    if (!scopes.includes(token)) throw new HttpError(403, [`${scopes} is required`, "scope missing"]);
    return { scopes: new Set(), claims: { name: token }, token };
  },
  apiKey: async ({ headers }) => {
    if (headers.key !== "good") throw new HttpError(401, ["no key"], { "www-authenticate": "Key" });
    return { scopes: new Set(), claims: { name: "key" }, token: "good" };
  },
};

const violations: string[] = [];
const unchecked = serviceOptions(contract, handlers, { security: ({ type }) => authentication[type] });
const parts = { ...unchecked, onViolation: (violation: string) => void violations.push(violation) };

let service: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  service = await serve(contract, handlers, parts);
});
afterAll(() => service[Symbol.asyncDispose]());
const send: typeof service.send = (...request) => service.send(...request);

describe("a service does not start if its contract and code do not match:", () => {
  const violate = { violate: handlers.violate } as AnyHandlers;
  const { violate: _, ...withoutViolate } = handlers;
  const ofPath = (path: string, item: Record<string, unknown>) => contractOf({ [path]: item });
  const hyphenated = ofPath("/x/{tx-id}", { get: { operationId: "violate" } });
  test.each<[string, Contract, AnyHandlers, string]>([
    ["a missing handler", contract, withoutViolate, "without a handler: violate"],
    ["no handlers", contract, {}, "operations without a handler: getThing, addThing"],
    ["an unknown handler", contract, { ...handlers, ...{ getThng: violate.violate as never } }, "getThng"],
    ["security schemes without a handler", contract, handlers, "schemes without a handler: bearer, key"],
    ["parameters of a path", ofPath("/x", { parameters: [] }), {}, "/x: declare parameters in operations"],
    ["an unsupported parameter name", hyphenated, violate, "{tx-id}"],
  ])("%s", async (_name, contract, handlers, message) => {
    const security = () => undefined;
    await expect(createService(serviceOptions(contract, handlers, { security }))).rejects.toThrow(message);
  });
});

describe("path and query parameters are parsed strictly:", () => {
  const ofNames = ["__proto__", "constructor", "..%2F..", "a%2Fb", "%F0%9F%92%B7", "x".repeat(300)];
  test.each<[path: string, part: string]>([
    ["/things/9007199254740993", '{"path":{"thing_id":9007199254740993},"query":{"count":7}}\n'],
    ["/things/-9223372036854775808?after=9223372036854775807", '"after":9223372036854775807'],
    ["/things/1?tag=a&tag=b", '"tag":["a","b"]'],
    ["/things/1?tag=a", '"tag":["a"]'],
    ["/things/1?accounts=a,b", '"accounts":["a","b"]'],
    ["/things/1?kind=Big", '"kind":"Big"'],
    ["/things/1?kind=bIG", '"kind":"Big"'],
    ["/things/1?kind=small", '"kind":"SMALL"'],
    ["/things/1?since=2024-03-05T09:14:22-0130", '"since":"2024-03-05T09:14:22-01:30"'],
    ["/things/1?since=2024-03-05T09:14:22.5-01", '"since":"2024-03-05T09:14:22.5-01"'],
    ["/things/1?since=2024-03-05%2009:14:22.5%20-01:30", '"since":"2024-03-05T09:14:22.5-01:30"'],
    ["/things/1?flag=true&count=2", '"flag":true'],
    ["/things/007?count=007", '{"path":{"thing_id":7},"query":{"count":7}}'],
    ["/things/1?flag=TRUE", '"flag":true'],
    ["/things/1?flag=1", '"flag":true'],
    ["/things/1?flag=0", '"flag":false'],
    ["/things/1?tag[]=a&tag[]=b", '"tag":["a","b"]'],
    ["/things/1?tag%5B%5D=a&tag=b", '"tag":["b","a"]'],
    ["/things/1?accounts[]=a,b&accounts[]=c", '"accounts":["a","b","c"]'],
    ["/things/1?accounts[]=", '"query":{"count":7}}'],
    ["/things/1?since=2024-03-05%2009:14:22Z", '"since":"2024-03-05T09:14:22Z"'],
    ["/things/1?since=2024-03-05+09:14:22+UTC", '"since":"2024-03-05T09:14:22Z"'],
    ["/things/1?since=2024-03-05+09:14:22.5+%2B0100", '"since":"2024-03-05T09:14:22.5+01:00"'],
    ["/things/1?since=2024-03-05T09:14:22+-01:00", '"since":"2024-03-05T09:14:22-01:00"'],
    ["/things/1?since=2016-12-31T23:59:60Z", '"since":"2016-12-31T23:59:60Z"'],
    ["//things/1", '"thing_id":1'],
    ["///things/1?tag=a//b", '"tag":["a//b"]'],
    ["/things/1?accounts=,a,,b,", '"accounts":["a","b"]'],
    ["/things/1?count=&flag=%20&accounts=,,&since=&tag=", '"query":{"count":7}}'],
    ["/things/1?since=2024-02-29T00:00:00%2B02:00", '"since":"2024-02-29T00:00:00+02:00"'],
    ...ofNames.map((name) => [`/names/${name}`, decodeURIComponent(name)] as [string, string]),
  ])("%s is accepted", async (path, part) => {
    const response = await send(path);
    expect(response.text).toContain(part);
    expect(response.status).toBe(200);
  });

  test.each([
    ["/things/9223372036854775808", 404, "Not Found"],
    ["/things/1.0", 400, "path parameter thing_id must be a 64-bit integer"],
    ["/things/1e3", 400, "path parameter thing_id"],
    ["/things/0x10", 400, "path parameter thing_id"],
    ["/things/%205", 400, "path parameter thing_id"],
    ["/things/1?after=9223372036854775808", 400, "query parameter after must be a 64-bit integer"],
    ["/things/1?count=0", 400, "query parameter count must be at least 1\n"],
    ["/things/1?count=%2B1", 400, "query parameter count must be an integer\n"],
    ["/things/1?count=1&count=2", 400, "query parameter count must be given once\n"],
    ["/things/1?flag=yes", 400, "query parameter flag must be true or false\n"],
    ["/things/1?flag=01", 400, "query parameter flag must be true or false\n"],
    ["/things/1?count[]=1", 400, "query parameter count[] is unknown; is count meant?\n"],
    ["/things/1?since=2024-03-05++09:14:22Z", 400, "query parameter since"],
    ["/things/1?since=2024-03-05+09:14:22", 400, "query parameter since"],
    ["/things/1?since=2016-12-31T22:59:60Z", 400, "query parameter since"],
    ["/things/1?since=2024-02-30T00:00:00Z", 400, "query parameter since"],
    ["/things/1?since=2024-02-20T00:00:00+02:00", 400, "query parameter since"],
    ["/things/1?since=2024-02-20+00:00:00+02:00", 400, "query parameter since"],
    [
      "/things/1?nope=1&flag=2",
      400,
      "nope is unknown; known: count, flag, after, since, kind, tag, accounts; query parameter flag must be true or false\n",
    ],
    ["/things/1?nope=", 400, "is unknown; known: count, flag, after, since, kind, tag, accounts\n"],
    ["/things/1?__proto__=1", 400, "query parameter __proto__ is unknown; known: count"],
    ["/things/1?constructor=1", 400, "query parameter constructor is unknown; known: count"],
    ["/things/1?a/b=1", 400, "query parameter a/b is unknown; known: count"],
    ["/names/x?debug=1", 400, "query parameter debug is unknown; none is known here\n"],
    ["/names/x?a=%ZZ", 400, "malformed percent-encoding in the query"],
    ["/names/x?a=%FF", 400, "malformed percent-encoding in the query"],
    ["/names/%ZZ", 400, "malformed percent-encoding in the path"],
    ["/names/%FF", 400, "malformed percent-encoding in the path"],
    [`/names/${"x".repeat(301)}`, 400, "path parameter name must have at most 300 characters\n"],
    [`/names/${"x".repeat(5000)}`, 400, "path parameter name must have at most 300 characters\n"],
    ["/things/1?kind=tiny", 400, "query parameter kind must be Big or SMALL\n"],
    ["/nowhere", 404, "nothing is served at this path"],
  ])("%s is %i", async (path, status, message) => {
    const response = await send(path);
    expect(response.text).toContain(message);
    expect(response.status).toBe(status);
    expect(response.headers["content-type"]).toBe("text/plain; charset=utf-8");
  });

  const unknown = { additionalProperties: false };
  const to = (path: string, value: string) => ({ remedy: [{ op: "replace", path, value }] });
  const move = (from: string, path: string) => ({ remedy: [{ op: "move", from, path }] });
  const ofType = (parameter: string, type: string) => ({ parameter, rule: { type } });
  const ofKind = { parameter: "kind", rule: { enum: ["Big", "SMALL"] } };
  const ofSince = { parameter: "since", rule: { format: "date-time" } };
  const instant = "2024-02-20T00:00:00+02:00";
  test.each<[path: string, fault: object]>([
    ["/things/x", { parameter: "thing_id", rule: { int64: true } }],
    ["/things/1.0", { parameter: "thing_id", rule: { int64: true }, ...to("/thing_id", "1") }],
    ["/things/1?count=0", { parameter: "count", rule: { minimum: 1 } }],
    ["/things/1?count=1.5", ofType("count", "integer")],
    ["/things/1?count=%2B1", { ...ofType("count", "integer"), ...to("/count", "1") }],
    ["/things/1?count=1&count=2", ofType("count", "integer")],
    ["/things/1?count[]=1", { parameter: "count[]", rule: unknown, ...move("/count[]", "/count") }],
    ["/things/1?cuont=1", { parameter: "cuont", rule: unknown, ...move("/cuont", "/count") }],
    ["/things/1?cuont=1&count=2", { parameter: "cuont", rule: unknown }],
    ["/things/1?nope=1", { parameter: "nope", rule: unknown }],
    ["/things/1?__proto__=1", { parameter: "__proto__", rule: unknown }],
    ["/things/1?accounts=a&account=b", { parameter: "account", rule: unknown }],
    ["/things/1?flag=yes", { ...ofType("flag", "boolean"), ...to("/flag", "true") }],
    ["/things/1?flag=2", ofType("flag", "boolean")],
    ["/things/1?kind=bigg", { ...ofKind, ...to("/kind", "Big") }],
    ["/things/1?kind=tiny", ofKind],
    [`/things/1?since=${instant}`, { ...ofSince, ...to("/since", instant) }],
    ["/things/1?since=2024-02-30T00:00:00Z", ofSince],
    [`/names/${"x".repeat(301)}`, { parameter: "name", rule: { maxLength: 300 } }],
  ])("%s has a fault", async (path, fault) => {
    const response = await send(path, { headers: { accept: "application/json" } });
    expect(JSON.parse(response.text)).toEqual([{ ...fault, detail: expect.any(String) }]);
  });
});

describe("doubled slashes in a path", () => {
  test.each([
    ["//names/a", "a"],
    ["//names//a", 404],
    ["/names//a", 404],
    ["//numbers/3", "[1"],
    ["//nowhere", 404],
    ["//health//", "{}"],
    ["/%2Fnames/a", 404],
  ])("%s", async (path, expected) => {
    const { status, text } = await send(path);
    if (typeof expected === "string")
      expect([status, text]).toEqual([200, expect.stringContaining(expected)]);
    else expect(status).toBe(expected);
  });

  test("do not change the names between them", async () => {
    expect((await send("//names/a%2F%2Fb?")).text).toBe("a//b");
    expect((await send("//things/", { method: "DELETE" })).status).toBe(405);
  });
});

describe("a body is accepted unchanged or rejected:", () => {
  const ofJson = { "content-type": "application/json" };
  const post = (body: string | Buffer | null, headers: Record<string, string> = ofJson) =>
    send("/things/", { method: "POST", body, headers });

  /** A body whose list of names has a text of these bytes. */
  const ofBytes = (...bytes: number[]) =>
    Buffer.concat([Buffer.from('{"result":true,"names":["a'), Buffer.from(bytes), Buffer.from('"]}')]);
  const nested = (depth: number) => `{"result":true,"x":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  const members = Array.from({ length: 10_001 }, (_, index) => `"a${index}":","`);
  const tooMany = "the body has more than 10,000 members and elements\n";
  const tooDeep = "the body is nested more than 100 levels deep\n";
  const texts = (...more: string[]) =>
    JSON.stringify({ result: true, x: [...Array.from({ length: 9_997 }, () => '"[{,\\'), ...more] });
  test.each<[string, string | Buffer, string]>([
    ["a text for a boolean", '{"result":"true"}', "body/result must be true or false\n"],
    ["a number for a boolean", '{"result":1}', "body/result must be true or false\n"],
    ["null for a required member", '{"result":null}', "body/result must be true or false\n"],
    ["a list of one for a value", '{"result":[true]}', "body/result must be true or false\n"],
    [
      "an unknown member",
      '{"result":true,"extra":1}',
      "body/extra is unknown; known: result, size, parts, names\n",
    ],
    ["a text for an integer", '{"result":true,"size":"5"}', "body/size must be an integer\n"],
    [
      "a repeated item",
      '{"result":true,"names":["a","a"]}',
      "body/names must not repeat an element; element 2 is repeated\n",
    ],
    [
      "missing members",
      '{"result":true,"parts":[{},{}]}',
      "parts/0/a is required; body/parts/0/b is required; body/parts/1",
    ],
    [
      "a misspelt name where others are allowed",
      '{"result":true,"parts":[{"A":1,"b":2}]}',
      "body/parts/0/a is",
    ],
    ["a misspelt name", '{"reslut":true}', "body/reslut is unknown; is result meant?\n"],
    ["a list", "[]", "body must be an object\n"],
    ["no JSON", "{", "the body is not valid JSON"],
    ["nothing", "", "the body is empty"],
    ["a long array", `[${"1,".repeat(10_000)}1]`, tooMany],
    ["an object of many members", `{${members}}`, tooMany],
    ["an array that is not closed", "[1,".repeat(50).concat("1,".repeat(300_000)), tooMany],
    ["just as many, with commas and brackets in texts", texts(), "body/x is unknown; known: result"],
    ["too many, with commas and brackets in texts", texts("", ""), tooMany],
    ["101 levels", nested(100), tooDeep],
    ["500,001 levels", nested(500_000), tooDeep],
    ["an invalid byte", ofBytes(0xff), "the body is not valid UTF-8\n"],
    ["an encoded surrogate", ofBytes(0xed, 0xa0, 0x80), "the body is not valid UTF-8\n"],
  ])("%s is rejected", async (_name, body, message) => {
    const response = await post(body);
    expect(response.text).toContain(message);
    expect(response.status).toBe(400);
  });

  const to = (path: string, value: unknown) => ({ remedy: [{ op: "replace", path, value }] });
  const ofType = (pointer: string, type: string) => ({ pointer, rule: { type } });
  const atUnknown = (pointer: string) => ({ pointer, rule: { additionalProperties: false } });
  test.each<[fault: object, body: string]>([
    [{ ...ofType("/result", "boolean"), ...to("/result", true) }, '{"result":"true"}'],
    [{ ...ofType("/result", "boolean"), ...to("/result", true) }, '{"result":[true]}'],
    [ofType("/result", "boolean"), '{"result":null}'],
    [ofType("/result", "boolean"), '{"result":2}'],
    [{ ...ofType("/size", "integer"), ...to("/size", 5) }, '{"result":true,"size":"5"}'],
    [ofType("/size", "integer"), '{"result":true,"size":5.5}'],
    [{ pointer: "/result", rule: { required: true } }, "{}"],
    [
      { ...atUnknown("/reslut"), remedy: [{ op: "move", from: "/reslut", path: "/result" }] },
      '{"reslut":true}',
    ],
    [{ ...atUnknown("/a~1b~0"), remedy: [{ op: "remove", path: "/a~1b~0" }] }, '{"result":true,"a/b~":1}'],
    [
      { pointer: "/names", rule: { "x-unique-items": true }, ...to("/names", ["a"]) },
      '{"result":true,"names":["a","a"]}',
    ],
    [{ pointer: "/names", rule: { maxItems: 2 } }, '{"result":true,"names":["a","b","c"]}'],
    [ofType("", "object"), "[]"],
    [{ pointer: "", rule: { contentMediaType: "application/json" } }, "{"],
    [{ pointer: "", rule: { required: true } }, ""],
    [{ pointer: "", rule: { nestingMax: 100 } }, nested(100)],
    [{ pointer: "", rule: { membersMax: 10_000 } }, `{${members}}`],
  ])("%j is the fault of a body", async (fault, body) => {
    const response = await post(body, { ...ofJson, accept: "application/json" });
    expect(JSON.parse(response.text)).toEqual([{ ...fault, detail: expect.any(String) }]);
  });

  test.each([
    ['{"result":true}', { result: true }],
    ['{"result":true,"size":null}', { result: true }],
    ['{"result":true,"names":null,"parts":[{"a":null,"b":1}]}', { result: true, parts: [{ a: null, b: 1 }] }],
    ['{"result":true,"parts":[{"a":1,"b":2,"c":null}]}', { result: true, parts: [{ a: 1, b: 2 }] }],
  ])("a body is passed on, without optional members that are null: %s", async (body, received) => {
    const response = await post(body);
    expect(response.status).toBe(200);
    expect(JSON.parse(response.text)).toEqual({ body: received });
  });

  test("a list that is too long is rejected without validation of its items", async () => {
    // The items of one list lack members, and those of the other are the same.
    const body = `{"parts":[${"{},".repeat(2000)}{}],"names":[${'"a",'.repeat(4000)}"a"]}`;
    expect((await post(body)).text.split("; ")).toEqual([
      "body/result is required",
      "body/parts must have at most 2 elements",
      "body/names must have at most 2 elements\n",
    ]);
  });

  test("a missing required body is rejected", async () => {
    expect(await post(null, {})).toMatchObject({ status: 400, text: "a body is required\n" });
    const { text } = await post(null, { accept: "application/json" });
    expect(JSON.parse(text)).toEqual([
      { pointer: "", rule: { required: true }, detail: "a body is required" },
    ]);
  });

  const utf8 = "the charset of the body must be utf-8\n";
  const identity = "the body must not have a content encoding\n";
  test.each<[string, string | undefined, number, string?]>([
    ...["text/plain", "application/xml", "application/vnd.x+json", "nonsense"].map(
      (type): [string, undefined, number] => [type, undefined, 415],
    ),
    ["application/json; charset=utf-8", undefined, 200],
    ['application/json;charset="UTF-8"', undefined, 200],
    ["application/json; charset=utf8", undefined, 200],
    ["application/json; charset=UTF8", undefined, 200],
    ["application/json; charset=utf-16", undefined, 415, utf8],
    ["application/json; profile=a; charset=latin1", undefined, 415, utf8],
    ["application/json", "identity", 200],
    ["application/json", "gzip", 415, identity],
    ["application/json", "gzip, identity", 415, identity],
    ["application/json", "unknown", 415, identity],
  ])("a body of type %s with the encoding %s is %i", async (type, encoding, status, text) => {
    const headers = { "content-type": type, ...(encoding && { "content-encoding": encoding }) };
    const response = await post('{"result":true}', headers);
    expect(response.status).toBe(status);
    if (text !== undefined) expect(response.text).toBe(text);
    expect(response.headers["accept-encoding"]).toBe(text === identity ? "identity" : undefined);
  });

  test("a body of 1 MiB is accepted and a longer one is rejected", async () => {
    const body = '{"result":true}'.padEnd(2 ** 20);
    expect((await post(body)).status).toBe(200);
    expect((await post(`${body} `)).status).toBe(413);
  });

  const forms = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "text/plain"];

  test.each([...forms, "application/jsonp", "nonsense", "", undefined])(
    "an operation without a request body rejects a body of type %s, which a page of another origin can send",
    async (contentType) => {
      const headers = contentType === undefined ? {} : { "content-type": contentType };
      for (const body of ["{not json", Readable.from(["{not json"])]) {
        const response = await send("/things/", { method: "PUT", body, headers });
        const text = "the content type of the body must be application/json\n";
        expect(response).toMatchObject({ status: 415, text });
      }
    },
  );

  test("an operation without a request body ignores JSON in UTF-8, and the type of no body", async () => {
    const put = (headers: Record<string, string>, body: string | Readable = "") =>
      send("/things/", { method: "PUT", body, headers });
    for (const type of ["application/json", "Application/JSON; charset=UTF-8"])
      for (const body of ["{not json", Readable.from(["{not json"])])
        expect(await put({ "content-type": type }, body)).toMatchObject({
          status: 200,
          text: '{"body":"none"}\n',
        });
    for (const type of forms) expect((await put({ "content-type": type })).status).toBe(200);
    const encoded = await put({ "content-type": "application/json", "content-encoding": "gzip" }, "{}");
    expect([encoded.status, encoded.headers["accept-encoding"]]).toEqual([415, "identity"]);
    expect((await put({ "content-type": "application/json; charset=utf-16" }, "{}")).status).toBe(415);
  });
});

describe("authentication precedes validation:", () => {
  test.each([
    ["/secret/x", undefined, 401, "invalid token; no key\n"],
    ["/secret/x?nope=1", "bad", 401, "invalid token; no key\n"],
    ["/secret/1", "weak", 403, "good is required; scope missing; best is required\n"],
    ["/secret/1", "unverifiable", 503, "no keys\n"],
    ["/secret/1", "broken", 500, "an unexpected error occurred; it is in the log\n"],
    ["/secret/x", "good", 400, "path parameter number must be an integer\n"],
    ["/secret/1", "good", 200, '{"name":"good"}\n'],
    ["/secret/1", "best", 200, '{"name":"best"}\n'],
  ])("%s with the token %s is %i", async (path, name, status, text) => {
    const headers = { ...(name && { authorization: `Bearer ${name}` }) };
    const response = await send(path, { headers });
    expect(response).toMatchObject({ status, text });
    expect(response.headers["www-authenticate"]).toBe(status === 401 ? "Bearer good" : undefined);
    const withKey = await send(path, { headers: { ...headers, key: "good" } });
    expect(withKey.status).toBe(path.includes("x") ? 400 : 200);
  });
});

test.each([0, 1, 1000, 1001, 12_345])("an array of %d integers has all of them, exactly", async (count) => {
  const { status, headers, text } = await send(`/numbers/${count}`);
  expect([status, headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
  expect(text).toBe(`[${numbers(count)}]\n`);
});

test("an idle connection stays open longer than those of proxies, or as long as the setting says", async () => {
  expect((await send("/names/abc")).headers["keep-alive"]).toBe("timeout=620");
  await using brief = await serve(contract, handlers, { ...parts, keepAliveTimeoutMs: 1000 });
  // Resolves when the service closes the connection.
  const response = await brief.sendBytes("GET /names/abc HTTP/1.1\r\nhost: a\r\n\r\n");
  expect(response).toMatch(/\r\nKeep-Alive: timeout=1\r\n/);
});

describe("methods and paths", () => {
  test.each([
    ["DELETE", "/names/abc", 405, { allow: "GET, HEAD" }],
    ["POST", "/names/abc", 405, { allow: "GET, HEAD" }],
    ["OPTIONS", "/names/abc", 204, { allow: "GET, HEAD, OPTIONS" }],
    ["OPTIONS", "/unknown", 404, {}],
    ["TRACE", "/names/abc", 405, { allow: "GET, HEAD" }],
    ["PROPFIND", "/names/abc", 405, { allow: "GET, HEAD" }],
    ["HEAD", "/names/abc", 200, { "content-length": "3" }],
    ["GET", "/names/abc/", 200, {}],
    ["PUT", "/things", 200, {}],
  ])("%s %s is %i", async (method, path, status, headers) => {
    const response = await send(path, { method: method as never });
    expect(response).toMatchObject({ status, headers, ...(method === "HEAD" && { text: "" }) });
  });

  const getName = "GET /names/a HTTP/1.1";
  const last = (...lines: string[]) => [...lines, "connection: close", "", ""].join("\r\n");
  const connectTo = "CONNECT other:80 HTTP/1.1\r\nhost: a\r\n\r\n";
  const unread = last("PATCH /things/ HTTP/1.1", "host: a", "content-type: nonsense", "content-length: 9");
  const invalidHosts = [
    ...['a">,<b', "x:y:z", "a:99999", "[::1", "[:::]", "::1", "a%zz", "a%00", "1.2.3.4.5"],
    ...["user@a", "a/b", "a,b"],
  ];
  const validHosts = ["a:", "A.example:0", "127.0.0.1:65535", "a_b", "%41", "", "[::1]:8080"];
  const badHost = "the header Host is not a valid host";
  const hash = "a # in the target must be percent-encoded, as %23";
  test.each<[string, number, string]>([
    ["nonsense\r\n\r\n", 400, "this is not a valid HTTP request"],
    [last(getName, "host: a", `x: ${"x".repeat(20_000)}`), 431, "larger than 16 KiB"],
    [last(getName), 400, "the header Host is missing"],
    [last(getName, "host: a", "Host: b"), 400, "more than one header Host"],
    ...invalidHosts.map((host): [string, number, string] => [last(getName, `host: ${host}`), 400, badHost]),
    ...validHosts.map((host): [string, number, string] => [last(getName, `host: ${host}`), 200, "a"]),
    [last("GET /names/a#b HTTP/1.1", "host: a"), 400, hash],
    [last("GET /things/1?tag=a#b HTTP/1.1", "host: a"), 400, hash],
    [connectTo, 405, "CONNECT is not allowed here"],
    [`${connectTo}more`, 405, "allow: \r\n"],
    [unread, 405, "allow: POST, PUT"],
    [last("GET http://b:81/names/a HTTP/1.1", "host: a"), 200, "a"],
    [last("GET http://u@b/names/a HTTP/1.1", "host: a"), 400, badHost],
    [last("GET http://b:81/names/a HTTP/1.1"), 400, "the header Host is missing"],
    ["GET /names/a HTTP/1.0\r\n\r\n", 200, "a"],
    [last(getName, "host: a", "expect: something"), 200, "a"],
  ])(
    "an invalid or unusual request gets a response in the format of the service: %j",
    async (bytes, status, message) => {
      const response = await service.sendBytes(bytes);
      expect(response).toContain(`HTTP/1.1 ${status} `);
      expect(response).toContain(message);
      expect(response).toContain("content-type: text/plain");
      expect(response).toMatch(/\r\nx-request-id: [\da-f-]{36}\r\n/);
    },
  );
});

describe("a request id", () => {
  const kept = ["a", "trace:4/5==", "x".repeat(128), '"~!'];
  test.each([...kept, undefined, "", "a b", "x".repeat(129), "é", ["a", "b"]])(
    "of the caller is kept if it is valid: %j",
    async (id) => {
      const isKept = typeof id === "string" && kept.includes(id);
      const headers = id === undefined ? {} : { "x-request-id": id };
      const ids = new Set<unknown>();
      for (const path of ["/names/a", "/nowhere", "/names/%FF", "/things/x"])
        ids.add((await send(path, { headers })).headers["x-request-id"]);
      const made = Array(4).fill(expect.stringMatching(/^[\da-f]{8}-[\da-f-]{27}$/));
      expect([...ids]).toEqual(isKept ? [id] : made);
    },
  );

  test("is in a problem document and in the log, also at debug, where each request has a line", async () => {
    const lines: string[] = [];
    const logged = await createService({
      ...unchecked,
      renderError: ({ status }) => ({
        type: "application/problem+json",
        body: { type: "/problems/a", status },
      }),
      log: openLog("debug", { write: (line) => lines.push(line) }),
    });
    const headers = { "x-request-id": "mine" };
    const failed = await logged.inject({ url: "/names/broken?debug=1", headers });
    expect(failed.json()).toEqual({ type: "/problems/a", status: 400, request_id: "mine" });
    await logged.inject({ url: "/secret/7", headers: { ...headers, authorization: "Bearer broken" } });
    await logged.close();
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 20, requestId: "mine", method: "GET", route: "/names/:name", status: 400, msg: "request" },
      { level: 50, requestId: "mine", method: "GET", route: "/secret/:number", msg: "unexpected error" },
      { level: 20, requestId: "mine", method: "GET", route: "/secret/:number", status: 500, msg: "request" },
    ]);
  });
});

describe("long and ambiguous requests get a declared status, and a body is never read as a request:", () => {
  const get = (path: string, ...lines: string[]) =>
    [`GET ${path} HTTP/1.1`, "host: a", ...lines, "", ""].join("\r\n");
  const post = (...lines: string[]) =>
    ["POST /things/ HTTP/1.1", "host: a", "content-type: application/json", ...lines].join("\r\n");
  const last = get("/names/last", "connection: close");
  const chunkedGet = get("/names/a", "transfer-encoding: chunked");
  const long = "x".repeat(15_000);
  const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`;
  const body = '{"result":true}';

  test.each([
    ["a request line of more than 16 KiB", get(`/names/${"x".repeat(16_384)}`), [431]],
    ["a long path", get(`/names/${long}`) + last, [400, 200]],
    ["a long unknown path", get(`/${long}`) + last, [404, 200]],
    ["a long query", get(`/things/1?tag=${long}`) + last, [200, 200]],
    ["a long unknown query parameter", get(`/names/a?${long}=1`) + last, [400, 200]],
    ["chunks of more than 1 MiB", post("transfer-encoding: chunked", "", chunk.repeat(17)), [413]],
    ["a Content-Length of more than 1 MiB", post("content-length: 1048577", "", ""), [413]],
    ["a body longer than it says", post("content-length: 15", "", `${body}more`) + last, [400]],
    ["two Content-Length headers", post("content-length: 15", "content-length: 150", "", body) + last, [400]],
    ["Content-Length and chunks", post("content-length: 15", "transfer-encoding: chunked", "", body), [400]],
    ["a GET with a body", get("/names/a", "content-length: 15") + body + last, [200, 200]],
    ["a GET with a body in chunks", `${chunkedGet}${chunk.repeat(17)}0\r\n\r\n${last}`, [200, 200]],
  ])("%s", async (_name, bytes, statuses) => {
    const responses = [...(await service.sendBytes(bytes)).matchAll(/HTTP\/1.1 (\d+)/g)];
    expect(responses.map(([, status]) => Number(status))).toEqual(statuses);
  });
});

test.each(["thrown", "aborted"])("an error with any properties is a 500: %s", async (name) => {
  const text = "an unexpected error occurred; it is in the log\n";
  expect(await send(`/names/${name}`)).toMatchObject({ status: 500, text });
});

test.each<[string, string | undefined]>([
  ["member", "body/undeclared is unknown; known: amount"],
  ["missing", "body/amount is required"],
  ["status", "the status is not declared"],
  ["type", 'the media type "text/csv" is not declared'],
  ["none", undefined],
])("a response that violates the contract is replaced by a 500: %s", async (kind, violation) => {
  violations.length = 0;
  const { status, text } = await send(`/violation/${kind}`);
  expect([status, violations.length]).toEqual(violation ? [500, 1] : [200, 0]);
  expect(text).toContain(violation ?? '{"amount":1}\n');
});

describe("closing", () => {
  beforeEach(() =>
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] }),
  );
  afterEach(() => void vi.useRealTimers());

  /** Makes a service listen. The result opens a connection to it; `atService` is its other end. */
  async function connectTo(service: FastifyInstance) {
    const { port } = new URL(await service.listen({ port: 0, host: "127.0.0.1" }));
    return async () => {
      const accepted = once(service.server, "connection");
      const socket = connect(Number(port), "127.0.0.1").on("error", () => {});
      const [atService] = (await accepted) as [Socket];
      return { socket, atService, closed: once(socket, "close") };
    };
  }
  const get = (name: string) => `GET /names/${name} HTTP/1.1\r\nhost: a\r\n\r\n`;

  test("answers requests in flight, rejects new ones, and does not wait for idle connections", async () => {
    const service = await createService(parts);
    const open = await connectTo(service);
    const [idle, busy] = [await open(), await open()];
    idle.socket.write(get("idle"));
    await once(idle.socket, "data");
    let received = "";
    busy.socket.on("data", (chunk) => (received += chunk)).write(get("slow"));
    await slow.entered.promise;
    const closed = service.close();
    busy.socket.write(get("late"));
    while (busy.atService.bytesRead < (get("slow") + get("late")).length) await afterThisTurn();
    slow.released.resolve();
    await Promise.all([closed, idle.closed, busy.closed]);
    expect(received).toMatch(
      /^HTTP\/1.1 200 OK.*\r\n\r\nslowHTTP\/1.1 503 .*\r\n\r\nthe service is stopping\n$/s,
    );
  });

  test("ends a connection on which no request arrives after a second", async () => {
    const service = await createService(parts);
    const open = await connectTo(service);
    const [unused, used] = [await open(), await open()];
    const closed = service.close();
    used.socket.write(get("late"));
    expect(String(await once(used.socket, "data"))).toMatch(/^HTTP\/1.1 503 /);
    await vi.advanceTimersByTimeAsync(999);
    expect(unused.atService.destroyed).toBe(false);
    // The next look is after the one that ends the wait. When that continues is not a matter of the timers alone.
    await expect
      .poll(() => vi.advanceTimersByTimeAsync(50).then(() => unused.atService.destroyed))
      .toBe(true);
    await Promise.all([closed, unused.closed]);
  });

  test("ends a connection that was busy when it began as soon as it is idle", async () => {
    const service = await createService(parts);
    const { socket, atService } = await (await connectTo(service))();
    const requested = once(service.server, "request");
    socket.resume().write(get("slow"));
    const [, response] = await requested;
    await slow.entered.promise;
    const closed = service.close();
    // Until then, Node.js closes idle connections itself.
    while (service.server.listening) await afterThisTurn();
    slow.released.resolve();
    await once(response, "close");
    await afterThisTurn();
    vi.advanceTimersByTime(100);
    expect(atService.destroyed).toBe(true);
    await closed;
  });

  test("cuts off a response that its client does not read after 10 seconds", async () => {
    const app = fastify();
    const closing = closeGracefully(app);
    app.get("/endless", (_request, reply) =>
      reply.type("text/plain").send(Readable.from(Array.from({ length: 1000 }, () => "x".repeat(65_536)))),
    );
    const { socket, atService } = await (await connectTo(app))();
    socket.write("GET /endless HTTP/1.1\r\nhost: a\r\n\r\n");
    await once(socket, "readable");
    const closed = app.close();
    if (!closing.aborted) await once(closing, "abort");
    vi.advanceTimersByTime(9_999);
    expect(atService.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    await closed;
    socket.destroy();
  });
});
