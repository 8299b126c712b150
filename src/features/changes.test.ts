import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { openLog } from "../process/log.ts";
import { json, plain, startFeatures } from "./features.fixture.ts";
import { type FeatureStore, openFeatureStore, StoreFailure } from "./store/store.ts";

let store: FeatureStore;
let service: Awaited<ReturnType<typeof startFeatures>>;
beforeEach(async () => {
  store = await openFeatureStore("memory:?changes=50");
  service = await startFeatures({ store });
  return () => service[Symbol.asyncDispose]();
});

const ask = (...question: Parameters<typeof service.ask>) => service.ask(...question);
const change = (...changes: object[]) => ask("POST", "/changes", { body: { changes } });
const add = (id: string, feature: string, more = {}) => ({
  type: "add",
  resource: "kind",
  id,
  feature,
  ...more,
});
const remove = (id: string, feature: string) => ({ type: "remove", resource: "kind", id, feature });
const soon = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();

describe("many questions at once", () => {
  const query = (resources: object[], features: string[]) =>
    ask("POST", "/query", { body: { resources, features } });

  test("are answered in their order, for each resource and feature", async () => {
    await change(add("1", "a"), add("2", "b"), add("2", "a", { expires_at: soon(60_000) }));
    const resources = ["1", "2", "never", "1"].map((id) => ({ resource: "kind", id }));
    resources.push({ resource: "other", id: "1" });
    const answer = await query(resources, ["a", "b", "__proto__"]);
    expect(answer).toMatchObject({ status: 200, type: json });
    expect(JSON.parse(answer.text)).toEqual({
      results: [
        { resource: "kind", id: "1", has: [true, false, false] },
        { resource: "kind", id: "2", has: [true, true, false] },
        { resource: "kind", id: "never", has: [false, false, false] },
        { resource: "kind", id: "1", has: [true, false, false] },
        { resource: "other", id: "1", has: [false, false, false] },
      ],
    });
  });

  test("are up to a hundred by a hundred", async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => String(index));
    const resources = (count: number) => many(count).map((id) => ({ resource: "kind", id }));
    await change(...many(100).map((id) => add(id, id)));
    const { results } = JSON.parse((await query(resources(100), many(100))).text);
    expect(results.flatMap(({ has }: { has: boolean[] }) => has).filter(Boolean)).toHaveLength(100);
    expect((await query(resources(101), ["a"])).text).toBe(
      "body/resources must NOT have more than 100 items\n",
    );
    expect((await query(resources(1), many(101))).text).toBe(
      "body/features must NOT have more than 100 items\n",
    );
    expect((await query([], ["a"])).status).toBe(400);
    expect((await query(resources(1), [])).status).toBe(400);
  });

  test.each([
    [{}, "body/resources is required; body/features is required"],
    [{ resources: [{ resource: "a" }], features: ["b"] }, "body/resources/0/id is required"],
    [{ resources: [{ resource: "a", id: 1 }], features: ["b"] }, "body/resources/0/id must be string"],
    [{ resources: [{ resource: "a", id: "b", x: 1 }], features: ["b"] }, 'body/resources/0/"x" is unknown'],
    [{ resources: [{ resource: "a", id: "b" }], features: ["\n"] }, "body/features/0 must match pattern"],
    ['{"resources":[],"features":[],"__proto__":{}}', 'body/"__proto__" is unknown'],
    ['{"constructor":{"prototype":{}}}', 'body/"constructor" is unknown'],
    ["null", "body must be object"],
    ["[".repeat(100_000), "the body is not valid JSON"],
  ])("%j is a bad request", async (body, message) => {
    const answer = await ask("POST", "/query", { body, headers: { "content-type": "application/json" } });
    expect(answer).toMatchObject({ status: 400, type: plain });
    expect(answer.text).toMatch(/^[^\n]+\n$/);
    expect(answer.text).toContain(message);
  });
});

describe("many changes at once", () => {
  test("are made in their order, each with its result", async () => {
    const answer = await change(
      add("1", "a"),
      add("2", "a"),
      add("1", "a"),
      remove("1", "a"),
      remove("1", "a"),
      add("1", "b"),
      add("1", "a"),
    );
    expect(answer).toMatchObject({ status: 200, type: json });
    const changed = JSON.parse(answer.text).results.map((result: { changed: boolean }) => result.changed);
    expect(changed).toEqual([true, true, false, true, false, true, true]);
    expect((await ask("GET", "/features/kind/1")).text).toBe('["b","a"]\n');
    expect((await ask("GET", "/features/kind?feature=a")).text).toBe('{"ids":["1","2"]}\n');
  });

  test("are made in one step for each resource", async () => {
    const steps: string[] = [];
    await using counted = await startFeatures({
      store: {
        ...store,
        change: (resource, id, wishes, onlyIf) => {
          steps.push([resource, id, ...wishes.map(({ feature }) => feature)].join(" "));
          return store.change(resource, id, wishes, onlyIf);
        },
        async [Symbol.asyncDispose]() {},
      },
    });
    const changes = [
      add("11", "a"),
      add("1", "b"),
      { ...add("1", "c"), resource: "kind1" },
      add("11", "d"),
      { ...remove("1", "e"), resource: "other" },
      add("1", "a"),
    ];
    await counted.ask("POST", "/changes", { body: { changes } });
    expect(steps).toEqual(["kind 11 a d", "kind 1 b a", "kind1 1 c", "other 1 e"]);
  });

  test("may be a thousand", async () => {
    const many = Array.from({ length: 1001 }, (_, index) => add(String(index), "a"));
    expect((await change(...many)).text).toBe("body/changes must NOT have more than 1000 items\n");
    expect((await ask("GET", "/features/kind/0")).text).toBe("[]\n");
    const { results } = JSON.parse((await change(...many.slice(1))).text);
    expect(results).toEqual(Array(1000).fill({ changed: true }));
  });

  test.each([
    [
      { ...remove("1", "b"), expires_at: soon(60_000) },
      "body/changes/1/expires_at is not allowed with remove",
    ],
    [add("1", "b", { expires_at: soon(-1) }), "body/changes/1/expires_at must be in the future"],
    [add("1", "b", { expires_at: "soon" }), "body/changes/1/expires_at must be"],
    [{ ...add("1", "b"), type: "toggle" }, "body/changes/1/type must be one of add, remove"],
    [{ type: "add", resource: "kind", id: "1" }, "body/changes/1/feature is required"],
    [{ ...add("1", "b"), expires: soon(60_000) }, 'body/changes/1/"expires" is unknown'],
  ])("nothing is changed when one of them is %j", async (odd, message) => {
    const answer = await change(add("1", "a"), odd);
    expect(answer).toMatchObject({ status: 400, type: plain });
    expect(answer.text).toContain(message);
    expect((await ask("GET", "/features/kind/1")).text).toBe("[]\n");
  });
});

describe("the changes", () => {
  const page = async (query = "") => JSON.parse((await ask("GET", `/changes${query}`)).text);

  test("are told page by page, as JSON", async () => {
    const expires_at = soon(60_000);
    expect(await page()).toEqual({ changes: [], next_cursor: expect.any(String) });
    await change(add("1", "a"), add("1", "b", { expires_at }), remove("1", "a"));
    const { changes, next_cursor } = await page();
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const cursor = expect.stringMatching(/^[\w.~-]+$/);
    expect(changes).toEqual([
      { cursor, type: "added", at, resource: "kind", id: "1", feature: "a" },
      { cursor, type: "added", at, resource: "kind", id: "1", feature: "b", expires_at },
      { cursor, type: "removed", at, resource: "kind", id: "1", feature: "a" },
    ]);
    expect(next_cursor).toBe(changes[2].cursor);
    const first = await page("?limit=2");
    expect(first).toEqual({ changes: changes.slice(0, 2), next_cursor: changes[1].cursor });
    expect(await page(`?limit=2&cursor=${first.next_cursor}`)).toEqual({
      changes: changes.slice(2),
      next_cursor,
    });
    expect(await page(`?cursor=${next_cursor}`)).toEqual({ changes: [], next_cursor });
    expect(await page("?cursor=newest")).toEqual({ changes: [], next_cursor });
  });

  test("one that comes while a page is read is told with the next", async () => {
    await using busy = await startFeatures({
      store: {
        ...store,
        async changes(...given) {
          const told = await store.changes(...given);
          await store.change("kind", "1", [{ type: "add", feature: "meanwhile" }]);
          return told;
        },
        async [Symbol.asyncDispose]() {},
      },
    });
    const { changes, next_cursor } = JSON.parse((await busy.ask("GET", "/changes")).text);
    expect(changes).toEqual([]);
    expect((await page(`?cursor=${next_cursor}`)).changes).toMatchObject([{ feature: "meanwhile" }]);
  });

  test("are told as lines of JSON", async () => {
    const headers = { accept: "application/x-ndjson" };
    expect(await ask("GET", "/changes", { headers })).toMatchObject({ status: 200, text: "" });
    await change(add("1", "a\u2028b"), add("1", "c"));
    const answer = await ask("GET", "/changes", { headers });
    expect(answer).toMatchObject({
      type: "application/x-ndjson; charset=utf-8",
      headers: { vary: "accept" },
    });
    const lines = answer.text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toEqual((await page()).changes);
    expect(lines).toHaveLength(2);
  });

  test("an expiry is told when its time has come", async () => {
    const begun = performance.now();
    for (let asked = 0; asked < 10; asked++) await page();
    // Not before the request has arrived, however slow the machine is now.
    const expires_at = soon(200 + 5 * (performance.now() - begun));
    await change(add("1", "a", { expires_at }));
    await expect.poll(async () => (await page()).changes.length).toBe(2);
    expect((await page()).changes[1]).toMatchObject({
      type: "expired",
      at: expires_at,
      id: "1",
      feature: "a",
    });
  });

  test("a cursor of forgotten changes is 410, and so is a cursor of another store", async () => {
    const { next_cursor } = await page();
    for (let round = 0; round < 30; round++) await change(add("1", "a"), remove("1", "a"));
    for (const old of [next_cursor, "nobodys-1", "x"]) {
      for (const accept of ["application/json", "application/x-ndjson", "text/event-stream"]) {
        const answer = await ask("GET", `/changes?cursor=${old}`, { headers: { accept } });
        expect(answer).toMatchObject({ status: 410, type: plain });
        expect(answer.text).toMatch(
          /^the cursor is unknown, or records after it have been deleted.*cursor=newest\n$/,
        );
      }
    }
    expect((await page()).changes).toHaveLength(50);
  });

  test.each(["cursor=", "cursor=%20", "limit=0", "limit=1001", "limit=x", "from=1"])(
    "%s is a bad request",
    async (query) => {
      expect(await ask("GET", `/changes?${query}`)).toMatchObject({ status: 400, type: plain });
    },
  );

  test("an odd Last-Event-ID is a bad request", async () => {
    const headers = { "last-event-id": "a b" };
    const answer = await ask("GET", "/changes", { headers });
    expect(answer).toMatchObject({ status: 400, type: plain });
    expect(answer.text).toContain("header last-event-id must match pattern");
  });
});

/** A stream of server-sent events, read as it comes. */
async function listen(base: string, path: string, headers = {}) {
  const stop = new AbortController();
  const reply = await request(base + path, {
    headers: { accept: "text/event-stream", ...headers },
    signal: stop.signal,
  });
  let text = "";
  const ended = (async () => {
    for await (const piece of reply.body) text += piece;
  })().then(
    () => "by the service",
    () => "by the caller",
  );
  const events = () =>
    [...text.matchAll(/id: (.*)\ndata: (.*)\n\n/g)].map(([, id, data = ""]) => ({
      id,
      data: JSON.parse(data),
    }));
  return {
    reply,
    ended,
    events,
    ids: () => events().map(({ data }) => data.id),
    stop: () => stop.abort(),
    text: () => text,
  };
}

describe("a stream of changes", () => {
  test("tells what is there and then what comes, each with its cursor", async () => {
    await change(add("1", "a"));
    const stream = await listen(service.base, "/changes");
    expect(stream.reply.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    await expect.poll(() => stream.ids()).toEqual(["1"]);
    await change(add("2", "a"), add("3", "a"));
    await expect.poll(() => stream.ids().sort()).toEqual(["1", "2", "3"]);
    for (const { id, data } of stream.events()) expect(id).toBe(data.cursor);
    await change(add("4", "a", { expires_at: soon(300) }));
    await expect.poll(() => stream.events().at(-1)?.data).toMatchObject({ id: "4", type: "expired" });
    stream.stop();
    expect(await stream.ended).toBe("by the caller");
  });

  test("who comes back has missed nothing", async () => {
    const first = await listen(service.base, "/changes?cursor=newest");
    await change(add("1", "a"));
    await expect.poll(() => first.ids()).toEqual(["1"]);
    first.stop();
    await change(add("2", "a"));
    await change(add("3", "a"));
    const again = await listen(service.base, "/changes?cursor=newest", {
      "last-event-id": first.events().at(-1)?.id,
    });
    await expect.poll(() => again.ids()).toEqual(["2", "3"]);
    again.stop();
  });

  test("many listen to one store, which is looked at no more often for them, nor after them", async () => {
    let looks = 0;
    const newest = () => {
      looks += 1;
      return store.newest();
    };
    await using counted = await startFeatures({
      store: { ...store, newest, async [Symbol.asyncDispose]() {} },
    });
    const streams = await Promise.all(
      Array.from({ length: 50 }, () => listen(counted.base, "/changes?cursor=newest")),
    );
    const ids = ["1", "2", "3"];
    for (const [index, id] of ids.entries()) {
      await counted.ask("POST", `/features/kind/${id}/a`);
      for (const stream of streams) {
        await expect.poll(() => stream.ids(), { interval: 5 }).toEqual(ids.slice(0, index + 1));
      }
    }
    looks = 0;
    const begun = performance.now();
    await sleep(1000);
    await expect.poll(() => looks).toBeGreaterThan(1);
    expect(looks).toBeLessThan((10 * (performance.now() - begun)) / 1000);
    for (const stream of streams) stream.stop();
    await Promise.all(streams.map(({ ended }) => ended));
    // It takes the service a moment to notice.
    await eventually(async () => {
      looks = 0;
      await sleep(500);
      expect(looks).toBe(0);
    });
  });

  test("begins with a comment, and has one every 15 seconds", async () => {
    const begun = performance.now();
    const quiet = await listen(service.base, "/changes?cursor=newest");
    await expect.poll(() => quiet.text()).toBe(":\n\n");
    expect(performance.now() - begun).toBeLessThan(15_000);
    quiet.stop();
    const { setTimeout } = globalThis;
    const shortened = vi
      .spyOn(globalThis, "setTimeout")
      .mockImplementation(((work: () => void, milliseconds: number, ...args: []) =>
        setTimeout(work, milliseconds === 15_000 ? 20 : milliseconds, ...args)) as never);
    try {
      const stream = await listen(service.base, "/changes?cursor=newest");
      await expect.poll(() => stream.text()).toMatch(/^(:\n\n){4,}$/);
      stream.stop();
    } finally {
      shortened.mockRestore();
    }
  });

  test.each([[["newest", "changes"]], [["changes"]]])(
    "a store that fails %j for a while interrupts no stream",
    async (failing) => {
      let fails = false;
      const change = (name: "newest" | "changes") =>
        (async (...given: []) => {
          if (fails && failing.includes(name)) throw new StoreFailure("away");
          return (store[name] as () => Promise<never>)(...given);
        }) as never;
      await using shaky = await startFeatures({
        store: {
          ...store,
          newest: change("newest"),
          changes: change("changes"),
          async [Symbol.asyncDispose]() {},
        },
      });
      const stream = await listen(shaky.base, "/changes?cursor=newest");
      fails = true;
      await store.change("kind", "1", [{ type: "add", feature: "a" }]);
      await sleep(500);
      expect(stream.ids()).toEqual([]);
      fails = false;
      await expect.poll(() => stream.ids()).toEqual(["1"]);
      stream.stop();
    },
  );

  test("is broken off by a bug, which is logged", async () => {
    const lines: string[] = [];
    const sink = new Writable({ write: (line, _encoding, done) => done(void lines.push(String(line))) });
    let isBroken = false;
    await using service = await startFeatures({
      store: {
        ...store,
        changes: async (...given) => (isBroken ? expect.unreachable("a bug") : store.changes(...given)),
        async [Symbol.asyncDispose]() {},
      },
      log: openLog("error", sink),
    });
    const stream = await listen(service.base, "/changes?cursor=newest");
    isBroken = true;
    await store.change("kind", "1", [{ type: "add", feature: "a" }]);
    expect(await stream.ended).not.toBe("by the service");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ msg: "a response was cut off", method: "GET", route: "/changes" }),
    ]);
  });

  test("ends when it has fallen too far behind", async () => {
    let behind = false;
    await using service = await startFeatures({
      store: {
        ...store,
        changes: async (...given) => (behind ? undefined : store.changes(...given)),
        async [Symbol.asyncDispose]() {},
      },
    });
    const stream = await listen(service.base, "/changes?cursor=newest");
    behind = true;
    await store.change("kind", "1", [{ type: "add", feature: "a" }]);
    expect(await stream.ended).toBe("by the service");
  });

  test("ends when the service stops", async () => {
    const stopping = await startFeatures();
    const stream = await listen(stopping.base, "/changes");
    const begun = performance.now();
    await stopping[Symbol.asyncDispose]();
    expect(await stream.ended).toBe("by the service");
    // Not even the grace of those who are slow is waited for.
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  test("HEAD tells only that it is there", async () => {
    const answer = await ask("HEAD", "/changes", { headers: { accept: "text/event-stream" } });
    expect(answer).toMatchObject({ status: 200, text: "" });
  });
});
