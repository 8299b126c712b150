import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listen } from "../../../testing/event-stream.ts";
import { openIssuer } from "../../../testing/issuer.ts";
import { startFeatures } from "../../features/tests/features.fixture.ts";
import { readSettings, SettingsError } from "../../process/settings.ts";
import { commonSettings } from "../settings.ts";

const shop = "https://shop.example.com";
const local = "http://localhost:5173";
const other = "https://other.example.com";

type Service = Awaited<ReturnType<typeof startFeatures>>;
let issuer: Awaited<ReturnType<typeof openIssuer>>;
let service: Service;
let forAll: Service;
let closed: Service;
beforeAll(async () => {
  issuer = await openIssuer();
  service = await startFeatures({ security: issuer.security, corsOrigins: [shop, local] });
  forAll = await startFeatures({ corsOrigins: ["*"] });
  closed = await startFeatures();
});
afterAll(async () => {
  for (const one of [service, forAll, closed, issuer]) await one[Symbol.asyncDispose]();
});

const preflight = (origin: string, method = "POST") => ({
  headers: {
    ...{ origin, "access-control-request-method": method },
    "access-control-request-headers": "authorization",
  },
});

/** The headers of a response that are about other origins. */
const corsOf = ({ headers }: { headers: Record<string, unknown> }) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name === "vary" || name.startsWith("access-control-")),
  );

const exposed = expect.stringMatching(
  /Allow, Cache-Control, ETag, Retry-After, (WWW-Authenticate, )?X-Accel-Buffering, X-Request-Id$/,
);
const shared = (origin: string, vary = "origin") => ({
  "access-control-allow-origin": origin,
  "access-control-expose-headers": exposed,
  vary,
});

describe("a preflight", () => {
  test.each([
    ["/ofrep/v1/evaluate/flags", "POST, QUERY"],
    ["/features/customer/42", "GET, HEAD, PUT, DELETE"],
    ["/features/customer/42/", "GET, HEAD, PUT, DELETE"],
    ["/openapi.json", "GET, HEAD"],
    ["/docs", "GET, HEAD"],
    ["/healthcheck", "GET, HEAD"],
  ])("of %s is answered without a token, with its methods %s", async (path, methods) => {
    const response = await service.request("OPTIONS", path, preflight(shop));
    expect(response).toMatchObject({ status: 204, text: "" });
    expect(response.headers).toHaveProperty("x-request-id");
    expect(corsOf(response)).toEqual({
      ...shared(shop),
      "access-control-allow-methods": methods,
      "access-control-allow-headers": "Authorization, *",
      "access-control-max-age": "7200",
    });
  });

  test("of an unknown path is 404", async () => {
    expect((await service.request("OPTIONS", "/unknown", preflight(shop))).status).toBe(404);
  });

  test("needs its headers, and an origin that is listed", async () => {
    const others = [other, "null", `${shop}.other.example.com`, "http://shop.example.com"];
    const incomplete = [{}, { origin: shop }, { "access-control-request-method": "POST" }];
    const requests: object[] = [...incomplete, ...others.map((origin) => preflight(origin).headers)];
    for (const headers of requests as Record<string, string>[]) {
      const response = await service.request("OPTIONS", "/ofrep/v1/evaluate/flags", { headers });
      expect(response).toMatchObject({
        status: 204,
        headers: { allow: "POST, QUERY, OPTIONS", vary: "origin" },
      });
      expect(response.headers).not.toHaveProperty("access-control-allow-methods");
    }
  });
});

describe("a response", () => {
  const authorized = async () => ({
    origin: shop,
    authorization: `Bearer ${await issuer.sign({ scope: "features:read" })}`,
  });

  test("can be read by a listed origin, whatever its status", async () => {
    const headers = await authorized();
    const list = "/features/customer/42";
    const { etag } = (await service.request("GET", list, { headers })).headers;
    for (const [status, method, path, sent] of [
      [200, "GET", list, headers],
      [304, "GET", list, { ...headers, "if-none-match": String(etag) }],
      [400, "GET", "/features/customer?x=1", headers],
      [400, "GET", "/features/customer/%zz", headers],
      [401, "GET", list, { origin: shop }],
      [403, "DELETE", list, headers],
      [404, "GET", "/unknown", headers],
      [405, "POST", "/metrics", headers],
      [200, "HEAD", "/healthcheck", headers],
    ] as const) {
      const response = await service.request(method, path, { headers: sent });
      // An error also depends on the format that the caller prefers.
      const vary = status < 400 ? "origin" : "origin, accept";
      expect([path, response.status, corsOf(response)]).toEqual([path, status, shared(shop, vary)]);
    }
    // It depends on other headers as without the setting.
    for (const [path, sent, vary] of [
      ["/metrics", { origin: local }, "origin, accept-encoding"],
      ["/docs", headers, "origin, accept, accept-encoding"],
      ["/changes", headers, "origin, accept"],
    ] as const) {
      const response = await service.request("GET", path, { headers: sent });
      expect(corsOf(response)).toEqual(shared(sent.origin, vary));
    }
  });

  test("can be a stream", async () => {
    for (const path of ["/changes", "/ofrep/v1/events?resource=customer&id=42"]) {
      const stream = await listen(service.base, path, await authorized());
      expect(stream.response.headers["access-control-allow-origin"]).toBe(shop);
      stream.stop();
      await stream.ended;
    }
  });

  test("has no headers for an origin that is not listed, and none at all without the setting", async () => {
    for (const headers of [{ origin: other }, {}] as Record<string, string>[])
      expect(corsOf(await service.request("GET", "/healthcheck", { headers }))).toEqual({ vary: "origin" });
    for (const path of ["/healthcheck", "/features/customer/42"])
      expect(corsOf(await closed.request("GET", path, { headers: { origin: shop } }))).toEqual({});
    const preflighted = await closed.request("OPTIONS", "/healthcheck", preflight(shop));
    expect([preflighted.status, corsOf(preflighted)]).toEqual([204, {}]);
  });

  test("can be read by every origin with *, and does not depend on it", async () => {
    for (const headers of [{ origin: shop }, { origin: "null" }, {}] as Record<string, string>[]) {
      const seen = corsOf(await forAll.request("GET", "/healthcheck", { headers }));
      expect(seen).toMatchObject({ "access-control-allow-origin": "*" });
      expect(seen).not.toHaveProperty("vary");
    }
    expect((await forAll.request("OPTIONS", "/healthcheck", preflight("null", "GET"))).status).toBe(204);
  });
});

describe("the setting CORS_ORIGINS", () => {
  const read = (text: string) => readSettings({ CORS_ORIGINS: text }, commonSettings).CORS_ORIGINS;

  test.each<[string, string[]]>([
    ["", []],
    ["*", ["*"]],
    [`${shop},${local}`, [shop, local]],
    [` ${shop} , ${local}/ ,`, [shop, local]],
    ["HTTPS://Shop.Example.com:443", [shop]],
    ["http://[::1]:80", ["http://[::1]"]],
  ])("%j is %j", (text, origins) => {
    expect(read(text)).toEqual(origins);
  });

  test.each([
    "hunter2",
    "null",
    "shop.example.com",
    `${shop},*`,
    "https://*.hunter2.test",
    `${shop}/hunter2`,
    `${shop}?hunter2`,
    "https://user:hunter2@shop.example.com",
    "ftp://hunter2",
    `${shop} ${local}`,
  ])("cannot be %j", (text) => {
    const message = "CORS_ORIGINS must be a list of origins such as https://shop.example.com, or *";
    expect(() => read(text)).toThrow(new SettingsError([message]));
  });
});
