import { describe, expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { openLog } from "../../process/log.ts";
import { add, names, openUnlimited } from "../store/new-store.fixture.ts";
import { StoreFailure } from "../store/store.ts";
import { openFeatureStore } from "../store/stores.ts";
import { json, pagesAt, plain, serviceForTests, startFeatures } from "./features.fixture.ts";

const service = serviceForTests();
const request = (method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE", path: string, options = {}) =>
  service.request(method, `/features/${path}`, options);
const textOf = async (path: string) => (await request("GET", path)).text.trimEnd();
/** Adds features, each given as a path. */
const addAll = async (...paths: string[]) => {
  for (const path of paths) await request("POST", path);
};
const replace = (path: string, body: unknown, ifMatch = "*") =>
  request("PUT", path, { body, headers: { "if-match": ifMatch } });

describe("the feature storage", () => {
  test("a feature is listed once, in the order of adding; the first add answers 201", async () => {
    expect(await request("GET", "customer/1")).toMatchObject({ status: 200, type: json, text: "[]\n" });
    expect(await textOf("customer/1/b")).toBe('{"result":false}');
    const present = { type: json, text: '{"result":true}\n' };
    expect(await request("POST", "customer/1/b")).toMatchObject({ status: 201, ...present });
    await addAll("customer/1/a");
    expect(await request("POST", "customer/1/b")).toMatchObject({ status: 200, ...present });
    expect(await request("GET", "customer/1/b")).toMatchObject({ status: 200, ...present });
    expect(await textOf("customer/1")).toBe('["b","a"]');
  });

  test("a removed feature is absent, and its removal can be repeated, of one or of all", async () => {
    await addAll("removal/1/a", "removal/1/b", "removal/2/a");
    for (let round = 0; round < 2; round++) {
      expect(await request("DELETE", "removal/1/a")).toMatchObject({ status: 204, text: "" });
      expect(await textOf("removal/1/a")).toBe('{"result":false}');
      expect(await textOf("removal/1")).toBe('["b"]');
    }
    expect((await request("POST", "removal/1/a")).status).toBe(201);
    expect(await textOf("removal/1")).toBe('["b","a"]');
    for (let round = 0; round < 2; round++) {
      expect((await request("DELETE", "removal/1", { body: { x: 1 } })).status).toBe(204);
      expect(await textOf("removal/1")).toBe("[]");
    }
    expect(await textOf("removal/2")).toBe('["a"]');
  });

  test("a failure of the store answers 500 with its message as plain text", async () => {
    const failWith = (message: string) => {
      const fail = () => Promise.reject(new StoreFailure(message));
      service.replace(() => ({ list: fail, has: fail, change: fail }));
    };
    failWith("disk\nfull");
    for (const [method, path] of [
      ["GET", "/features/a/b"],
      ["GET", "/resources/a/b"],
      ["GET", "/features/a/b/c"],
      ["POST", "/features/a/b/c"],
      ["DELETE", "/features/a/b/c"],
      ["DELETE", "/features/a/b"],
    ] as const) {
      const response = await service.request(method, path);
      expect(response).toMatchObject({ status: 500, type: plain, text: "disk full\n" });
    }
    failWith("");
    expect(await textOf("a/b")).toBe("the store failed");
    failWith("x".repeat(5000));
    expect(await textOf("a/b")).toBe("x".repeat(4000));
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
      expect(ofOperations).toMatchObject(expected.map(([, , fields]) => fields));
      const common = { status: expect.any(Number), durationMs: expect.any(Number) };
      const route = expect.stringMatching(/^\//);
      expect(ofRequests).toMatchObject(expected.map(([method]) => ({ method, route, ...common })));
      // Each request has an id of its own, which both lines have.
      const idsOf = (all: { requestId: string }[] = []) => all.map(({ requestId }) => requestId);
      expect(idsOf(ofRequests)).toEqual(idsOf(ofOperations));
      expect(new Set(idsOf(ofRequests)).size).toBe(expected.length);
    }
  });
});

describe("the resources that have a feature", () => {
  test("are returned in pages, all of them, each once, 100 on a page by default", async () => {
    await addAll(...names(105).map((id) => `kind/${id}/beta`), "kind/other/alpha", "elsewhere/1/beta");
    await request("DELETE", "kind/7/beta");
    const all = names(105).filter((id) => id !== "7");
    for (const limit of [1, 6, 104, undefined, 1000]) {
      const pages: { ids: string[] }[] = await pagesAt(
        service.read,
        `/features/kind?feature=beta&limit=${limit ?? ""}`,
      );
      expect(pages[0]?.ids).toHaveLength(Math.min(limit ?? 100, 104));
      expect(pages.every(({ ids }) => ids.length <= (limit ?? 100))).toBe(true);
      expect(pages.flatMap(({ ids }) => ids).sort()).toEqual(all.toSorted());
    }
  });

  test.each(["AA", "____", "x".repeat(2000)])(
    "answers 200 for a cursor that no page returned: %s",
    async (cursor) => {
      expect((await request("GET", `kind?feature=beta&cursor=${cursor}`)).status).toBe(200);
    },
  );
});

test("a list or a page of resources that has not changed answers 304", async () => {
  await addAll("tagged/1/a");
  for (const path of ["tagged/1", "tagged?feature=a"]) {
    const etag = String((await request("GET", path)).headers.etag);
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

test("the response 304 depends on the same headers as the one that it stands for", async () => {
  await replace("varied/1", names(500));
  for (const [path, vary] of [
    ["varied/1", "accept-encoding"],
    ["varied/2", undefined],
  ]) {
    const { headers } = await request("GET", path as string);
    const known = { "if-none-match": headers.etag };
    const unchanged = await request("GET", path as string, { headers: known });
    expect([headers.vary, unchanged.status, unchanged.headers.vary]).toEqual([vary, 304, vary]);
  }
});

describe("replacing a list", () => {
  test("kept features keep their position, new features follow", async () => {
    await addAll("whole/1/a", "whole/1/b", "whole/1/c");
    const { etag } = (await request("GET", "whole/1")).headers;
    const response = await replace("whole/1", ["z", "c", "a", "y"], `"x", ${etag}`);
    expect(response).toMatchObject({ status: 200, type: json, text: '["a","c","z","y"]\n' });
    expect(await request("GET", "whole/1")).toMatchObject({
      text: response.text,
      headers: { etag: response.headers.etag },
    });
    expect(await textOf("whole/1/b")).toBe('{"result":false}');
    expect(await textOf("whole?feature=y")).toBe('{"ids":["1"]}');
    expect(await replace("whole/1", [])).toMatchObject({ status: 200, text: "[]\n" });
    // An escaped backslash before ud800 is no surrogate. If-None-Match has no effect.
    const odd = ["__proto__", "💷", "\\ud800"];
    const headers = { "if-match": "*", "if-none-match": "*" };
    expect(await request("PUT", "whole/1", { body: odd, headers })).toMatchObject({ status: 200 });
    expect(JSON.parse(await textOf("whole/1"))).toEqual(odd);
  });

  test("answers 412 if the list has another ETag, 428 without If-Match, and 415 for other types", async () => {
    await addAll("whole/2/a");
    const { etag } = (await request("GET", "whole/2")).headers;
    expect(await request("PUT", "whole/2", { body: ["b"] })).toMatchObject({ status: 428, type: plain });
    for (const other of ['"x"', "nonsense", "", String(etag).slice(1, -1), 'W/"x"']) {
      const text = "the list has changed: its ETag is not the one in If-Match\n";
      expect(await replace("whole/2", ["b"], other)).toMatchObject({ status: 412, type: plain, text });
    }
    const weak = await replace("whole/2", ["b"], `"x", W/${etag}`);
    expect(weak).toMatchObject({ status: 412, type: plain });
    expect(weak.text).toContain("send the ETag without W/");
    const headers = { "if-match": "*", "content-type": "text/json" };
    const ofOtherType = await request("PUT", "whole/2", { body: "[]", headers });
    expect(ofOtherType).toMatchObject({ status: 415, type: plain });
    expect(await textOf("whole/2")).toBe('["a"]');
  });

  test("an ETag that a proxy has marked, since it compressed the list, matches", async () => {
    for (const mark of ["-gzip", "--gzip", "-br", "-zstd"]) {
      const { etag } = (await request("GET", "whole/3")).headers;
      const marked = String(etag).replace(/"$/, `${mark}"`);
      expect(await replace("whole/3", [mark], marked)).toMatchObject({ status: 200 });
      expect((await replace("whole/3", [mark], marked)).status).toBe(412);
    }
  });

  test("If-Match is checked again when the list changes in between", async () => {
    /** After each read of the list, another client adds the next one of these. */
    const concurrentAdds: string[] = [];
    service.replace((store) => ({
      async list(resource, id) {
        const entries = await store.list(resource, id);
        const feature = concurrentAdds.shift();
        if (feature) await store.change(resource, id, [add(feature)]);
        return entries;
      },
    }));
    concurrentAdds.push("r", "s");
    expect(await replace("a/1", ["x"])).toMatchObject({ status: 200, text: '["x"]\n' });
    const { headers, text } = await request("GET", "a/1");
    expect(text).toBe('["x"]\n');
    concurrentAdds.push("r");
    expect((await replace("a/1", ["x"], String(headers.etag))).status).toBe(412);
    expect(await textOf("a/1")).toBe('["x","r"]');
    concurrentAdds.push("s", "t");
    expect((await request("DELETE", "a/1")).status).toBe(204);
    expect(await textOf("a/1")).toBe("[]");
  });
});

test("a resource with the maximum of 1000 features gets no other one, but another list of 1000", async () => {
  const long = names(1000).map((name) => name.padStart(250, "b"));
  for (const list of [names(1000), long]) expect((await replace("full/1", list)).status).toBe(200);
  expect(await request("POST", "full/1/more")).toMatchObject({
    status: 400,
    type: plain,
    text: "the resource would have more than 1,000 features, the maximum\n",
  });
  expect(JSON.parse(await textOf("full/1"))).toEqual(long);
});

test("a list of more than 1000 features, which a previous release stored, is replaced and removed in pieces", async () => {
  const all = names(2100);
  const store = await openUnlimited("memory:");
  const additions = all.map((feature) => add(feature));
  for (const id of ["1", "2"]) await store.change("long", id, additions);
  const changes: number[] = [];
  service.replace(() => ({
    list: store.list,
    change(...args) {
      changes.push(args[2].length);
      return store.change(...args);
    },
  }));
  const list = async (id: string) => JSON.parse(await textOf(`long/${id}`));
  expect(await list("1")).toEqual(all);
  expect((await replace("long/1", ["new", "2000", "7"], '"x"')).status).toBe(412);
  expect(changes).toEqual([]);
  const { etag } = (await request("GET", "long/1")).headers;
  const replaced = await replace("long/1", ["new", "2000", "7"], String(etag));
  expect(replaced).toMatchObject({ status: 200, text: '["7","2000","new"]\n' });
  expect(await list("1")).toEqual(["7", "2000", "new"]);
  expect(await list("2")).toEqual(all);
  expect((await request("DELETE", "long/2")).status).toBe(204);
  expect(await list("2")).toEqual([]);
  expect(Math.max(...changes)).toBeLessThanOrEqual(250);
});
