import { connect } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { contractOf, inPath, inQuery, operation, serve } from "../service.fixture.ts";

const json = { "application/json": { schema: {} } };
const tool = (description: string, more: object = {}) => ({ "x-tool": { description, ...more } });
const contract = contractOf({
  "/callers/{name}": {
    get: operation("getCaller", json, { parameters: [inPath("name", { type: "string" })], ...tool("Who.") }),
  },
  "/numbers": {
    get: operation("listNumbers", json, {
      parameters: [
        inQuery("limit", { type: "integer", minimum: 1, maximum: 1000, default: 100 }),
        inQuery("after", { type: "integer", default: 0 }),
        inQuery("tags", { type: "array", items: { type: "string" } }, { explode: false }),
      ],
      ...tool("Numbers.", {
        defaults: { limit: 7 },
        page_size: "limit",
        parameters: ["limit", "after", "tags"],
      }),
    }),
    post: operation("addNumbers", json, { "x-optional": "NUMBERS=true", ...tool("Not served.") }),
  },
  "/hold": { get: operation("hold", json, tool("Waits.")) },
  "/fail": { get: operation("fail", json, tool("Fails.")) },
});

/** Requests for pages of numbers: the size of each. */
const sizes: number[] = [];
let waiting: AbortSignal | undefined;
let release = () => {};
const handlers = {
  getCaller: async (request: { owner: unknown; url: string; path: { name: string } }) => ({
    status: 200,
    body: { owner: request.owner, url: request.url, name: request.path.name },
  }),
  async listNumbers({
    query: { limit, after, tags },
  }: {
    query: { limit: number; after: number; tags?: string[] };
  }) {
    sizes.push(limit);
    const numbers = Array.from({ length: limit }, (_, index) => `${after + index + 1}`.padStart(1000, "0"));
    return { status: 200, body: { numbers, next: after + limit, tags } };
  },
  async hold({ signal }: { signal: AbortSignal }) {
    waiting = signal;
    await new Promise<void>((resolve) => (release = resolve));
    return { status: 200, body: "done" };
  },
  async fail() {
    throw new Error("secret");
  },
};

let service: Awaited<ReturnType<typeof serve>>;
let behindProxy: typeof service;
beforeAll(async () => {
  const mcp = { mcp: true, allowedHosts: ["things.test"] };
  service = await serve(contract, handlers, mcp);
  behindProxy = await serve(contract, handlers, { ...mcp, trustedProxies: ["10.0.0.0/8"] });
});
beforeEach(() => {
  sizes.length = 0;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await behindProxy[Symbol.asyncDispose]();
});

const accept = "application/json, text/event-stream";
const headers = { "content-type": "application/json", accept, host: "things.test" };
const messageOf = (name: string, given: object) =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } });

/** Calls a tool from an address. Resolves with the result or the error. */
async function call(
  name: string,
  given: object = {},
  more: object = {},
  { app } = service,
  remoteAddress = "10.0.0.1",
) {
  const { payload } = await app.inject({
    ...{ method: "POST", url: "/mcp", remoteAddress, payload: messageOf(name, given) },
    headers: { ...headers, ...more },
  });
  const { result, error } = JSON.parse(payload.replace(/^event: message\ndata: /, ""));
  return error ?? { isError: result.isError, text: result.content[0].text };
}

test("the operation gets the caller, the host and the id of the request to /mcp", async () => {
  const forged = { "x-forwarded-for": "192.0.2.7", "x-forwarded-host": "other.test" };
  expect(JSON.parse((await call("getCaller", { name: "a/b" }, forged)).text)).toEqual({
    owner: "address 10.0.0.1",
    url: "http://things.test/callers/a%2Fb",
    name: "a/b",
  });
});

test("behind a proxy that is trusted, the caller is the one that it states", async () => {
  const stated = { "x-forwarded-for": "10.9.9.9, 192.0.2.7", "x-forwarded-proto": "https" };
  const { owner, url } = JSON.parse((await call("getCaller", { name: "a" }, stated, behindProxy)).text);
  expect([owner, url]).toEqual(["address 192.0.2.7", "https://things.test/callers/a"]);
  const fromElsewhere = await call("getCaller", { name: "a" }, stated, behindProxy, "192.0.2.99");
  expect(JSON.parse(fromElsewhere.text).owner).toBe("address 192.0.2.99");
});

test("a host by which the service cannot be reached is 421, and the address of the connection can", async () => {
  const body = messageOf("getCaller", { name: "a" });
  const send = async (host: string) =>
    (await service.send("/mcp", { method: "POST", headers: { ...headers, host }, body })).text;
  expect(await send("evil.test")).toContain("this service has no such host");
  expect(await send(new URL(service.base).host)).toContain("address 127.0.0.1");
});

test("a page is halved until it fits, and its size counts up to its maximum", async () => {
  const { text } = await call("listNumbers", { limit: 1_000, after: 5, tags: ["a", "b"] });
  const { numbers, next, tags } = JSON.parse(text);
  expect(sizes).toEqual([1000, 500, 250, 125, 62, 31, 15]);
  expect([numbers.length, next, tags]).toEqual([15, 20, ["a", "b"]]);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20_000);
});

test("the defaults of a tool are its own, also for null", async () => {
  await call("listNumbers");
  await call("listNumbers", { limit: null });
  expect(sizes).toEqual([7, 7]);
});

test("an error of the service is one of the tool, without details of an unexpected one", async () => {
  expect(await call("fail")).toEqual({
    isError: true,
    text: expect.stringContaining("an unexpected error occurred; it is in the log"),
  });
  expect((await call("listNumbers", { limit: 0 })).text).toContain(
    "query parameter limit must be at least 1",
  );
  expect((await call("addNumbers")).code).toBe(-32602);
});

test("a client that goes away aborts the operation, and the service goes on", async () => {
  for (const isReleased of [true, false]) {
    waiting = undefined;
    const body = messageOf("hold", {});
    const socket = connect(Number(new URL(service.base).port), "127.0.0.1");
    const fields = `host: things.test\r\ncontent-type: application/json\r\naccept: ${accept}`;
    socket.write(`POST /mcp HTTP/1.1\r\n${fields}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    await eventually(() => expect(waiting).toBeDefined());
    socket.destroy();
    await eventually(() => expect(waiting?.aborted).toBe(true));
    if (isReleased) release();
    expect((await call("getCaller", { name: "a" })).isError).toBeUndefined();
  }
  release();
});

test.each<[why: string, method: "GET" | "DELETE" | "POST", body: string, status: number, text: string]>([
  ["GET", "GET", "", 405, "GET is not allowed here; allowed: POST"],
  ["DELETE", "DELETE", "", 405, "DELETE is not allowed here; allowed: POST"],
  ["a batch", "POST", "[]", 400, "the body must be one message; there are no batches"],
  ["no message", "POST", "{}", 400, "not a valid JSON-RPC message"],
  ["no JSON", "POST", "{", 400, "the body is not valid JSON"],
  ["a body above 1 MiB", "POST", " ".repeat(2 ** 20 + 1), 413, "the body is larger than 1 MiB"],
])("%s is rejected", async (_why, method, body, status, text) => {
  const response = await service.send("/mcp", { method, headers, ...(body !== "" && { body }) });
  expect([response.status, response.text]).toEqual([status, expect.stringContaining(text)]);
});

test("a request of a page of another origin is 403", async () => {
  const origin = "https://evil.test";
  const body = messageOf("getCaller", { name: "a" });
  const response = await service.send("/mcp", { method: "POST", headers: { ...headers, origin }, body });
  expect(response.status).toBe(403);
});

test("a tool that names a parameter that does not exist stops the start", async () => {
  const get = operation("get", json, tool("Odd.", { defaults: { limt: 1 } }));
  await expect(serve(contractOf({ "/": { get } }), { get: handlers.fail }, { mcp: true })).rejects.toThrow(
    "get: x-tool names limt, which is no parameter",
  );
});

test("without the setting there is no endpoint", async () => {
  await using without = await serve(contract, handlers);
  const body = messageOf("getCaller", { name: "a" });
  expect((await without.send("/mcp", { method: "POST", headers, body })).status).toBe(404);
});
