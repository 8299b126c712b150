import { OFREPProvider } from "@openfeature/ofrep-provider";
import { type EvaluationContext, OpenFeature } from "@openfeature/server-sdk";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { listen } from "../../../testing/event-stream.ts";
import { openIssuer } from "../../../testing/issuer.ts";
import { StoreFailure } from "../store/store.ts";
import { openFeatureStore } from "../store/stores.ts";
import { json, startFeatures } from "./features.fixture.ts";

let service: Awaited<ReturnType<typeof startFeatures>>;
beforeAll(async () => {
  service = await startFeatures();
  const changes = [
    ["customer", "42", "dark-mode"],
    ["customer", "42", "beta search"],
    ["a/b", "c d/💷", "odd"],
  ].map(([resource, id, feature]) => ({ type: "add", resource, id, feature }));
  await service.request("POST", "/changes", { body: { changes } });
});
afterAll(() => service[Symbol.asyncDispose]());

const flags = "/ofrep/v1/evaluate/flags";
const evaluate = (key: string, body: unknown) => service.request("POST", `${flags}/${key}`, { body });
const evaluateAll = (body: unknown, headers = {}) => service.request("POST", flags, { body, headers });

describe("a flag", () => {
  test.each([
    ["dark-mode", { targetingKey: "customer/42" }, true],
    ["dark-mode", { targetingKey: "customer/43" }, false],
    ["never", { targetingKey: "customer/42" }, false],
    ["beta%20search", { resource: "customer", id: "42" }, true],
    ["dark-mode", { resource: "customer", id: "42", targetingKey: "somebody", plan: { name: "gold" } }, true],
    ["dark-mode", { resource: "customer", targetingKey: "customer/42" }, true],
    ["dark-mode", { id: 7, targetingKey: "customer/42" }, true],
    ["odd", { targetingKey: "a%2Fb/c%20d%2F%F0%9F%92%B7" }, true],
    ["odd", { resource: "a/b", id: "c d/💷" }, true],
  ])("%s for the context %j is %s", async (key, context, value) => {
    const response = await evaluate(key, { context });
    expect(response).toMatchObject({ status: 200, type: json });
    expect(JSON.parse(response.text)).toEqual({
      key: decodeURIComponent(key),
      value,
      reason: value ? "TARGETING_MATCH" : "STATIC",
      variant: value ? "on" : "off",
    });
  });

  test.each<[unknown, string]>([
    [{}, "TARGETING_KEY_MISSING"],
    [{ context: {} }, "TARGETING_KEY_MISSING"],
    [{ context: { resource: "customer" } }, "TARGETING_KEY_MISSING"],
    [{ context: { targetingKey: "" } }, "TARGETING_KEY_MISSING"],
    [{ context: { targetingKey: "customer" } }, "INVALID_CONTEXT"],
    [{ context: { targetingKey: "customer/" } }, "INVALID_CONTEXT"],
    [{ context: { targetingKey: "customer/4/2" } }, "INVALID_CONTEXT"],
    [{ context: { targetingKey: "customer/%ZZ" } }, "INVALID_CONTEXT"],
    [{ context: { targetingKey: "customer/%00" } }, "INVALID_CONTEXT"],
    [{ context: { targetingKey: 42 } }, "INVALID_CONTEXT"],
    [{ context: { targetingKey: null } }, "TARGETING_KEY_MISSING"],
    [{ context: { targetingKey: ["customer/42"] } }, "INVALID_CONTEXT"],
    [{ context: { targetingKey: { toString: 1 } } }, "INVALID_CONTEXT"],
    [{ context: { resource: "customer", id: 42 } }, "INVALID_CONTEXT"],
    [{ context: { resource: "customer", id: "x".repeat(257) } }, "INVALID_CONTEXT"],
    [{ context: "customer/42" }, "PARSE_ERROR"],
    [{ context: null }, "TARGETING_KEY_MISSING"],
    ["{", "PARSE_ERROR"],
    ["[]", "PARSE_ERROR"],
    ["", "PARSE_ERROR"],
  ])("answers 400 for the body %j", async (body, errorCode) => {
    const headers = { "content-type": "application/json" };
    const one = await service.request("POST", `${flags}/dark-mode`, { body, headers });
    const all = await service.request("POST", flags, { body, headers });
    expect([one.status, one.type, all.status, all.type]).toEqual([400, json, 400, json]);
    expect(all.headers).not.toHaveProperty("etag");
    const errorDetails = expect.stringMatching(/^[^\n]+$/);
    expect(JSON.parse(one.text)).toEqual({ key: "dark-mode", errorCode, errorDetails });
    expect(JSON.parse(all.text)).toEqual({ errorCode, errorDetails });
  });

  test("other errors are JSON too", async () => {
    const long = "x".repeat(257);
    const { text } = await evaluate(long, {});
    expect(JSON.parse(text)).toMatchObject({ key: long, errorCode: "PARSE_ERROR" });
    for (const [status, response] of [
      [405, await service.request("GET", `${flags}/dark-mode`)],
      [405, await service.request("GET", flags)],
      [413, await evaluate("dark-mode", { context: { padding: "x".repeat(2 ** 20) } })],
      [415, await service.request("POST", flags, { body: "{}", headers: { "content-type": "text/plain" } })],
    ] as const) {
      expect(response).toMatchObject({ status, type: json });
      expect(JSON.parse(response.text)).toEqual({ errorDetails: expect.any(String) });
    }
    const fail = async () => Promise.reject(new StoreFailure("disk\nfull"));
    const store = { ...(await openFeatureStore("memory:")), has: fail, list: fail };
    await using failing = await startFeatures({ store });
    const body = { context: { targetingKey: "customer/42" } };
    const failure = { status: 500, type: json, text: '{"errorDetails":"disk full"}\n' };
    for (const path of [flags, `${flags}/dark-mode`])
      expect(await failing.request("POST", path, { body })).toMatchObject(failure);
  });
});

describe("all flags of a resource", () => {
  const context = { targetingKey: "customer/42" };

  const flagsOf = async (body: object) => JSON.parse((await evaluateAll(body)).text).flags;
  const on = (key: string) => ({ key, value: true, reason: "TARGETING_MATCH", variant: "on" });
  const off = (key: string) => ({ key, value: false, reason: "STATIC", variant: "off" });

  test("are its features, oldest first, then the other features in use for its kind", async () => {
    await service.request("POST", "/features/shop/1/second");
    await service.request("POST", "/features/shop/1/first");
    await service.request("POST", "/features/shop/2/other");
    await service.request("POST", "/features/shop/2/first");
    expect(await flagsOf({ context: { targetingKey: "shop/1" } })).toEqual([
      on("second"),
      on("first"),
      off("other"),
    ]);
    const ofOthers = await flagsOf({ context: { targetingKey: "shop/never" } });
    expect(ofOthers).toHaveLength(3);
    expect(ofOthers).toEqual(expect.arrayContaining([off("first"), off("other"), off("second")]));
    await service.request("DELETE", "/features/shop/1/second");
    expect(await flagsOf({ context: { targetingKey: "shop/1" } })).toEqual([on("first"), off("other")]);
    expect(await flagsOf({ context: { targetingKey: "unknown/1" } })).toEqual([]);
  });

  test("name at most 1,000 features in use beside those of the resource", async () => {
    const names = (resource: string, id: string, count: number) =>
      Array.from({ length: count }, (_, index) => ({ type: "add", resource, id, feature: `${id}-${index}` }));
    for (const id of ["1", "2"])
      await service.request("POST", "/changes", { body: { changes: names("crowd", id, 1000) } });
    const found = await flagsOf({ context: { targetingKey: "crowd/2" } });
    expect(found.slice(0, 1000)).toEqual(names("crowd", "2", 1000).map(({ feature }) => on(feature)));
    expect(new Set(found.map(({ key }: { key: string }) => key)).size).toBe(found.length);
    expect(found.slice(1000).every(({ value }: { value: boolean }) => !value)).toBe(true);
    expect(await flagsOf({ context: { targetingKey: "crowd/never" } })).toHaveLength(1000);
  });

  test("take parameters of the event that caused the request, without effect", async () => {
    const query = "?flagConfigEtag=%22550e8400%22&flagConfigLastModified=1771622898";
    const response = await service.request("POST", flags + query, { body: { context } });
    expect(response).toMatchObject({ status: 200, text: (await evaluateAll({ context })).text });
    expect((await service.request("POST", `${flags}?other=1`, { body: { context } })).status).toBe(400);
  });

  describe("have the address of their stream", () => {
    const forwarded = { "x-forwarded-proto": "https", "x-forwarded-host": "flags.test" };
    const path = "/ofrep/v1/events?resource=customer&id=42";

    test.each<[string, Parameters<typeof startFeatures>[0], Record<string, string>, string]>([
      ["as the request was sent", {}, forwarded, "BASE"],
      ["behind a trusted proxy", { trustedProxies: ["loopback"] }, forwarded, "https://flags.test"],
      ["below PUBLIC_URL", { publicUrl: "https://api.test/shop/" }, {}, "https://api.test/shop"],
    ])("%s", async (_name, parts, headers, base) => {
      await using behind = await startFeatures(parts);
      for (const target of [flags, `${flags}/`, `${flags}?flagConfigEtag=x`]) {
        const { text } = await behind.request("POST", target, { body: { context }, headers });
        expect(JSON.parse(text.replace(behind.base, "BASE")).eventStreams).toEqual([
          { type: "sse", url: base + path },
        ]);
      }
    });

    test("with any names", async () => {
      const body = { context: { resource: "a/b&c=d", id: "c d/💷+%" } };
      const { url } = JSON.parse((await evaluateAll(body)).text).eventStreams[0];
      expect(Object.fromEntries(new URL(url).searchParams)).toEqual(body.context);
      const stream = await listen("", url);
      await expect.poll(() => stream.text()).toContain("refetchEvaluation");
      const names = ["a/b&c=d", "c d/💷+%", "x"].map(encodeURIComponent);
      await service.request("POST", `/features/${names.join("/")}`);
      await expect.poll(() => stream.text().match(/refetchEvaluation/g)).toHaveLength(2);
      stream.stop();
    });

    test("and the token of the request, if tokens are on", async () => {
      await using issuer = await openIssuer();
      await using secured = await startFeatures({ security: issuer.security });
      const token = await issuer.sign({ scope: "features:read" });
      const authorization = `Bearer ${token}`;
      const evaluated = (headers = {}) =>
        secured.request("POST", flags, { body: { context }, headers: { authorization, ...headers } });
      const { text, headers } = await evaluated();
      const { url } = JSON.parse(text).eventStreams[0];
      expect(url).toBe(`${secured.base}${path}&access_token=${token}`);
      expect(await evaluated({ "if-none-match": headers.etag })).toMatchObject({ status: 304 });
      const stream = await listen("", url);
      await expect.poll(() => stream.text()).toContain("refetchEvaluation");
      stream.stop();
    });

    test("but no token if tokens are off, and then the stream takes none", async () => {
      const authorization = { authorization: "Bearer a.b.c" };
      const { text } = await evaluateAll({ context }, authorization);
      expect(JSON.parse(text).eventStreams).toEqual([{ type: "sse", url: service.base + path }]);
      expect(await service.request("GET", `${path}&access_token=a.b.c`)).toMatchObject({
        status: 400,
        text: expect.stringContaining("access_token"),
      });
    });
  });

  test("are not sent again if If-None-Match has their ETag", async () => {
    const { headers } = await evaluateAll({ context });
    const ifNoneMatch = { "if-none-match": String(headers.etag) };
    expect(await evaluateAll({ context }, ifNoneMatch)).toMatchObject({ status: 304, text: "" });
    expect((await evaluateAll({ context: { targetingKey: "customer/43" } }, ifNoneMatch)).status).toBe(200);
  });
});

test("the SDK of OpenFeature reads features as flags", async () => {
  onTestFinished(() => OpenFeature.close());
  await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: service.base }));
  const sdk = OpenFeature.getClient();
  const on = { value: true, reason: "TARGETING_MATCH" };
  const off = { value: false, reason: "STATIC" };
  const contexts: EvaluationContext[] = [{ targetingKey: "customer/42" }, { resource: "customer", id: "42" }];
  for (const context of contexts) {
    expect(await sdk.getBooleanDetails("beta search", false, context)).toMatchObject(on);
    expect(await sdk.getBooleanDetails("never", true, context)).toMatchObject(off);
  }
  const failed = { value: true, reason: "ERROR", errorCode: "TARGETING_KEY_MISSING" };
  expect(await sdk.getBooleanDetails("dark-mode", true, {})).toMatchObject(failed);
});
