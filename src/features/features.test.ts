import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { openLog } from "../process/log.ts";
import { json, pagesAt, plain, startFeatures } from "./features.fixture.ts";
import { add, names, openUnlimited, passTime, stopClock } from "./store/new-store.fixture.ts";
import { openFeatureStore, StoreFailure } from "./store/store.ts";

let service: Awaited<ReturnType<typeof startFeatures>>;
beforeAll(async () => {
  service = await startFeatures();
});
afterAll(() => service[Symbol.asyncDispose]());

const request = (method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE", path: string, options = {}) =>
  service.request(method, `/features/${path}`, options);
/** Adds a feature to each of these resources of a kind. */
const addToEach = (resource: string, ids: string[], feature: string) =>
  service.request("POST", "/changes", {
    body: { changes: ids.map((id) => ({ type: "add", resource, id, feature })) },
  });
/** The response to a request that is not valid. It is one line of plain text. */
function expectInvalid(response: Awaited<ReturnType<typeof request>>, status: number, part: string) {
  expect(response).toMatchObject({ status, type: plain, text: expect.stringMatching(/^[^\n]+\n$/) });
  expect(response.text).toContain(part);
}

describe("the feature storage", () => {
  test("features are listed once, in the order in which they were added", async () => {
    expect(await request("GET", "customer/1")).toMatchObject({ status: 200, type: json, text: "[]\n" });
    for (const feature of ["b", "a", "b", "c"]) await request("POST", `customer/1/${feature}`);
    expect(await request("GET", "customer/1")).toMatchObject({ status: 200, text: '["b","a","c"]\n' });
  });

  test("the first add answers 201, a repeated add 200, and the feature is then present", async () => {
    const present = { type: json, text: '{"result":true}\n' };
    expect((await request("GET", "customer/2/beta")).text).toBe('{"result":false}\n');
    expect(await request("POST", "customer/2/beta")).toMatchObject({ status: 201, ...present });
    expect(await request("POST", "customer/2/beta")).toMatchObject({ status: 200, ...present });
    expect(await request("GET", "customer/2/beta")).toMatchObject({ status: 200, ...present });
  });

  test.each([
    ["text/plain", "beta"],
    ["application/json", "{not json"],
    ["multipart/form-data", "x"],
    ["nonsense", "x".repeat(3 << 20)],
  ])("a body of type %s is ignored", async (type, body) => {
    const options = { body, headers: { "content-type": type } };
    expect((await request("POST", `customer/3/${type.length}`, options)).status).toBe(201);
  });

  test("a failure of the store answers 500 with its message as plain text", async () => {
    const fail = () => Promise.reject(new StoreFailure("disk\nfull"));
    const store = { ...(await openFeatureStore("memory:")), list: fail, has: fail, change: fail };
    await using failing = await startFeatures({ store });
    for (const [method, path] of [
      ["GET", "/features/a/b"],
      ["GET", "/resources/a/b"],
      ["GET", "/features/a/b/c"],
      ["POST", "/features/a/b/c"],
      ["DELETE", "/features/a/b/c"],
      ["DELETE", "/features/a/b"],
    ] as const) {
      const response = await failing.request(method, path);
      expect(response).toMatchObject({ status: 500, type: plain, text: "disk full\n" });
    }
    const emptyMessage = { ...store, list: () => Promise.reject(new StoreFailure("")) };
    await using unexplained = await startFeatures({ store: emptyMessage });
    expect((await unexplained.request("GET", "/features/a/b")).text).toBe("the store failed\n");
  });

  test("an outage of the store is logged when it begins and when it ends", async () => {
    let isFailing = true;
    const working = await openFeatureStore("memory:");
    const has = (...args: Parameters<typeof working.has>) =>
      isFailing ? Promise.reject(new StoreFailure("disk full")) : working.has(...args);
    const lines: string[] = [];
    const log = openLog("info", { write: (line) => lines.push(line) });
    await using service = await startFeatures({ store: { ...working, has }, log });
    const statuses = async (path: string) => {
      const responses = Array.from({ length: 20 }, () => service.request("GET", path));
      return new Set((await Promise.all(responses)).map(({ status }) => status));
    };
    expect(await statuses("/features/a/b/c")).toEqual(new Set([500]));
    expect(await statuses("/healthcheck")).toEqual(new Set([503]));
    expect((await service.request("GET", "/healthcheck")).text).toBe(
      '{"store":{"healthy":false,"message":"The store cannot be reached"}}\n',
    );
    // Successes between failures do not end it.
    expect(await statuses("/features/a/b")).toEqual(new Set([200]));
    expect(await statuses("/features/a/b/c")).toEqual(new Set([500]));
    isFailing = false;
    expect(await statuses("/features/a/b/c")).toEqual(new Set([200]));
    expect(await statuses("/healthcheck")).toEqual(new Set([200]));
    const text = (await service.request("GET", "/healthcheck")).text;
    expect(text).toBe('{"store":{"healthy":true,"message":"Healthy"}}\n');
    await eventually(() => expect(lines).toHaveLength(4));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, msg: "disk full", requestId: expect.any(String) },
      { level: 40, msg: "The store cannot be reached", err: { message: "disk full" } },
      { level: 30, msg: "ended: disk full", failures: 40, durationMs: expect.any(Number) },
      { level: 30, msg: "ended: The store cannot be reached", failures: 21 },
    ]);
  });

  test("each operation logs its parameters at level debug and nothing at level info", async () => {
    const [resource, id, feature] = ["a", "b", "c"];
    const change = { type: "add", resource, id, feature };
    const query = { resources: [{ resource, id }], features: [feature] };
    const flag = { context: { targetingKey: "a/b" } };
    const requests = [
      ["POST", "/features/a/b/c", { resource, id, feature }],
      ["GET", "/features/a/b/c", { resource, id, feature }],
      ["GET", "/features/a/b", { resource, id }],
      ["GET", "/features/a?feature=c", { resource, feature }],
      ["GET", "/resources/a/b", { resource, id }],
      ["GET", "/resources/a/b/changes?limit=7", { resource, id, limit: 7 }],
      ["PUT", "/features/a/b", { resource, id, features: ["c"] }, ["c"]],
      ["DELETE", "/features/a/b/c", { resource, id, feature }],
      ["DELETE", "/features/a/b", { resource, id }],
      ["POST", "/query", { resources: 1, features: ["c"] }, query],
      ["POST", "/changes", { changes: 1 }, { changes: [change] }],
      ["GET", "/changes?cursor=newest&limit=7", { cursor: "newest", limit: 7 }],
      ["POST", "/ofrep/v1/evaluate/flags/c", { resource, id, feature }, flag],
      ["POST", "/ofrep/v1/evaluate/flags", { resource, id }, flag],
    ] as const;
    for (const level of ["debug", "info"] as const) {
      const lines: string[] = [];
      const log = openLog(level, { write: (line) => lines.push(line) });
      await using logged = await startFeatures({ log });
      lines.length = 0;
      for (const [method, path, , body] of requests) {
        const { status } = await logged.request(method, path, { body, headers: { "if-match": "*" } });
        expect(status).toBeLessThan(300);
      }
      const logLines = lines.map((line) => JSON.parse(line));
      const [ofRequests, ofOperations] = [true, false].map((isOfRequest) =>
        logLines.filter(({ msg }) => (msg === "request") === isOfRequest),
      );
      const expected = level === "debug" ? requests : [];
      expect(ofOperations).toEqual(expected.map(([, , fields]) => expect.objectContaining(fields)));
      expect(ofRequests).toEqual(
        expected.map(([method]) =>
          expect.objectContaining({
            method,
            status: expect.any(Number),
            durationMs: expect.any(Number),
            route: expect.stringMatching(/^\//),
          }),
        ),
      );
      // Each request has an id of its own, which both lines have.
      const idsOf = (all: { requestId: string }[] = []) => all.map(({ requestId }) => requestId);
      expect(idsOf(ofRequests)).toEqual(idsOf(ofOperations));
      expect(new Set(idsOf(ofRequests)).size).toBe(expected.length);
    }
  });
});

describe("names", () => {
  test.each([
    ["dots and slashes", "..%2F..%2Fetc"],
    ["the name of a prototype", "__proto__"],
    ["a character of four bytes", "%F0%9F%92%B7"],
    ["a space and a plus", "a%20b+c"],
    ["256 characters of four bytes", "%F0%9F%92%B7".repeat(256)],
  ])("can contain %s", async (_case, encoded) => {
    expect((await request("POST", `${encoded}/${encoded}/${encoded}`)).status).toBe(201);
    const list = await request("GET", `${encoded}/${encoded}`);
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
  ])("answers 400 for %s", async (path, part) => {
    expectInvalid(await request("GET", path), 400, part);
  });

  test("another method answers 405 and lists the allowed methods", async () => {
    for (const [method, path, allow] of [
      ["PUT", "a/b/c", "GET, HEAD, POST, DELETE"],
      ["POST", "a/b", "GET, HEAD, PUT, DELETE"],
      ["PUT", "a", "GET, HEAD"],
    ] as const) {
      expect(await request(method, path)).toMatchObject({ status: 405, type: plain, headers: { allow } });
    }
  });
});

describe("removal", () => {
  test("a removed feature is absent, and its removal can be repeated", async () => {
    for (const feature of ["a", "b"]) await request("POST", `removal/1/${feature}`);
    for (let round = 0; round < 2; round++) {
      expect(await request("DELETE", "removal/1/a")).toMatchObject({ status: 204, text: "" });
      expect((await request("GET", "removal/1/a")).text).toBe('{"result":false}\n');
      expect((await request("GET", "removal/1")).text).toBe('["b"]\n');
    }
    expect((await request("DELETE", "removal/never/a")).status).toBe(204);
    expect((await request("POST", "removal/1/a")).status).toBe(201);
    expect((await request("GET", "removal/1")).text).toBe('["b","a"]\n');
  });

  test("all features of a resource are removed by one request, a body is ignored", async () => {
    for (const path of ["removal/2/a", "removal/2/b", "removal/3/a"]) await request("POST", path);
    for (let round = 0; round < 2; round++) {
      expect((await request("DELETE", "removal/2", { body: { x: 1 } })).status).toBe(204);
      expect((await request("GET", "removal/2")).text).toBe("[]\n");
    }
    expect((await request("GET", "removal/3")).text).toBe('["a"]\n');
  });
});

describe("the resources that have a feature", () => {
  test("are returned in pages, all of them, each once", async () => {
    await addToEach("reverse", names(25), "beta");
    await addToEach("reverse", ["other"], "alpha");
    await addToEach("elsewhere", ["1"], "beta");
    await request("DELETE", "reverse/7/beta");
    const all = names(25).filter((id) => id !== "7");
    for (const limit of [1, 6, 24, 25, 1000]) {
      const pages: { ids: string[] }[] = await pagesAt(
        async (path) => JSON.parse((await request("GET", path)).text),
        `reverse?feature=beta&limit=${limit}`,
      );
      expect(pages.every(({ ids }) => ids.length <= limit)).toBe(true);
      expect(pages.flatMap(({ ids }) => ids).sort()).toEqual(all.toSorted());
    }
  });

  test("the default limit of a page is 100", async () => {
    await addToEach("many", names(101), "beta");
    const page = JSON.parse((await request("GET", "many?feature=beta")).text);
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
    ["reverse?feature=beta&cursor=%2F", "query parameter cursor"],
    ["reverse?feature=beta&feature=alpha", "query parameter feature"],
  ])("answers 400 for %s", async (path, part) => {
    expectInvalid(await request("GET", path), 400, part);
  });

  test.each(["AA", "____", "x".repeat(2000)])(
    "answers 200 for a cursor that no page returned: %s",
    async (cursor) => {
      expect((await request("GET", `reverse?feature=beta&cursor=${cursor}`)).status).toBe(200);
    },
  );
});

describe("conditional requests", () => {
  const tagOf = async (path: string) => String((await request("GET", path)).headers.etag);

  test("a list or a page of resources that has not changed answers 304", async () => {
    await request("POST", "tagged/1/a");
    for (const path of ["tagged/1", "tagged?feature=a"]) {
      const etag = await tagOf(path);
      expect(etag).toMatch(/^"[\w-]{43}"$/);
      for (const sent of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
        const headers = { "if-none-match": sent };
        const unchanged = { status: 304, text: "", headers: { etag } };
        expect(await request("GET", path, { headers })).toMatchObject(unchanged);
        expect(await request("HEAD", path, { headers })).toMatchObject(unchanged);
      }
      const changed = await request("GET", path, { headers: { "if-none-match": '"x"' } });
      expect(changed).toMatchObject({ status: 200, headers: { etag } });
    }
  });

  test("the ETag depends on the content of the list only", async () => {
    const before = await tagOf("tagged/2");
    expect(await tagOf("tagged/none")).toBe(before);
    await request("POST", "tagged/2/a");
    const one = await tagOf("tagged/2");
    await request("POST", "tagged/2/b");
    expect(new Set([before, one, await tagOf("tagged/2")]).size).toBe(3);
    await request("DELETE", "tagged/2/b");
    expect(await tagOf("tagged/2")).toBe(one);
  });
});

describe("replacing a list", () => {
  const replace = (path: string, body: unknown, ifMatch?: string) =>
    request("PUT", path, { body, headers: ifMatch === undefined ? {} : { "if-match": ifMatch } });

  test("kept features keep their position, new features follow", async () => {
    for (const feature of ["a", "b", "c"]) await request("POST", `whole/1/${feature}`);
    const { etag } = (await request("GET", "whole/1")).headers;
    const response = await replace("whole/1", ["z", "c", "a", "y"], `"x", ${etag}`);
    expect(response).toMatchObject({ status: 200, type: json, text: '["a","c","z","y"]\n' });
    expect(await request("GET", "whole/1")).toMatchObject({
      text: response.text,
      headers: { etag: response.headers.etag },
    });
    expect((await request("GET", "whole/1/b")).text).toBe('{"result":false}\n');
    expect((await request("GET", "whole?feature=y")).text).toBe('{"ids":["1"]}\n');
    expect(await replace("whole/1", [], "*")).toMatchObject({ status: 200, text: "[]\n" });
    expect(await replace("whole/1", ["__proto__", "💷"], "*")).toMatchObject({ status: 200 });
    expect((await request("GET", "whole/1")).text).toBe('["__proto__","💷"]\n');
  });

  test("answers 412 if the list has another ETag and 428 without If-Match", async () => {
    await request("POST", "whole/2/a");
    const { etag } = (await request("GET", "whole/2")).headers;
    expect(await replace("whole/2", ["b"])).toMatchObject({ status: 428, type: plain });
    for (const other of ['"x"', `W/${etag}`, "nonsense", "", String(etag).slice(1, -1)]) {
      expect(await replace("whole/2", ["b"], other)).toMatchObject({ status: 412, type: plain });
    }
    expect((await request("GET", "whole/2")).text).toBe('["a"]\n');
  });

  test("one of several concurrent requests with the same ETag replaces the list", async () => {
    const { etag } = (await request("GET", "whole/3")).headers;
    const tries = Array.from({ length: 10 }, (_, index) => replace("whole/3", [`${index}`], String(etag)));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, ...Array(9).fill(412)]);
  });

  test("If-Match is checked again when the list changes in between", async () => {
    const inner = await openFeatureStore("memory:");
    /** After each read of the list, another client adds the next one of these. */
    const concurrentAdds: string[] = [];
    const list: typeof inner.list = async (resource, id) => {
      const entries = await inner.list(resource, id);
      const feature = concurrentAdds.shift();
      if (feature) await inner.change(resource, id, [add(feature)]);
      return entries;
    };
    await using contended = await startFeatures({ store: { ...inner, list } });
    const textNow = async () => (await contended.request("GET", "/features/a/1")).text;
    const put = (ifMatch: string) =>
      contended.request("PUT", "/features/a/1", { body: ["x"], headers: { "if-match": ifMatch } });
    concurrentAdds.push("r", "s");
    expect(await put("*")).toMatchObject({ status: 200, text: '["x"]\n' });
    const { headers, text } = await contended.request("GET", "/features/a/1");
    expect(text).toBe('["x"]\n');
    concurrentAdds.push("r");
    expect((await put(String(headers.etag))).status).toBe(412);
    expect(await textNow()).toBe('["x","r"]\n');
    concurrentAdds.push("s", "t");
    expect((await contended.request("DELETE", "/features/a/1")).status).toBe(204);
    expect(await textNow()).toBe("[]\n");
  });

  test("If-None-Match is ignored", async () => {
    const headers = { "if-match": "*", "if-none-match": "*" };
    expect((await request("PUT", "whole/6", { body: ["a"], headers })).status).toBe(200);
  });

  test("an escaped backslash before ud800 is not a surrogate", async () => {
    const { text } = await request("PUT", "whole/7", { body: ["\\ud800"], headers: { "if-match": "*" } });
    expect(JSON.parse(text)).toEqual(["\\ud800"]);
  });

  test.each([
    ["invalid JSON", "{", 400, "the body is not valid JSON"],
    ["no body", undefined, 400, "a body is required"],
    ["an empty body", "", 400, "the body is empty; it must be JSON"],
    ["an object", { a: 1 }, 400, "body must be array"],
    ["a duplicate name", ["a", "a"], 400, "body must NOT have duplicate items (item 1 is a duplicate)"],
    ["an empty name", ["a", ""], 400, "body/1 must NOT have fewer than 1 characters"],
    ["a number", [1], 400, "body/0 must be string"],
    ["a control character", ["a\u0000"], 400, "body/0 must match pattern"],
    ["an unpaired high surrogate", '["\\\\\\ud800"]', 400, "body contains an unpaired surrogate"],
    ["an unpaired low surrogate", '["\\udc00"]', 400, "body contains an unpaired surrogate"],
    ["a name that is too long", ["x".repeat(257)], 400, "body/0 must NOT have more than 256 characters"],
    ["too many names", names(1001), 400, "body must NOT have more than 1000 items"],
    ["a body that is too large", `[${" ".repeat(2 ** 20)}]`, 413, "the body is larger than 1 MiB"],
  ])("rejects %s", async (_, body, status, message) => {
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const response = await request("PUT", "whole/4", { body, headers: { "if-match": "*", ...type } });
    expectInvalid(response, status, message);
  });

  test.each(["text/plain", "text/json", "nonsense", "application/xml"])(
    "answers 415 for the type %s",
    async (type) => {
      const headers = { "if-match": "*", "content-type": type };
      expect(await request("PUT", "whole/4", { body: "[]", headers })).toMatchObject({
        status: 415,
        type: plain,
      });
    },
  );

  test("has the maximum of 1000 names", async () => {
    for (const letter of ["a", "b"]) {
      const list = names(1000).map((name) => letter.repeat(250) + name);
      expect(await replace("whole/5", list, "*")).toMatchObject({ status: 200 });
      expect(JSON.parse((await request("GET", "whole/5")).text)).toEqual(list);
    }
  });
});

describe("a resource with the maximum of 1000 features", () => {
  const tooMany = {
    status: 400,
    type: plain,
    text: "the resource would have more than 1,000 features, the maximum\n",
  };

  test("gets no other feature, but an expiry time, a replacement and a removal", async () => {
    const body = { body: names(1000), headers: { "if-match": "*" } };
    expect((await request("PUT", "full/1", body)).status).toBe(200);
    expect(await request("POST", "full/1/more")).toMatchObject(tooMany);
    expect((await request("GET", "full/1/more")).text).toBe('{"result":false}\n');
    expect((await request("POST", "full/1/7?expires_at=2999-01-01T00:00:00Z")).status).toBe(200);
    expect(
      (await request("PUT", "full/1", { ...body, body: [...names(1000).slice(1), "more"] })).status,
    ).toBe(200);
    expect(await request("POST", "full/1/0")).toMatchObject(tooMany);
    expect((await request("DELETE", "full/1/7")).status).toBe(204);
    expect((await request("POST", "full/1/0")).status).toBe(201);
  });
});

test("a list of more than 1000 features, which a previous release stored, is replaced and removed in pieces", async () => {
  const all = names(2100);
  const store = await openUnlimited("memory:");
  await store.change(
    "long",
    "1",
    all.map((feature) => add(feature)),
  );
  await store.change(
    "long",
    "2",
    all.map((feature) => add(feature)),
  );
  const changes: number[] = [];
  const change: typeof store.change = (...args) => {
    changes.push(args[2].length);
    return store.change(...args);
  };
  await using service = await startFeatures({ store: { ...store, change } });
  const list = async (id: string) => JSON.parse((await service.request("GET", `/features/long/${id}`)).text);
  const put = (ifMatch: string) =>
    service.request("PUT", "/features/long/1", {
      body: ["new", "2000", "7"],
      headers: { "if-match": ifMatch },
    });
  expect(await list("1")).toEqual(all);
  expect((await put('"x"')).status).toBe(412);
  expect(changes).toEqual([]);
  const { etag } = (await service.request("GET", "/features/long/1")).headers;
  expect(await put(String(etag))).toMatchObject({ status: 200, text: '["7","2000","new"]\n' });
  expect(await list("1")).toEqual(["7", "2000", "new"]);
  expect(await list("2")).toEqual(all);
  expect((await service.request("DELETE", "/features/long/2")).status).toBe(204);
  expect(await list("2")).toEqual([]);
  expect(Math.max(...changes)).toBeLessThanOrEqual(250);
});

describe("expiry", () => {
  const instantIn = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
  const texts = (...paths: string[]) =>
    Promise.all(paths.map(async (path) => (await request("GET", path)).text.trim()));

  test("a feature is present until its expiry time and absent afterwards, to the millisecond", async () => {
    stopClock();
    const { next_cursor } = JSON.parse((await service.request("GET", "/changes?cursor=newest")).text);
    const changesSince = async () =>
      JSON.parse((await service.request("GET", `/changes?cursor=${next_cursor}`)).text).changes.length;
    const paths = ["instant/1/a", "instant/1", "instant?feature=a"];
    expect((await request("POST", `instant/1/a?expires_at=${instantIn(0)}`)).status).toBe(400);
    expect((await request("POST", `instant/1/a?expires_at=${instantIn(2)}`)).status).toBe(201);
    expect((await request("POST", "instant/1/b")).status).toBe(201);
    passTime(1);
    expect(await texts(...paths)).toEqual(['{"result":true}', '["a","b"]', '{"ids":["1"]}']);
    expect(await changesSince()).toBe(2);
    passTime(1);
    expect(await texts(...paths)).toEqual(['{"result":false}', '["b"]', '{"ids":[]}']);
    expect(await changesSince()).toBe(3);
    expect((await request("POST", "instant/1/a")).status).toBe(201);
  });

  test("the last add sets or removes the expiry time, a replacement removes it", async () => {
    stopClock();
    const expires = instantIn(1000);
    for (const feature of ["a", "b", "c"]) await request("POST", `expiry/2/${feature}?expires_at=${expires}`);
    expect((await request("POST", "expiry/2/a")).status).toBe(200);
    const list = { body: ["b", "c"], headers: { "if-match": "*" } };
    await request("PUT", "expiry/3", list);
    await request("POST", `expiry/3/c?expires_at=${expires}`);
    await request("POST", `expiry/3/b?expires_at=${expires}`);
    await request("PUT", "expiry/3", { ...list, body: ["c"] });
    passTime(1000);
    expect(await texts("expiry/2", "expiry/3")).toEqual(['["a"]', '["c"]']);
  });

  test.each([
    "now",
    "2037-01-01",
    "2037-01-01T00:00:00",
    "2001-01-01T00:00:00Z",
    "",
    "10000-01-01T00:00:00Z",
  ])("answers 400 for the expiry time %s", async (text) => {
    const response = await request("POST", `expiry/4/a?expires_at=${text}`);
    expectInvalid(response, 400, "query parameter expires_at");
    expect((await request("GET", "expiry/4")).text).toBe("[]\n");
  });
});
