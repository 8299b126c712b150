import { describe, expect, test } from "vitest";
import { readSettings } from "../../process/settings.ts";
import { contractOf, inQuery, operation, serve } from "../service.fixture.ts";
import { commonSettings } from "../settings.ts";

const contract = contractOf({
  "/things": {
    get: operation("readThings", {}, { parameters: [inQuery("x", { type: "string" })] }),
    post: operation("addThings"),
  },
});
const handlers = {
  readThings: async () => ({ status: 200 }),
  addThings: async () => ({ status: 200 }),
};
const serveThings = (others: Parameters<typeof serve>[2] = {}) => serve(contract, handlers, others);

/** The status of the response to a request with these headers. */
const statusWith =
  ({ send }: Awaited<ReturnType<typeof serve>>, path = "/things") =>
  async (method: "GET" | "POST" | "OPTIONS" | "HEAD" | "DELETE", headers: Record<string, string>) =>
    (await send(path, { method, headers })).status;

describe("a service that only its machine can reach", () => {
  const allowedHosts = ["api.test", "10.1.2.3"];

  test.each([
    ...["localhost", "localhost:8081", "LocalHost.", "127.0.0.1:80", "127.1", "127.9.9.9", "[::1]:8081"],
    ...["[::ffff:127.0.0.1]", "api.test", "API.test:443", "10.1.2.3:1"],
  ])("is reached by the host %s", async (host) => {
    await using service = await serveThings({ allowedHosts });
    expect(await statusWith(service)("GET", { host })).toBe(200);
    expect(await statusWith(service)("POST", { host })).toBe(200);
  });

  test.each([
    ...["evil.test", "evil.test:8081", "localhost.evil.test", "127.0.0.1.evil.test", "api.test.evil.test"],
    ...["notlocalhost", "10.1.2.4", "0.0.0.0", "[::2]", "128.0.0.1", "xapi.test", "169.254.169.254"],
  ])("is not reached by the host %s, whatever the request", async (host) => {
    await using service = await serveThings({ allowedHosts });
    for (const path of ["/things", "/things?unknown=1", "/unknown"])
      for (const method of ["GET", "HEAD", "OPTIONS", "POST", "DELETE"] as const)
        expect([path, method, await statusWith(service, path)(method, { host })]).toEqual([
          path,
          method,
          421,
        ]);
    // Another request on the same connection has a host of its own.
    expect(await statusWith(service)("GET", { host: "localhost" })).toBe(200);
    expect((await service.sendBytes(`GET http://${host}/things HTTP/1.0\r\n\r\n`)).slice(9, 12)).toBe("421");
  });

  test("checks the host that a trusted proxy states, and that of the proxy", async () => {
    await using service = await serveThings({ allowedHosts, trustedProxies: ["loopback"] });
    const status = (host: string, stated: string) =>
      statusWith(service)("GET", { host, "x-forwarded-host": stated });
    expect(await status("localhost", "api.test")).toBe(200);
    expect(await status("api.test", "localhost")).toBe(200);
    expect(await status("localhost", "evil.test")).toBe(421);
    expect(await status("evil.test", "localhost")).toBe(421);
  });

  test("without a list is reached by any host", async () => {
    await using service = await serveThings();
    expect(await statusWith(service)("GET", { host: "evil.test" })).toBe(200);
  });
});

describe("a change", () => {
  const foreign = [
    { origin: "http://evil.test" },
    { origin: "null" },
    { origin: "nonsense" },
    { origin: "" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "" },
    { origin: "http://localhost:1", "sec-fetch-site": "same-site" },
    { origin: "https://api.test.evil.test" },
  ] as Record<string, string>[];

  test.each(foreign)("of a page of another origin is rejected, and a read is not: %j", async (headers) => {
    await using service = await serveThings({ publicUrl: "https://api.test/pay" });
    for (const [path, method] of [
      ["/things", "POST"],
      ["/things", "DELETE"],
      ["/unknown", "POST"],
    ] as const)
      expect([path, method, await statusWith(service, path)(method, headers)]).toEqual([path, method, 403]);
    for (const method of ["GET", "HEAD"] as const)
      expect(await statusWith(service)(method, headers)).toBe(200);
    expect(await statusWith(service)("OPTIONS", headers)).toBe(204);
  });

  test("of a page of the service, of a listed origin or of a program is accepted", async () => {
    const corsOrigins = ["https://shop.test"];
    await using service = await serveThings({ publicUrl: "https://api.test/pay", corsOrigins });
    const { host } = new URL(service.base);
    for (const headers of [
      {},
      { "sec-fetch-site": "none" },
      { "sec-fetch-site": "same-origin", origin: "https://behind.test" },
      { origin: service.base },
      { origin: "https://api.test" },
      { origin: "http://other.test", host: "other.test:80" },
      { origin: "https://shop.test", "sec-fetch-site": "cross-site" },
      // A proxy has taken the protocol away.
      { origin: `https://${host}` },
    ] as Record<string, string>[])
      expect([headers, await statusWith(service)("POST", headers)]).toEqual([headers, 200]);
  });

  test("of any page is accepted with CORS_ORIGINS=*", async () => {
    await using service = await serveThings({ corsOrigins: ["*"] });
    for (const headers of foreign) expect(await statusWith(service)("POST", headers)).toBe(200);
  });
});

test("every response has the headers that restrict browsers", async () => {
  await using service = await serveThings({ allowedHosts: [] });
  for (const [status, path, options] of [
    [200, "/things", {}],
    [400, "/things?y=1", {}],
    [400, "/things/%zz", {}],
    [403, "/things", { method: "POST", headers: { origin: "null" } }],
    [404, "/unknown", {}],
    [405, "/things", { method: "PATCH" }],
    [204, "/things", { method: "OPTIONS" }],
    [421, "/things", { headers: { host: "evil.test" } }],
    [431, "/things", { headers: { "x-long": "x".repeat(17_000) } }],
  ] as [number, string, object][]) {
    const response = await service.send(path, options);
    expect(response).toMatchObject({
      status,
      headers: {
        "x-content-type-options": "nosniff",
        "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
        "referrer-policy": "no-referrer",
      },
    });
  }
});

describe("the setting ALLOWED_HOSTS", () => {
  const read = (text: string) => readSettings({ ALLOWED_HOSTS: text }, commonSettings).ALLOWED_HOSTS;

  test("has hosts in their normal form", () => {
    expect(read(" API.test, ::1,[::2] ,127.1,")).toEqual(["api.test", "::1", "::2", "127.0.0.1"]);
    expect(read("*")).toEqual(["*"]);
    expect(read("")).toEqual([]);
  });

  test.each([
    "api.test:80",
    "https://api.test",
    "api.test/pay",
    "*,api.test",
    "*.test",
    "a b",
    "u@api.test",
    "[::1",
  ])("must not be %s", (text) => {
    const message = "ALLOWED_HOSTS must be a list of hosts without ports, such as ledger.example.com, or *";
    expect(() => read(text)).toThrow(message);
  });
});
