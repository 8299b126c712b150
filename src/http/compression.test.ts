import { brotliDecompressSync, createGunzip, gunzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Contract } from "../contract/operations.ts";
import { openLog } from "../process/log.ts";
import type { Handlers } from "./handlers.ts";
import { createService } from "./service.ts";

const body = (type: string) => ({ 200: { description: "text", content: { [type]: { schema: {} } } } });
const contract: Contract = {
  openapi: "3.1.0",
  info: { title: "Things", version: "1.0.0" },
  paths: {
    "/json/{length}": {
      get: {
        operationId: "getJson",
        parameters: [{ name: "length", in: "path", required: true, schema: { type: "integer" } }],
        responses: body("application/json"),
      },
    },
    "/csv": { get: { operationId: "getCsv", responses: body("text/csv") } },
    "/events": { get: { operationId: "getEvents", responses: body("text/event-stream") } },
  },
};
type Operations = Record<"getJson" | "getCsv" | "getEvents", unknown>;

/** The second line of each stream is written when this resolves. */
let released = Promise.withResolvers<void>();
async function* lines() {
  yield "first line\n";
  await released.promise;
  yield "second line\n";
}
const handlers = {
  getJson: async ({ path }: { path: { length: number } }) => ({ status: 200, body: "é".repeat(path.length) }),
  getCsv: async () => ({ status: 200, type: "text/csv", body: lines() }),
  getEvents: async () => ({ status: 200, type: "text/event-stream", body: lines() }),
} as unknown as Handlers<Operations>;

let app: FastifyInstance;
let base: string;
beforeAll(async () => {
  const contractFile = new URL("../../generated/features.yaml", import.meta.url);
  app = await createService<Operations>({
    contract,
    handlers,
    renderError: (_status, messages) => ({ type: "text/plain", body: `${messages.join("; ")}\n` }),
    log: openLog("silent"),
    publication: { contract: contractFile },
  });
  base = await app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => app.close());

async function get(path: string, encoding?: string) {
  const headers = encoding === undefined ? {} : { "accept-encoding": encoding };
  const response = await request(base + path, { headers });
  return { headers: response.headers, bytes: Buffer.from(await response.body.arrayBuffer()) };
}

describe("a response larger than 1 kB", () => {
  test.each([
    ["gzip", "gzip"],
    ["br", "br"],
    ["gzip, deflate, br;q=0.9", "gzip"],
    ["br, gzip;q=0.5", "br"],
    ["*", "br"],
    ["GZIP", "gzip"],
  ])("is compressed for Accept-Encoding %s as %s", async (accepted, encoding) => {
    const plain = await get("/json/2000");
    const { headers, bytes } = await get("/json/2000", accepted);
    expect(headers).toMatchObject({
      "content-encoding": encoding,
      "content-length": String(bytes.length),
      "content-type": plain.headers["content-type"],
      vary: "accept-encoding",
    });
    expect(bytes.length).toBeLessThan(100);
    expect(encoding === "br" ? brotliDecompressSync(bytes) : gunzipSync(bytes)).toEqual(plain.bytes);
  });

  test.each([
    undefined,
    "",
    "identity",
    "deflate",
    "gzip;q=0, br;q=0",
    "nonsense",
    `gzip,${"x".repeat(1001)}`,
  ])("is sent as it is for Accept-Encoding %s", async (accepted) => {
    const { headers, bytes } = await get("/json/2000", accepted);
    expect(headers).not.toHaveProperty("content-encoding");
    expect(headers.vary).toBe("accept-encoding");
    expect(bytes.toString()).toBe(`"${"é".repeat(2000)}"\n`);
  });

  test("has the same headers for HEAD", async () => {
    const headers = { "accept-encoding": "gzip" };
    const head = await request(`${base}/json/2000`, { method: "HEAD", headers });
    await head.body.dump();
    const { headers: expected } = await get("/json/2000", "gzip");
    for (const name of ["content-encoding", "content-length", "content-type", "vary"])
      expect(head.headers[name]).toBe(expected[name]);
  });
});

test("a smaller response is not compressed", async () => {
  const { headers, bytes } = await get("/json/1000", "gzip, br");
  expect(headers).not.toHaveProperty("content-encoding");
  expect(headers).not.toHaveProperty("vary");
  expect(bytes.toString()).toBe(`"${"é".repeat(1000)}"\n`);
});

test("a stream is compressed, and a piece is sent before the next one is written", async () => {
  released = Promise.withResolvers<void>();
  const { headers, body } = await request(`${base}/csv`, { headers: { "accept-encoding": "gzip" } });
  expect(headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
  const pieces = body.pipe(createGunzip())[Symbol.asyncIterator]();
  expect(String((await pieces.next()).value)).toBe("first line\n");
  released.resolve();
  expect(String((await pieces.next()).value)).toBe("second line\n");
  expect((await pieces.next()).done).toBe(true);
});

test("a stream of events is not compressed", async () => {
  released.resolve();
  const { headers, bytes } = await get("/events", "gzip, br");
  expect(headers).not.toHaveProperty("content-encoding");
  expect(bytes.toString()).toBe("first line\nsecond line\n");
});

test("the published contract is compressed, with its ETag", async () => {
  const plain = await get("/openapi.json");
  const { headers, bytes } = await get("/openapi.json", "br");
  expect(brotliDecompressSync(bytes)).toEqual(plain.bytes);
  expect(headers.etag).toBe(plain.headers.etag);
  const unchanged = await request(`${base}/openapi.json`, {
    headers: { "if-none-match": headers.etag as string, "accept-encoding": "br" },
  });
  await unchanged.body.dump();
  expect(unchanged.statusCode).toBe(304);
});
