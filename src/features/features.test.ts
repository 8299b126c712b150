import { Writable } from "node:stream";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openLog } from "../service/log.ts";
import { featuresApp } from "./app.ts";
import { openFeatureStore, StoreFailure } from "./store/store.ts";

const strays: string[] = [];
const onStrayReply = (fault: string) => strays.push(fault);
let base: string;
let close: () => Promise<void>;

beforeAll(async () => {
  const app = await featuresApp({
    store: await openFeatureStore("memory:"),
    log: openLog("silent"),
    onStrayReply,
  });
  base = await app.listen({ port: 0, host: "127.0.0.1" });
  close = () => app.close();
});
afterAll(async () => {
  await close();
  expect(strays).toEqual([]);
});

async function ask(method: "GET" | "POST" | "PUT" | "DELETE", path: string, options = {}, at = base) {
  const {
    statusCode: status,
    headers,
    body,
  } = await request(`${at}/features/${path}`, { method, ...options });
  return { status, type: headers["content-type"], allow: headers.allow, text: await body.text() };
}

const json = "application/json; charset=utf-8";
const plain = "text/plain; charset=utf-8";

describe("the brief, to the letter", () => {
  test("a resource without features has an empty list", async () => {
    expect(await ask("GET", "customer/none")).toMatchObject({ status: 200, type: json, text: "[]\n" });
  });

  test("features are listed once each, in the order of adding", async () => {
    for (const feature of ["b", "a", "b", "c"]) await ask("POST", `customer/1/${feature}`);
    expect(await ask("GET", "customer/1")).toMatchObject({ status: 200, text: '["b","a","c"]\n' });
  });

  test("an add answers 201 the first time, 200 after, and has-feature turns true", async () => {
    expect((await ask("GET", "customer/2/beta")).text).toBe('{"result":false}\n');
    expect(await ask("POST", "customer/2/beta")).toMatchObject({ status: 201, text: '{"result":true}\n' });
    expect(await ask("POST", "customer/2/beta")).toMatchObject({ status: 200, text: '{"result":true}\n' });
    expect(await ask("GET", "customer/2/beta")).toMatchObject({
      status: 200,
      type: json,
      text: '{"result":true}\n',
    });
  });

  test.each([
    ["text/plain", "beta"],
    ["application/json", "{not json"],
    ["multipart/form-data", "x"],
    ["nonsense", "x".repeat(3 << 20)],
  ])("a body of type %s is ignored", async (type, body) => {
    const answer = await ask("POST", `customer/3/${type.length}`, {
      body,
      headers: { "content-type": type },
    });
    expect(answer.status).toBe(201);
  });

  test("a store that fails is a 500 with its message as plain text", async () => {
    const fail = () => Promise.reject(new StoreFailure("disk\nfull"));
    const store = { ...(await openFeatureStore("memory:")), list: fail, has: fail, change: fail };
    await using app = await featuresApp({ store, log: openLog("silent"), onStrayReply });
    const at = await app.listen({ port: 0, host: "127.0.0.1" });
    const answers = [
      await ask("GET", "a/b", {}, at),
      await ask("GET", "a/b/c", {}, at),
      await ask("POST", "a/b/c", {}, at),
    ];
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 500, type: plain, text: "disk full\n" });
  });

  test("each operation writes a debug line with resource, id and feature, and nothing at info", async () => {
    for (const [level, count] of [
      ["debug", 3],
      ["info", 0],
    ] as const) {
      const lines: string[] = [];
      const sink = new Writable({ write: (line, _encoding, done) => done(void lines.push(String(line))) });
      await using app = await featuresApp({
        store: await openFeatureStore("memory:"),
        log: openLog(level, sink),
        onStrayReply,
      });
      const at = await app.listen({ port: 0, host: "127.0.0.1" });
      lines.length = 0;
      await ask("POST", "a/b/c", {}, at);
      await ask("GET", "a/b/c", {}, at);
      await ask("GET", "a/b", {}, at);
      const operations = lines.map((line) => JSON.parse(line)).filter(({ resource }) => resource === "a");
      expect(operations).toHaveLength(count);
      expect(lines).toHaveLength(count);
      for (const line of operations.slice(0, 2)) expect(line).toMatchObject({ id: "b", feature: "c" });
    }
  });
});

describe("names", () => {
  test.each([
    ["dots and slashes", "..%2F..%2Fetc"],
    ["a prototype's name", "__proto__"],
    ["a symbol of four bytes", "%F0%9F%92%B7"],
    ["a space and a plus", "a%20b+c"],
    ["256 characters of four bytes", "%F0%9F%92%B7".repeat(256)],
  ])("%s are ordinary", async (_name, encoded) => {
    expect((await ask("POST", `${encoded}/${encoded}/${encoded}`)).status).toBe(201);
    const list = await ask("GET", `${encoded}/${encoded}`);
    expect(JSON.parse(list.text)).toEqual([decodeURIComponent(encoded)]);
  });

  test.each([
    ["a/b/%00", "pattern"],
    ["a/b/line%0Afeed", "pattern"],
    ["a/b/%C2%85", "pattern"],
    [`a/b/${"x".repeat(257)}`, "256 characters"],
    [`a/${"x".repeat(257)}`, "path parameter id"],
    ["a/b/%ZZ", "malformed percent-encoding"],
    ["a/b/%ED%A0%80", "malformed percent-encoding"],
    ["//b", "path parameter resource"],
    ["a/b?x=1", "query parameter"],
  ])("%s is a bad request", async (path, part) => {
    const answer = await ask("GET", path);
    expect(answer).toMatchObject({ status: 400, type: plain });
    expect(answer.text).toMatch(/^[^\n]+\n$/);
    expect(answer.text).toContain(part);
  });

  test("another method is 405 and says which are allowed", async () => {
    expect(await ask("PUT", "a/b/c")).toMatchObject({
      status: 405,
      type: plain,
      allow: "GET, HEAD, POST, DELETE",
    });
    expect(await ask("POST", "a/b")).toMatchObject({ status: 405, allow: "GET, HEAD, PUT, DELETE" });
    expect(await ask("PUT", "a")).toMatchObject({ status: 405, allow: "GET, HEAD" });
  });
});
