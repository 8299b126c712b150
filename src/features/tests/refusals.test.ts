import { beforeEach, describe, expect, test } from "vitest";
import { names, stopClock } from "../store/new-store.fixture.ts";
import { StoreFailure } from "../store/store.ts";
import { json, plain, serviceForTests, startFeatures } from "./features.fixture.ts";

/** A store with a history: `as_of` is possible. The clock stands. */
const { request, read, replace } = serviceForTests("memory:?keep=all");
beforeEach(() => stopClock(Date.UTC(2026, 5, 1)));

const problemJson = "application/problem+json; charset=utf-8";
type Sent = Parameters<typeof request>;
/** Sends a request of a caller who prefers JSON. Resolves with the problem document. */
async function problemOf(...[method, path, { headers, body } = {}]: Sent) {
  const accept = "application/json";
  const response = await request(method, path, { body, headers: { ...headers, accept } });
  expect(response).toMatchObject({ type: problemJson, headers: { vary: "accept" } });
  return { headers: response.headers, problem: JSON.parse(response.text) };
}

const long = "x".repeat(257);
const badCursor = "query parameter cursor must be the next_cursor of a page of this list\n";
const badText = "must be a text of letters, digits and the characters - . _ ~\n";
const atLeast1 = "query parameter limit must be at least 1\n";
const atMost1000 = "query parameter limit must be at most 1000\n";

/** service.test.ts tries what is the same for every operation. Here are the limits of each. */
describe("a request that the contract forbids gets 400, and changes nothing:", () => {
  test.each([
    ["/features/a/b/%00", "path parameter feature must not contain control characters"],
    ["/features/a/b/line%0Afeed", "path parameter feature must not contain control characters"],
    ["/features/a/b/%C2%9F", "path parameter feature must not contain control characters"],
    [`/features/a/b/${long}`, "path parameter feature must have at most 256 characters"],
    [`/features/a/${long}`, "path parameter id must have at most 256 characters\n"],
    ["/features//b", "path parameter resource must not be empty\n"],
    ["/features/kind", "query parameter feature is required"],
    ["/features/kind?feature=", "query parameter feature must not be empty\n"],
    ["/features/kind?feature=a&limit=0", atLeast1],
    ["/features/kind?feature=a&limit=1001", atMost1000],
    ["/features/kind?feature=a&cursor=%2F", "query parameter cursor must be"],
    ["/features/kind?feature=a&feature=b", "query parameter feature must be given once\n"],
    ["/features/kind?feature=a&count=2", "query parameter count must be true or false\n"],
    ["/features", "query parameter resource is required"],
    ["/features?resource=", "query parameter resource must not be empty\n"],
    ["/features?resource=kind&limit=0", atLeast1],
    ["/features?resource=kind&feature=a", "feature is unknown; known: resource, limit, cursor\n"],
    ["/features?resource=kind&cursor=NDI", badCursor],
    ["/features?resource=kind&cursor=WyJhIl0", badCursor],
    ["/features?resource=kind&cursor=$", "must be a text of letters, digits, hyphens and underscores\n"],
    ["/resources/kind/%00/changes", "path parameter id must not contain control characters\n"],
    ["/resources/kind/1/changes?limit=0", atLeast1],
    ["/resources/kind/1/changes?limit=1001", atMost1000],
    ["/resources/kind/1/changes?cursor=%2F", badText],
    ["/resources/kind/1?as_of=2026-01-01T00:00:00Z", "as_of is unknown; none is known here\n"],
    ["/changes?cursor=%2F", badText],
    ["/changes?limit=0", atLeast1],
    ["/changes?limit=1001", atMost1000],
    ["/changes?limt=1", "query parameter limt is unknown; is limit meant?\n"],
  ])("%s", async (path, message) => {
    await expectRefusal(["GET", path], message);
  });

  test("an unknown member whose name is as long as a body, with its remedy", async () => {
    const withName = (name: string) =>
      `{"changes":[{"type":"remove","resource":"a","id":"b","feature":"c"}],"${name}":1}`;
    const name = "~".repeat(2 ** 20 - withName("").length);
    const headers = { "content-type": "application/json" };
    const path = `/${"~0".repeat(name.length)}`;
    const inText = await request("POST", "/changes", { headers, body: withName(name) });
    expect(inText).toMatchObject({ status: 400, text: `body${path} is unknown; known: changes\n` });
    const accept = "application/json";
    const inJson = await request("POST", "/changes", {
      headers: { ...headers, accept },
      body: withName(name),
    });
    const { errors } = JSON.parse(inJson.text);
    expect(errors).toMatchObject([{ pointer: path, remedy: [{ op: "remove", path }] }]);
  });

  const withHistory = ["/features/kind/1?", "/features/kind/1/a?", "/features/kind?feature=a&limit=2&"];
  test.each(["yesterday", "2026-02-30T00:00:00Z", "2026-01-01", "1767225600", "null"])(
    "as_of=%s",
    async (at) => {
      for (const path of withHistory)
        await expectRefusal(["GET", `${path}as_of=${at}`], "query parameter as_of must be an instant");
    },
  );

  test("as_of in the future, beside a count, and with a change", async () => {
    const future = "as_of=2026-06-01T00:00:00.001Z";
    for (const path of withHistory)
      await expectRefusal(["GET", path + future], "query parameter as_of must not be in the future\n");
    const past = "as_of=2026-01-01T00:00:00Z";
    await expectRefusal(
      ["GET", `/features/kind?feature=a&count=true&${past}`],
      "query parameter count is not allowed with as_of\n",
    );
    await expectRefusal(["POST", `/features/kind/1/a?${past}`], "as_of is unknown; known: expires_at\n");
  });

  test.each([
    ...["now", "2037-01-01", "2037-01-01T00:00:00", "2001-01-01T00:00:00Z", "", "10000-01-01T00:00:00Z"],
    "2026-06-01T00:00:00Z",
  ])("expires_at=%s", async (at) => {
    await expectRefusal(
      ["POST", `/features/kind/1/a?expires_at=${at}`],
      "query parameter expires_at must be",
    );
  });

  test("an invalid Last-Event-ID", async () => {
    const headers = { "last-event-id": "a b" };
    await expectRefusal(["GET", "/changes", { headers }], `header last-event-id ${badText}`);
  });

  const [resource, id, feature] = ["kind", "1", "a"];
  const resources = (count: number) => names(count).map((id) => ({ resource, id }));
  const query = (members: object) => ({ resources: resources(1), features: [feature], ...members });
  const ofOne = (members: object) => query({ resources: [{ resource, id, ...members }] });
  const addition = { type: "add", resource, id, feature };
  const second = (members: object) => ({ changes: [addition, { ...addition, ...members }] });
  const past = "2026-05-31T00:00:00Z";
  const future = "2999-01-01T00:00:00Z";
  const ofBodies: Record<string, [message: string, body: unknown][]> = {
    "PUT /features/kind/1": [
      ["a body is required", undefined],
      ["body must be a list\n", { a: 1 }],
      ["body must not repeat an element; element 2 is repeated\n", ["a", "a"]],
      ["body/1 must not be empty\n", ["a", ""]],
      ["body/0 must be a text\n", [1]],
      ["body/0 must not contain control characters", ["a\u0000"]],
      ["body contains an unpaired surrogate", '["\\\\\\ud800"]'],
      ["body contains an unpaired surrogate", '["\\udc00"]'],
      ["body/0 must have at most 256 characters\n", [long]],
      ["body must have at most 1,000 elements\n", names(1001)],
    ],
    "POST /query": [
      ["body/resources is required; body/features is required", {}],
      ["body/resources must have at most 100 elements\n", query({ resources: resources(101) })],
      ["body/features must have at most 100 elements\n", query({ features: names(101) })],
      ["body/resources must not be empty\n", query({ resources: [] })],
      ["body/features must not be empty\n", query({ features: [] })],
      ["body/resources/0/id is required", ofOne({ id: undefined })],
      ["body/resources/0/id must be a text\n", ofOne({ id: 1 })],
      ["body/resources/0/x is unknown; known: resource, id\n", ofOne({ x: 1 })],
      ["body/features/0 must not contain control characters", query({ features: ["\n"] })],
      [
        "body/__proto__ is unknown; known: resources, features",
        '{"resources":[],"features":[],"__proto__":{}}',
      ],
    ],
    "POST /changes": [
      ["body/changes must have at most 1,000 elements\n", { changes: Array(1001).fill(addition) }],
      ["changes/1/expires_at is not allowed with remove", second({ type: "remove", expires_at: future })],
      ["must be in the future", second({ expires_at: past })],
      ["body/changes/1/expires_at must be", second({ expires_at: "soon" })],
      ["body/changes/1/type must be add or remove\n", second({ type: "toggle" })],
      ["body/changes/1/feature is required", second({ feature: undefined })],
      ["body/changes/1/expires is unknown; is expires_at meant?\n", second({ expires: 1 })],
    ],
  };
  describe.each(Object.entries(ofBodies))("%s", (operation, bodies) => {
    const [method, path] = operation.split(" ") as ["PUT" | "POST", string];
    test.each(bodies)("%s", async (message, body) => {
      const headers = { "if-match": "*", ...(body !== undefined && { "content-type": "application/json" }) };
      await expectRefusal([method, path, { body, headers }], message);
    });
  });

  /** The response is one line of plain text, which a problem document has as its detail. */
  async function expectRefusal(sent: Sent, message: string): Promise<void> {
    const response = await request(...sent);
    expect(response).toMatchObject({ status: 400, type: plain, text: expect.stringMatching(/^[^\n]+\n$/) });
    expect(response.headers).toMatchObject({ vary: "accept" });
    expect(response.text).toContain(message);
    const { problem, headers } = await problemOf(...sent);
    expect(problem).toEqual({
      ...{ type: "/problems/invalid-request", title: "The request does not conform to the contract" },
      ...{ status: 400, detail: response.text.trimEnd(), errors: expect.any(Array) },
      request_id: headers["x-request-id"],
    });
    const details = problem.errors.map(({ detail }: { detail: string }) => detail);
    expect(`${details.join("; ")}\n`).toBe(response.text);
    expect(await read("/changes")).toMatchObject({ changes: [] });
  }
});

test.each([
  ["PUT", "/features/a/b/c", "GET, HEAD, POST, DELETE"],
  ["POST", "/features/a/b", "GET, HEAD, PUT, DELETE"],
  ["PUT", "/features/a", "GET, HEAD"],
  ["POST", "/resources/kind/1", "GET, HEAD"],
  ["POST", "/resources/kind/1/changes", "GET, HEAD"],
] as const)("%s %s gets 405 and the methods of the path", async (method, path, allow) => {
  const headers = { allow, vary: "accept" };
  const text = `${method} is not allowed here; allowed: ${allow}\n`;
  expect(await request(method, path)).toMatchObject({ status: 405, type: plain, text, headers });
});

describe("a fault has its place, its rule and the only safe correction:", () => {
  const body = {
    changes: [{ type: "Add", resource: "kind", id: 1, feature: "a", expiresAt: "2999-01-01T00:00:00Z" }],
  };
  const listHeaders = { "if-match": "*" };
  const jsonHeaders = { "content-type": "application/json" };
  const unknown = { additionalProperties: false };
  const to = (path: string, value: unknown) => ({ remedy: [{ op: "replace", path, value }] });
  const move = (from: string, path: string) => ({ remedy: [{ op: "move", from, path }] });
  test.each<[sent: Sent, faults: object[]]>([
    [
      ["GET", "/features/kind?feature=a&limit=1001"],
      [{ parameter: "limit", rule: { maximum: 1000 }, ...to("/limit", "1000") }],
    ],
    [["GET", "/changes?limt=1"], [{ parameter: "limt", rule: unknown, ...move("/limt", "/limit") }]],
    [["GET", "/features/kind"], [{ parameter: "feature", rule: { required: true } }]],
    [["GET", "/features?resource=a&feature=b"], [{ parameter: "feature", rule: unknown }]],
    [
      ["GET", "/changes", { headers: { "last-event-id": "a b" } }],
      [{ header: "last-event-id", rule: { pattern: "^[\\w.~-]+$" } }],
    ],
    [
      ["POST", "/changes", { body }],
      [
        {
          pointer: "/changes/0/expiresAt",
          rule: unknown,
          ...move("/changes/0/expiresAt", "/changes/0/expires_at"),
        },
        { pointer: "/changes/0/type", rule: { enum: ["add", "remove"] }, ...to("/changes/0/type", "add") },
        { pointer: "/changes/0/id", rule: { type: "string" }, ...to("/changes/0/id", "1") },
      ],
    ],
    [
      ["PUT", "/features/kind/1", { headers: listHeaders, body: ["a", "a"] }],
      [{ pointer: "", rule: { "x-unique-items": true }, ...to("", ["a"]) }],
    ],
    [
      ["PUT", "/features/kind/1", { headers: listHeaders, body: [""] }],
      [{ pointer: "/0", rule: { minLength: 1 } }],
    ],
    [["POST", "/changes", { headers: jsonHeaders, body: "" }], [{ pointer: "", rule: { required: true } }]],
    [
      ["POST", "/changes", { headers: jsonHeaders, body: "{" }],
      [{ pointer: "", rule: { contentMediaType: "application/json" } }],
    ],
  ])("%j", async (sent, faults) => {
    const { problem } = await problemOf(...sent);
    const expected = faults.map((fault) => ({ ...fault, detail: expect.any(String) }));
    expect(problem.errors).toEqual(expect.arrayContaining(expected));
    expect(problem.errors).toHaveLength(faults.length);
  });
});

describe("an error is text, or a problem document for a caller who prefers JSON:", () => {
  test.each<[accept: string | undefined, type: string]>([
    [undefined, plain],
    ["*/*", plain],
    ["text/plain", plain],
    ["text/html,application/xhtml+xml,*/*;q=0.8", plain],
    ["image/png", plain],
    ["application/x-ndjson", plain],
    ["application/json", problemJson],
    ["application/problem+json", problemJson],
    ["application/*", problemJson],
    ["application/json, text/plain, */*", problemJson],
    ["text/plain, application/json", plain],
    ["text/plain;q=0.5, application/json", problemJson],
    ["text/plain;q=0.5, application/problem+json;q=0.6", problemJson],
    ["application/json;q=0.5, text/plain", plain],
    ["application/json;q=0.5, */*", plain],
    ["application/json;q=0", plain],
    ["application/json; charset=utf-8", problemJson],
    ["text/plain; charset=utf-8, application/json", plain],
  ])("%j", async (accept, type) => {
    const headers: Record<string, string> = accept === undefined ? {} : { accept };
    const response = await request("GET", "/features/kind", { headers });
    expect(response).toMatchObject({ status: 400, type, headers: { vary: "accept" } });
    const detail = "query parameter feature is required";
    const problem = `{"type":"/problems/invalid-request",.*"detail":"${detail}",.*}\n`;
    expect(response.text).toMatch(new RegExp(`^${type === plain ? `${detail}\n` : problem}$`));
  });

  test("an Accept of more than 2,000 characters counts as none", async () => {
    for (const [length, type] of [
      [2000, problemJson],
      [2001, plain],
      [3000, plain],
    ] as const) {
      const headers = { accept: "application/json,a/b".padEnd(length, "b") };
      const response = await request("GET", "/features/kind", { headers });
      expect([length, response]).toMatchObject([length, { status: 400, type, headers: { vary: "accept" } }]);
    }
  });

  const large = ["a".repeat(2 ** 20)];
  const stale = { "if-match": '"a"' };
  test.each<[kind: string, status: number, title: string, sent: Sent]>([
    ["not-found", 404, "Nothing matches the request", ["GET", "/nowhere"]],
    ["method-not-allowed", 405, "The path does not have this method", ["PATCH", "/features/kind/1"]],
    ["cursor-gone", 410, "The cursor no longer has a place in the feed", ["GET", "/changes?cursor=x"]],
    [
      "precondition-failed",
      412,
      "The list has changed",
      ["PUT", "/features/a/b", { headers: stale, body: [] }],
    ],
    ["body-too-large", 413, "The body is larger than 1 MiB", ["POST", "/query", { body: large }]],
    ["unsupported-media-type", 415, "The body is not JSON in UTF-8", ["POST", "/query", { body: "a" }]],
    ["precondition-required", 428, "The header If-Match is required", ["PUT", "/features/a/b", { body: [] }]],
    ["store-failed", 500, "The store failed", ["GET", "/features/kind?feature=a"]],
    ["unexpected", 500, "An unexpected error occurred", ["GET", "/features/kind/1/a"]],
  ])("%s", async (kind, status, title, sent) => {
    replace(() => ({
      idsWith: async () => Promise.reject(new StoreFailure("the disk is full")),
      has: async () => Promise.reject(new Error("password=hunter2")),
    }));
    const { text, ...response } = await request(...sent);
    expect(response).toMatchObject({ status, type: plain, headers: { vary: "accept" } });
    const { problem, headers } = await problemOf(...sent);
    const detail = text.trimEnd();
    const request_id = headers["x-request-id"];
    expect(problem).toEqual({ type: `/problems/${kind}`, title, status, detail, request_id });
  });

  test("a resource that would have too many features is a kind of its own", async () => {
    const headers = { "if-match": "*" };
    expect((await request("PUT", "/features/kind/1", { headers, body: names(1000) })).status).toBe(200);
    const { problem } = await problemOf("POST", "/features/kind/1/more");
    expect(problem).toEqual({
      ...{ type: "/problems/too-many-features", title: "A resource would have too many features" },
      ...{ status: 400, detail: "the resource would have more than 1,000 features, the maximum" },
      request_id: expect.any(String),
    });
  });

  test("an Accept that is too long for an operation with several types is a fault of this header", async () => {
    const headers = { accept: `application/json${",a/b".repeat(1000)}` };
    const text = "the header Accept is longer than 2000 characters\n";
    expect(await request("GET", "/changes", { headers })).toMatchObject({ status: 400, type: plain, text });
  });

  test("its type is absolute if the service knows its own address", async () => {
    await using service = await startFeatures({ publicUrl: "https://api.test/flags/" });
    const response = await service.request("GET", "/nowhere", { headers: { accept: "application/json" } });
    expect(JSON.parse(response.text).type).toBe("https://api.test/flags/problems/not-found");
  });
});

test.each(["", "?resource=customer", "?id=42", "?resource=customer&id=", "?resource=customer&id=42&x=1"])(
  "a stream of flags with the query %j gets 400 as JSON",
  async (query) => {
    // OFREP has a format of its own, whatever the caller prefers.
    for (const accept of ["*/*", "text/plain", "application/problem+json"]) {
      const response = await request("GET", `/ofrep/v1/events${query}`, { headers: { accept } });
      expect(response).toMatchObject({ status: 400, type: json });
      expect(response.headers).not.toHaveProperty("vary");
      expect(JSON.parse(response.text)).toHaveProperty("errorDetails");
    }
  },
);
