import { beforeEach, describe, expect, test } from "vitest";
import { names, stopClock } from "../store/new-store.fixture.ts";
import { json, plain, serviceForTests } from "./features.fixture.ts";

/** A store with a history: `as_of` is possible. The clock stands. */
const { request, read } = serviceForTests("memory:?keep=all");
beforeEach(() => stopClock(Date.UTC(2026, 5, 1)));

const long = "x".repeat(257);
const badCursor = "query parameter cursor must be the next_cursor of a page of this list\n";

/** service.test.ts tries what is the same for every operation. Here are the limits of each. */
describe("a request that the contract forbids gets 400, and changes nothing:", () => {
  test.each([
    ["/features/a/b/%00", "path parameter feature must not contain control characters"],
    ["/features/a/b/line%0Afeed", "path parameter feature must not contain control characters"],
    ["/features/a/b/%C2%9F", "path parameter feature must not contain control characters"],
    [`/features/a/b/${long}`, "path parameter feature must NOT have more than 256 characters"],
    [`/features/a/${long}`, "path parameter id"],
    ["/features//b", "path parameter resource"],
    ["/features/kind", "query parameter feature is required"],
    ["/features/kind?feature=", "query parameter feature"],
    ["/features/kind?feature=a&limit=0", "query parameter limit"],
    ["/features/kind?feature=a&limit=1001", "query parameter limit"],
    ["/features/kind?feature=a&cursor=%2F", "query parameter cursor"],
    ["/features/kind?feature=a&feature=b", "query parameter feature"],
    ["/features/kind?feature=a&count=2", "query parameter count"],
    ["/features", "query parameter resource is required"],
    ["/features?resource=", "query parameter resource"],
    ["/features?resource=kind&limit=0", "query parameter limit"],
    ["/features?resource=kind&feature=a", "feature"],
    ["/features?resource=kind&cursor=NDI", badCursor],
    ["/features?resource=kind&cursor=WyJhIl0", badCursor],
    ["/features?resource=kind&cursor=$", "query parameter cursor"],
    ["/resources/kind/%00/changes", "path parameter id"],
    ["/resources/kind/1/changes?limit=0", "query parameter limit"],
    ["/resources/kind/1/changes?limit=1001", "query parameter limit"],
    ["/resources/kind/1/changes?cursor=%2F", "query parameter cursor"],
    ["/resources/kind/1?as_of=2026-01-01T00:00:00Z", "as_of"],
    ["/changes?cursor=%2F", "query parameter cursor"],
    ["/changes?limit=0", "query parameter limit"],
    ["/changes?limit=1001", "query parameter limit"],
  ])("%s", async (path, message) => {
    await expectRefusal(request("GET", path), message);
  });

  const withHistory = ["/features/kind/1?", "/features/kind/1/a?", "/features/kind?feature=a&limit=2&"];
  test.each(["yesterday", "2026-02-30T00:00:00Z", "2026-01-01", "1767225600", "null"])(
    "as_of=%s",
    async (at) => {
      for (const path of withHistory)
        await expectRefusal(request("GET", `${path}as_of=${at}`), "query parameter as_of");
    },
  );

  test("as_of in the future, beside a count, and with a change", async () => {
    const future = "as_of=2026-06-01T00:00:00.001Z";
    for (const path of withHistory)
      await expectRefusal(request("GET", path + future), "query parameter as_of must not be in the future\n");
    const past = "as_of=2026-01-01T00:00:00Z";
    await expectRefusal(
      request("GET", `/features/kind?feature=a&count=true&${past}`),
      "query parameter count is not allowed with as_of\n",
    );
    await expectRefusal(request("POST", `/features/kind/1/a?${past}`), "as_of");
  });

  test.each([
    ...["now", "2037-01-01", "2037-01-01T00:00:00", "2001-01-01T00:00:00Z", "", "10000-01-01T00:00:00Z"],
    "2026-06-01T00:00:00Z",
  ])("expires_at=%s", async (at) => {
    await expectRefusal(request("POST", `/features/kind/1/a?expires_at=${at}`), "query parameter expires_at");
  });

  test("an invalid Last-Event-ID", async () => {
    const headers = { "last-event-id": "a b" };
    await expectRefusal(request("GET", "/changes", { headers }), "header last-event-id must match pattern");
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
      ["body must be array", { a: 1 }],
      ["body must NOT have duplicate items (item 1 is a duplicate)", ["a", "a"]],
      ["body/1 must NOT have fewer than 1 characters", ["a", ""]],
      ["body/0 must be string", [1]],
      ["body/0 must not contain control characters", ["a\u0000"]],
      ["body contains an unpaired surrogate", '["\\\\\\ud800"]'],
      ["body contains an unpaired surrogate", '["\\udc00"]'],
      ["body/0 must NOT have more than 256 characters", [long]],
      ["body must NOT have more than 1000 items", names(1001)],
    ],
    "POST /query": [
      ["body/resources is required; body/features is required", {}],
      ["resources must NOT have more than 100", query({ resources: resources(101) })],
      ["features must NOT have more than 100", query({ features: names(101) })],
      ["body/resources must NOT have fewer than 1", query({ resources: [] })],
      ["body/features must NOT have fewer than 1", query({ features: [] })],
      ["body/resources/0/id is required", ofOne({ id: undefined })],
      ["resources/0/id must be string", ofOne({ id: 1 })],
      ['0/"x" is unknown', ofOne({ x: 1 })],
      ["body/features/0 must not contain control characters", query({ features: ["\n"] })],
      ['body/"__proto__" is unknown', '{"resources":[],"features":[],"__proto__":{}}'],
    ],
    "POST /changes": [
      ["body/changes must NOT have more than 1000", { changes: Array(1001).fill(addition) }],
      ["changes/1/expires_at is not allowed with remove", second({ type: "remove", expires_at: future })],
      ["must be in the future", second({ expires_at: past })],
      ["body/changes/1/expires_at must be", second({ expires_at: "soon" })],
      ["1/type must be one of add, remove", second({ type: "toggle" })],
      ["body/changes/1/feature is required", second({ feature: undefined })],
      ['body/changes/1/"expires" is unknown', second({ expires: 1 })],
    ],
  };
  describe.each(Object.entries(ofBodies))("%s", (operation, bodies) => {
    const [method, path] = operation.split(" ") as ["PUT" | "POST", string];
    test.each(bodies)("%s", async (message, body) => {
      const headers = { "if-match": "*", ...(body !== undefined && { "content-type": "application/json" }) };
      await expectRefusal(request(method, path, { body, headers }), message);
    });
  });

  /** The response is one line of plain text. */
  async function expectRefusal(sent: ReturnType<typeof request>, message: string): Promise<void> {
    const response = await sent;
    expect(response).toMatchObject({ status: 400, type: plain, text: expect.stringMatching(/^[^\n]+\n$/) });
    expect(response.text).toContain(message);
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
  expect(await request(method, path)).toMatchObject({ status: 405, type: plain, headers: { allow } });
});

test.each(["", "?resource=customer", "?id=42", "?resource=customer&id=", "?resource=customer&id=42&x=1"])(
  "a stream of flags with the query %j gets 400 as JSON",
  async (query) => {
    const response = await request("GET", `/ofrep/v1/events${query}`);
    expect(response).toMatchObject({ status: 400, type: json });
    expect(JSON.parse(response.text)).toHaveProperty("errorDetails");
  },
);
