import { Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openLog } from "../process/log.ts";
import { json, plain, startFeatures } from "./features.fixture.ts";
import { openFeatureStore, StoreFailure } from "./store/store.ts";

let service: Awaited<ReturnType<typeof startFeatures>>;
beforeAll(async () => {
  service = await startFeatures();
});
afterAll(() => service[Symbol.asyncDispose]());

const ask = (method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE", path: string, sent = {}) =>
  service.ask(method, `/features/${path}`, sent);

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
    await using failing = await startFeatures({ store });
    for (const [method, path] of [
      ["GET", "/features/a/b"],
      ["GET", "/features/a/b/c"],
      ["POST", "/features/a/b/c"],
      ["DELETE", "/features/a/b/c"],
      ["DELETE", "/features/a/b"],
    ] as const) {
      const answer = await failing.ask(method, path);
      expect(answer).toMatchObject({ status: 500, type: plain, text: "disk full\n" });
    }
    const mute = { ...store, list: () => Promise.reject(new StoreFailure("")) };
    await using saying = await startFeatures({ store: mute });
    expect((await saying.ask("GET", "/features/a/b")).text).toBe("the store failed\n");
  });

  test("each operation writes a debug line with resource, id and feature, and nothing at info", async () => {
    const [resource, id, feature] = ["a", "b", "c"];
    const wish = { type: "add", resource, id, feature };
    const flag = { context: { targetingKey: "a/b" } };
    const asked = [
      ["POST", "/features/a/b/c", { resource, id, feature }],
      ["GET", "/features/a/b/c", { resource, id, feature }],
      ["GET", "/features/a/b", { resource, id }],
      ["GET", "/features/a?feature=c", { resource, feature }],
      ["PUT", "/features/a/b", { resource, id, features: ["c"] }, ["c"]],
      ["DELETE", "/features/a/b/c", { resource, id, feature }],
      ["DELETE", "/features/a/b", { resource, id }],
      [
        "POST",
        "/query",
        { resources: 1, features: ["c"] },
        { resources: [{ resource, id }], features: ["c"] },
      ],
      ["POST", "/changes", { changes: 1 }, { changes: [wish] }],
      ["GET", "/changes?cursor=newest&limit=7", { cursor: "newest", limit: 7 }],
      ["POST", "/ofrep/v1/evaluate/flags/c", { resource, id, feature }, flag],
      ["POST", "/ofrep/v1/evaluate/flags", { resource, id }, flag],
    ] as const;
    for (const level of ["debug", "info"] as const) {
      const lines: string[] = [];
      const sink = new Writable({ write: (line, _encoding, done) => done(void lines.push(String(line))) });
      await using told = await startFeatures({ log: openLog(level, sink) });
      lines.length = 0;
      for (const [method, path, , body] of asked) {
        const { status } = await told.ask(method, path, { body, headers: { "if-match": "*" } });
        expect(status).toBeLessThan(300);
      }
      const expected = level === "debug" ? asked.map(([, , names]) => expect.objectContaining(names)) : [];
      const read = lines.map((line) => JSON.parse(line));
      expect(read).toEqual(expected);
      // Each request has a number, by which its lines belong together.
      expect(new Set(read.map(({ reqId }) => reqId ?? "none")).size).toBe(expected.length);
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
      headers: { allow: "GET, HEAD, POST, DELETE" },
    });
    expect(await ask("POST", "a/b")).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD, PUT, DELETE" },
    });
    expect(await ask("PUT", "a")).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
  });
});

describe("removal", () => {
  test("a feature that is removed is gone, and its removal can be repeated", async () => {
    for (const feature of ["a", "b"]) await ask("POST", `removal/1/${feature}`);
    for (let round = 0; round < 2; round++) {
      expect(await ask("DELETE", "removal/1/a")).toMatchObject({ status: 204, text: "" });
      expect((await ask("GET", "removal/1/a")).text).toBe('{"result":false}\n');
      expect((await ask("GET", "removal/1")).text).toBe('["b"]\n');
    }
    expect((await ask("DELETE", "removal/never/a")).status).toBe(204);
    expect((await ask("POST", "removal/1/a")).status).toBe(201);
    expect((await ask("GET", "removal/1")).text).toBe('["b","a"]\n');
  });

  test("all features of a resource are removed at once, a body is ignored", async () => {
    for (const path of ["removal/2/a", "removal/2/b", "removal/3/a"]) await ask("POST", path);
    for (let round = 0; round < 2; round++) {
      expect((await ask("DELETE", "removal/2", { body: { x: 1 } })).status).toBe(204);
      expect((await ask("GET", "removal/2")).text).toBe("[]\n");
    }
    expect((await ask("GET", "removal/3")).text).toBe('["a"]\n');
  });
});

describe("the resources of a feature", () => {
  beforeAll(async () => {
    for (let id = 0; id < 25; id++) await ask("POST", `reverse/${id}/beta`);
    await ask("POST", "reverse/other/alpha");
    await ask("POST", "elsewhere/1/beta");
    await ask("DELETE", "reverse/7/beta");
  });

  test("are told page by page, complete, each once", async () => {
    for (const limit of [1, 6, 24, 25, 1000]) {
      const seen: string[] = [];
      let query = `limit=${limit}`;
      for (let pages = 0; query; pages++) {
        const page = JSON.parse((await ask("GET", `reverse?feature=beta&${query}`)).text);
        seen.push(...page.ids);
        expect(page.ids.length).toBeLessThanOrEqual(limit);
        expect(pages).toBeLessThan(30);
        query = page.next_cursor ? `limit=${limit}&cursor=${page.next_cursor}` : "";
      }
      const all = Array.from({ length: 25 }, (_, id) => String(id)).filter((id) => id !== "7");
      expect(seen.sort()).toEqual(all.sort());
    }
  });

  test("a page holds 100 when it is not said", async () => {
    for (let id = 0; id < 101; id++) await ask("POST", `many/${id}/beta`);
    const page = JSON.parse((await ask("GET", "many?feature=beta")).text);
    expect(page.ids).toHaveLength(100);
    expect(page.next_cursor).toEqual(expect.any(String));
  });

  test.each([
    ["reverse", "query parameter feature is required"],
    ["reverse/", "query parameter feature is required"],
    ["reverse?feature=", "query parameter feature"],
    ["reverse?feature=%00", "query parameter feature"],
    ["reverse?feature=beta&limit=0", "query parameter limit"],
    ["reverse?feature=beta&limit=1001", "query parameter limit"],
    ["reverse?feature=beta&limit=1e2", "query parameter limit"],
    ["reverse?feature=beta&cursor=", "query parameter cursor"],
    ["reverse?feature=beta&cursor=%2F", "query parameter cursor"],
    ["reverse?feature=beta&feature=alpha", "query parameter feature"],
  ])("%s is a bad request", async (path, part) => {
    const answer = await ask("GET", path);
    expect(answer).toMatchObject({ status: 400, type: plain });
    expect(answer.text).toMatch(/^[^\n]+\n$/);
    expect(answer.text).toContain(part);
  });

  test.each(["AA", "____", "x".repeat(2000)])("a cursor nobody gave harms nothing: %s", async (cursor) => {
    expect((await ask("GET", `reverse?feature=beta&cursor=${cursor}`)).status).toBe(200);
  });
});

describe("conditional requests", () => {
  const tagOf = async (path: string) => String((await ask("GET", path)).headers.etag);

  test("a list, and a page of resources, is not sent again to who has it", async () => {
    await ask("POST", "tagged/1/a");
    for (const path of ["tagged/1", "tagged?feature=a"]) {
      const etag = await tagOf(path);
      expect(etag).toMatch(/^"[\w-]{43}"$/);
      for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
        const headers = { "if-none-match": known };
        expect(await ask("GET", path, { headers })).toMatchObject({
          status: 304,
          text: "",
          headers: { etag },
        });
        expect(await ask("HEAD", path, { headers })).toMatchObject({ status: 304, text: "" });
      }
      const stale = await ask("GET", path, { headers: { "if-none-match": '"x"' } });
      expect(stale).toMatchObject({ status: 200, headers: { etag } });
    }
  });

  test("the tag is of the answer: other when the list is other, the same when it is the same again", async () => {
    const before = await tagOf("tagged/2");
    expect(await tagOf("tagged/none")).toBe(before);
    await ask("POST", "tagged/2/a");
    const one = await tagOf("tagged/2");
    await ask("POST", "tagged/2/b");
    expect(new Set([before, one, await tagOf("tagged/2")]).size).toBe(3);
    await ask("DELETE", "tagged/2/b");
    expect(await tagOf("tagged/2")).toBe(one);
  });
});

describe("replacing a list", () => {
  const replace = (path: string, body: unknown, ifMatch?: string) =>
    ask("PUT", path, { body, headers: ifMatch === undefined ? {} : { "if-match": ifMatch } });

  test("those that stay keep their place, the others come behind", async () => {
    for (const feature of ["a", "b", "c"]) await ask("POST", `whole/1/${feature}`);
    const { etag } = (await ask("GET", "whole/1")).headers;
    const answer = await replace("whole/1", ["z", "c", "a", "y"], `"x", ${etag}`);
    expect(answer).toMatchObject({ status: 200, type: json, text: '["a","c","z","y"]\n' });
    expect(await ask("GET", "whole/1")).toMatchObject({
      text: answer.text,
      headers: { etag: answer.headers.etag },
    });
    expect((await ask("GET", "whole/1/b")).text).toBe('{"result":false}\n');
    expect((await ask("GET", "whole?feature=y")).text).toBe('{"ids":["1"]}\n');
    expect(await replace("whole/1", [], "*")).toMatchObject({ status: 200, text: "[]\n" });
    expect(await replace("whole/1", ["__proto__", "💷"], "*")).toMatchObject({ status: 200 });
    expect((await ask("GET", "whole/1")).text).toBe('["__proto__","💷"]\n');
  });

  test("not when the list is another, and not without saying which", async () => {
    await ask("POST", "whole/2/a");
    const { etag } = (await ask("GET", "whole/2")).headers;
    expect(await replace("whole/2", ["b"])).toMatchObject({ status: 428, type: plain });
    for (const other of ['"x"', `W/${etag}`, "nonsense", "", String(etag).slice(1, -1)]) {
      expect(await replace("whole/2", ["b"], other)).toMatchObject({ status: 412, type: plain });
    }
    expect((await ask("GET", "whole/2")).text).toBe('["a"]\n');
  });

  test("of several who have read the same list one replaces it", async () => {
    const { etag } = (await ask("GET", "whole/3")).headers;
    const tries = Array.from({ length: 10 }, (_, index) => replace("whole/3", [`${index}`], String(etag)));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, ...Array(9).fill(412)]);
  });

  test("one that is changed meanwhile is looked at again", async () => {
    const inner = await openFeatureStore("memory:");
    /** Each is added by somebody else behind the back of whoever reads the list. */
    const rivals: string[] = [];
    const store = {
      ...inner,
      async list(resource: string, id: string) {
        const list = await inner.list(resource, id);
        const feature = rivals.shift();
        if (feature) await inner.change(resource, id, [{ type: "add", feature }]);
        return list;
      },
    };
    await using raced = await startFeatures({ store });
    const put = (ifMatch: string) =>
      raced.ask("PUT", "/features/a/1", { body: ["x"], headers: { "if-match": ifMatch } });
    rivals.push("r", "s");
    expect(await put("*")).toMatchObject({ status: 200, text: '["x"]\n' });
    const { headers, text } = await raced.ask("GET", "/features/a/1");
    expect(text).toBe('["x"]\n');
    rivals.push("r");
    expect((await put(String(headers.etag))).status).toBe(412);
    expect((await raced.ask("GET", "/features/a/1")).text).toBe('["x","r"]\n');
    rivals.push("s", "t");
    expect((await raced.ask("DELETE", "/features/a/1")).status).toBe(204);
    expect((await raced.ask("GET", "/features/a/1")).text).toBe("[]\n");
  });

  test("If-None-Match is no matter of a replacement", async () => {
    const headers = { "if-match": "*", "if-none-match": "*" };
    expect((await ask("PUT", "whole/6", { body: ["a"], headers })).status).toBe(200);
  });

  test("what only looks like half a surrogate pair is text", async () => {
    const { text } = await ask("PUT", "whole/7", { body: ["\\ud800"], headers: { "if-match": "*" } });
    expect(JSON.parse(text)).toEqual(["\\ud800"]);
  });

  test.each([
    ["no JSON", "{", 400, "the body is not valid JSON"],
    ["no body", undefined, 400, "a body is required"],
    ["an empty body", "", 400, "the body is empty; it must be JSON"],
    ["no array", { a: 1 }, 400, "body must be array"],
    ["a name twice", ["a", "a"], 400, "body must NOT have duplicate items"],
    ["an empty name", ["a", ""], 400, "body/1 must NOT have fewer than 1 characters"],
    ["a number", [1], 400, "body/0 must be string"],
    ["a control character", ["a\u0000"], 400, "body/0 must match pattern"],
    ["half a surrogate pair", '["\\\\\\ud800"]', 400, "body contains an unpaired surrogate"],
    ["the other half", '["\\udc00"]', 400, "body contains an unpaired surrogate"],
    ["a long name", ["x".repeat(257)], 400, "body/0 must NOT have more than 256 characters"],
    [
      "too many names",
      Array.from({ length: 10_001 }, String),
      400,
      "body must NOT have more than 10000 items",
    ],
    ["a large body", `[${" ".repeat(2 ** 20)}]`, 413, "the body is larger than 1 MiB"],
  ])("%s is refused", async (_, body, status, message) => {
    const headers = { "if-match": "*", "content-type": "application/json" };
    const answer = await ask("PUT", "whole/4", {
      body,
      headers: body === undefined ? { "if-match": "*" } : headers,
    });
    expect(answer).toMatchObject({ status, type: plain });
    expect(answer.text).toMatch(/^[^\n]+\n$/);
    expect(answer.text).toContain(message);
  });

  test.each(["text/plain", "text/json", "nonsense", "application/xml"])("%s is no JSON", async (type) => {
    const answer = await ask("PUT", "whole/4", {
      body: "[]",
      headers: { "if-match": "*", "content-type": type },
    });
    expect(answer).toMatchObject({ status: 415, type: plain });
  });

  test("many names are read in time", async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `feature ${index}`);
    const begun = performance.now();
    expect((await replace("whole/5", names, "*")).status).toBe(200);
    expect(performance.now() - begun).toBeLessThan(5000);
    expect(JSON.parse((await ask("GET", "whole/5")).text)).toEqual(names);
  });
});

describe("expiry", () => {
  /** An instant that is soon, but not before a few requests are answered, however slow the machine is now. */
  async function soon(): Promise<string> {
    const begun = Date.now();
    for (let asked = 0; asked < 10; asked++) await ask("GET", "expiry/1");
    return new Date(Date.now() + 300 + 5 * (Date.now() - begun)).toISOString();
  }

  test("a feature is there until its instant, and gone after", async () => {
    const expires = await soon();
    expect((await ask("POST", `instant/1/a?expires_at=${expires}`)).status).toBe(201);
    expect((await ask("POST", "instant/1/b")).status).toBe(201);
    expect((await ask("GET", "instant/1")).text).toBe('["a","b"]\n');
    await expect.poll(async () => (await ask("GET", "instant/1/a")).text).toBe('{"result":false}\n');
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires));
    expect((await ask("GET", "instant/1")).text).toBe('["b"]\n');
    expect((await ask("GET", "instant?feature=a")).text).toBe('{"ids":[]}\n');
    expect((await ask("POST", "instant/1/a")).status).toBe(201);
  });

  test("is at its instant, to the millisecond", async () => {
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.now());
    try {
      const instant = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
      expect((await ask("POST", `expiry/5/a?expires_at=${instant(0)}`)).status).toBe(400);
      expect((await ask("POST", `expiry/5/a?expires_at=${instant(2)}`)).status).toBe(201);
      const cursor = JSON.parse((await service.ask("GET", "/changes?cursor=newest")).text).next_cursor;
      const told = async () =>
        JSON.parse((await service.ask("GET", `/changes?cursor=${cursor}`)).text).changes.length;
      now.mockReturnValue(Date.now() + 1);
      expect([(await ask("GET", "expiry/5/a")).text, await told()]).toEqual(['{"result":true}\n', 0]);
      now.mockReturnValue(Date.now() + 1);
      expect([(await ask("GET", "expiry/5/a")).text, await told()]).toEqual(['{"result":false}\n', 1]);
    } finally {
      now.mockRestore();
    }
  });

  test("the last adding decides; to replace makes it last", async () => {
    const expires = await soon();
    for (const feature of ["a", "b", "c"]) await ask("POST", `expiry/2/${feature}?expires_at=${expires}`);
    expect((await ask("POST", "expiry/2/a")).status).toBe(200);
    const list = { body: ["b", "c"], headers: { "if-match": "*" } };
    await ask("PUT", "expiry/3", list);
    await ask("POST", `expiry/3/c?expires_at=${expires}`);
    await ask("POST", `expiry/3/b?expires_at=${expires}`);
    await ask("PUT", "expiry/3", { ...list, body: ["c"] });
    await expect.poll(async () => (await ask("GET", "expiry/2")).text).toBe('["a"]\n');
    expect((await ask("GET", "expiry/3")).text).toBe('["c"]\n');
  });

  test.each([
    "now",
    "2037-01-01",
    "2037-01-01T00:00:00",
    "2001-01-01T00:00:00Z",
    "",
    "10000-01-01T00:00:00Z",
  ])("%s is no expiry", async (text) => {
    const answer = await ask("POST", `expiry/4/a?expires_at=${text}`);
    expect(answer).toMatchObject({ status: 400, type: plain });
    expect(answer.text).toContain("query parameter expires_at");
    expect((await ask("GET", "expiry/4")).text).toBe("[]\n");
  });
});
