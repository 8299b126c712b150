import { brotliDecompressSync, createGunzip, gunzipSync } from "node:zlib";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { contractOf, inPath, operation, serve } from "./service.fixture.ts";

const body = (type: string) => ({ [type]: { schema: {} } });
const length = inPath("length", { type: "integer" });
const contract = contractOf({
  "/json/{length}": { get: operation("getJson", body("application/json"), { parameters: [length] }) },
  "/csv": { get: operation("getCsv", body("text/csv")) },
  "/events": { get: operation("getEvents", body("text/event-stream")) },
});

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
};

let service: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  const file = new URL("../../generated/features.yaml", import.meta.url);
  service = await serve(contract, handlers, { documents: { contract: file } });
});
afterAll(() => service[Symbol.asyncDispose]());

const get = (path: string, encoding?: string, options: object = {}) =>
  service.send(path, { headers: encoding === undefined ? {} : { "accept-encoding": encoding }, ...options });

const decoders: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };

test.each<[accepted: string | undefined, encoding: string | undefined]>([
  ["gzip", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br;q=0.9", "gzip"],
  ["br, gzip;q=0.5", "br"],
  ["*", "br"],
  ["GZIP", "gzip"],
  [undefined, undefined],
  ["", undefined],
  ["identity", undefined],
  ["deflate", undefined],
  ["gzip;q=0, br;q=0", undefined],
  ["nonsense", undefined],
  [`gzip,${"x".repeat(1001)}`, undefined],
])(
  "for Accept-Encoding %s, the encoding of more than 1 kB is %s, also for HEAD",
  async (accepted, encoding) => {
    const { headers, bytes } = await get("/json/2000", accepted);
    const decode = decoders[encoding ?? ""] ?? ((plain) => plain);
    expect(String(decode(bytes))).toBe(`"${"é".repeat(2000)}"\n`);
    expect(bytes.length < 100).toBe(encoding !== undefined);
    const expected = {
      "content-encoding": encoding,
      "content-length": String(bytes.length),
      "content-type": "application/json; charset=utf-8",
      vary: "accept-encoding",
    };
    const head = await get("/json/2000", accepted, { method: "HEAD" });
    for (const seen of [headers, head.headers])
      expect({ "content-encoding": undefined, ...seen }).toMatchObject(expected);
  },
);

test("a smaller response is not compressed", async () => {
  const { headers, bytes } = await get("/json/1000", "gzip, br");
  expect(headers).not.toHaveProperty("content-encoding");
  expect(headers).not.toHaveProperty("vary");
  expect(bytes.toString()).toBe(`"${"é".repeat(1000)}"\n`);
});

test("a stream is compressed, and a piece is sent before the next one is written", async () => {
  released = Promise.withResolvers<void>();
  const { headers, body } = await request(`${service.base}/csv`, { headers: { "accept-encoding": "gzip" } });
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
  const known = { "if-none-match": String(headers.etag), "accept-encoding": "br" };
  const { vary } = headers;
  expect(vary).toBe("accept-encoding");
  const unchanged = { status: 304, headers: { vary } };
  expect(await get("/openapi.json", undefined, { headers: known })).toMatchObject(unchanged);
});
