import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { eventsIn, listen } from "../../../testing/event-stream.ts";
import { eventually } from "../../../testing/eventually.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { openLog } from "../../process/log.ts";
import { openChangeStreams } from "../requests/feed.ts";
import { names, passTime, stopClock } from "../store/new-store.fixture.ts";
import type { FeatureStore } from "../store/store.ts";
import { openFeatureStore } from "../store/stores.ts";
import { json, plain, readStream, serviceForTests, startFeatures, watchFeed } from "./features.fixture.ts";

vi.mock("../../http/streams/event-stream.ts", async (original) => ({
  ...(await original<object>()),
  lookEveryMs: 5,
}));

const { request, replace, base } = serviceForTests("memory:?changes=50");
const change = (...changes: object[]) => request("POST", "/changes", { body: { changes } });
const add = (id: string, feature: string, more = {}) => ({
  ...{ type: "add", resource: "kind", id, feature },
  ...more,
});
const remove = (id: string, feature: string) => ({ type: "remove", resource: "kind", id, feature });
const instantIn = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();

describe("a query of many resources", () => {
  const query = (resources: object[], features: string[]) =>
    request("POST", "/query", { body: { resources, features } });

  test("answers in the order of the request, for each resource and feature", async () => {
    await change(add("1", "a"), add("2", "b"), add("2", "a", { expires_at: instantIn(60_000) }));
    const resources = ["1", "2", "never", "1"].map((id) => ({ resource: "kind", id }));
    resources.push({ resource: "other", id: "1" });
    const response = await query(resources, ["a", "b", "__proto__"]);
    expect(response).toMatchObject({ status: 200, type: json });
    expect(JSON.parse(response.text)).toEqual({
      results: [
        { resource: "kind", id: "1", has: [true, false, false] },
        { resource: "kind", id: "2", has: [true, true, false] },
        { resource: "kind", id: "never", has: [false, false, false] },
        { resource: "kind", id: "1", has: [true, false, false] },
        { resource: "other", id: "1", has: [false, false, false] },
      ],
    });
  });

  test("of 100 resources and 100 features, reads each resource once, and only those features", async () => {
    const reads: string[] = [];
    replace((store) => ({
      list: () => expect.unreachable("a list"),
      hasEach(resources, features) {
        for (const { resource, id } of resources) reads.push(`${resource}/${id} ${features.join()}`);
        return store.hasEach(resources, features);
      },
    }));
    const resources = names(100).map((name) => ({ resource: "kind", id: String(Number(name) % 3) }));
    await change(add("1", "b"));
    const features = [...names(99), "b"];
    const { results } = JSON.parse((await query(resources, features)).text);
    const expected = (id: string) => features.map((feature) => id === "1" && feature === "b");
    expect(results).toEqual(resources.map((one) => ({ ...one, has: expected(one.id) })));
    expect(reads).toEqual(["0", "1", "2"].map((id) => `kind/${id} ${features}`));
  });
});

describe("the changes of one request", () => {
  test("are made in order, each with a result", async () => {
    const response = await change(
      add("1", "a"),
      add("2", "a"),
      add("1", "a"),
      remove("1", "a"),
      remove("1", "a"),
      add("1", "b"),
      add("1", "a"),
    );
    expect(response).toMatchObject({ status: 200, type: json });
    const changed = JSON.parse(response.text).results.map((result: { changed: boolean }) => result.changed);
    expect(changed).toEqual([true, true, false, true, false, true, true]);
    expect((await request("GET", "/features/kind/1")).text).toBe('["b","a"]\n');
    expect((await request("GET", "/features/kind?feature=a")).text).toBe('{"ids":["1","2"]}\n');
  });

  test("are made in one call of the store for each resource", async () => {
    const calls: string[] = [];
    replace((store) => ({
      change: (resource, id, resourceChanges, onlyIf) => {
        calls.push([resource, id, ...resourceChanges.map(({ feature }) => feature)].join(" "));
        return store.change(resource, id, resourceChanges, onlyIf);
      },
    }));
    await change(
      add("11", "a"),
      add("1", "b"),
      { ...add("1", "c"), resource: "kind1" },
      add("11", "d"),
      { ...remove("1", "e"), resource: "other" },
      add("1", "a"),
    );
    expect(calls).toEqual(["kind 11 a d", "kind 1 b a", "kind1 1 c", "other 1 e"]);
  });

  test("are rejected for a resource that would have too many features, and made for others", async () => {
    const many = names(999).map((name) => add("1", name));
    expect((await change(...many)).status).toBe(200);
    const ofOther = { ...add("2", "a"), resource: "other" };
    const response = await change(ofOther, add("1", "x"), remove("1", "0"), add("1", "y"), add("1", "z"));
    expect((await request("GET", "/features/other/2")).text).toBe('["a"]\n');
    expect(response).toMatchObject({
      status: 400,
      type: plain,
      text: "body/changes/1: kind/1 would have more than 1,000 features, the maximum; none of its changes was made, those to other resources may have been\n",
    });
    expect(JSON.parse((await request("GET", "/features/kind/1")).text)).toHaveLength(999);
    expect((await change(add("1", "x"), remove("1", "0"), add("1", "y"))).status).toBe(200);
  });
});

describe("the change feed", () => {
  const page = async (query = "") => JSON.parse((await request("GET", `/changes${query}`)).text);

  test("is returned in pages, as JSON", async () => {
    const expires_at = instantIn(60_000);
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

  test("begins so many records before its end, as a page and as a stream, or at the oldest record", async () => {
    await change(...names(10).map((feature) => add("1", feature)));
    const all = (await page()).changes;
    const { next_cursor } = await page();
    expect(await page("?last=3")).toEqual({ changes: all.slice(-3), next_cursor });
    expect(await page("?last=3&limit=2")).toEqual({
      changes: all.slice(-3, -1),
      next_cursor: all.at(-2).cursor,
    });
    expect(await page("?last=1000")).toEqual({ changes: all, next_cursor });
    expect((await request("GET", "/changes?last=3&cursor=newest")).text).toBe(
      "query parameter last is not allowed with cursor\n",
    );
    for (const last of ["0", "1001", "x"])
      expect((await request("GET", `/changes?last=${last}`)).status).toBe(400);
    // Records are deleted between the reads of the cursor and of the page.
    replace((store) => ({
      async newest(before) {
        const cursor = await store.newest(before);
        if (before) await change(...names(60).map((feature) => add("2", feature)));
        return cursor;
      },
    }));
    expect((await page("?last=5")).changes.length).toBeGreaterThanOrEqual(50);
    replace(() => ({}));
    const stream = await listen(base(), "/changes?last=2");
    const expected = (await page("?last=2")).changes;
    await eventually(() => expect(stream.events().map(({ data }) => data)).toEqual(expected));
    await change(add("3", "live"));
    await eventually(() => expect(stream.events().at(-1)?.data).toMatchObject({ feature: "live" }));
    stream.stop();
    // A client that reconnects continues.
    const cursor = (await page("?cursor=newest")).next_cursor;
    const headers = { "last-event-id": cursor };
    const again = JSON.parse((await request("GET", "/changes?last=2", { headers })).text);
    expect(again).toEqual({ changes: [], next_cursor: cursor });
  });

  test("has a change that is made during the read of a page on the next page", async () => {
    replace((store) => ({
      async changes(...args) {
        const entries = await store.changes(...args);
        await store.change("kind", "1", [{ type: "add", feature: "meanwhile" }]);
        return entries;
      },
    }));
    const { changes, next_cursor } = await page();
    expect(changes).toEqual([]);
    expect((await page(`?cursor=${next_cursor}`)).changes).toMatchObject([{ feature: "meanwhile" }]);
  });

  test("is returned as lines of JSON", async () => {
    const headers = { accept: "application/x-ndjson" };
    expect(await request("GET", "/changes", { headers })).toMatchObject({ status: 200, text: "" });
    await change(add("1", "a\u2028b"), add("1", "c"));
    const response = await request("GET", "/changes", { headers });
    expect(response).toMatchObject({
      type: "application/x-ndjson; charset=utf-8",
      headers: { vary: "accept" },
    });
    const lines = response.text.match(/[^\n]+/g)?.map((line) => JSON.parse(line));
    expect(lines).toEqual((await page()).changes);
    expect(lines).toHaveLength(2);
  });

  test("has an expiry when it is due", async () => {
    stopClock();
    const expires_at = instantIn(1000);
    await change(add("1", "a", { expires_at }));
    expect((await page()).changes).toHaveLength(1);
    passTime(1000);
    // The first of these reads records it.
    const ofResource = JSON.parse((await request("GET", "/resources/kind/1/changes")).text);
    expect(ofResource.changes[1]).toMatchObject({ type: "expired", at: expires_at, id: "1", feature: "a" });
    expect((await page()).changes).toEqual(ofResource.changes);
  });

  test("a cursor of forgotten changes is 410, and so is a cursor of another store", async () => {
    const { next_cursor } = await page();
    for (let round = 0; round < 30; round++) await change(add("1", "a"), remove("1", "a"));
    const gone = "the cursor is unknown, or records after it have been deleted; ";
    const detail = `${gone}read the data again, then the feed from cursor=newest`;
    for (const invalid of [next_cursor, "unknown-1", "x"]) {
      const path = `/changes?cursor=${invalid}`;
      for (const accept of ["application/x-ndjson", "text/event-stream"]) {
        const response = await request("GET", path, { headers: { accept } });
        expect(response).toMatchObject({ status: 410, type: plain, text: `${detail}\n` });
        expect(response.headers).toMatchObject({ vary: "accept" });
      }
      const { status, type, headers, text } = await request("GET", path, {
        headers: { accept: "application/json" },
      });
      expect([status, type]).toEqual([410, "application/problem+json; charset=utf-8"]);
      expect(headers).toMatchObject({ vary: "accept" });
      expect(JSON.parse(text)).toMatchObject({ type: "/problems/cursor-gone", status, detail });
    }
    expect((await page()).changes).toHaveLength(50);
  });
});

describe("a stream of changes", () => {
  let own: FeatureStore;
  let feed: ReturnType<typeof watchFeed>;
  let follow: (cursor?: string) => ReturnType<typeof readStream>;
  beforeEach(async () => {
    own = await openFeatureStore("memory:");
    feed = watchFeed(own);
    const open = openChangeStreams(feed.store);
    follow = (cursor) => readStream((signal) => open("subject a", {}, cursor, signal));
  });
  const addOne = (id: string) => own.change("kind", id, [{ type: "add", feature: "a" }]);
  /** Waits until the records of a stream are those of these resources. */
  const hasIds = (stream: { text(): string }, ids: string[]) =>
    eventually(() => expect(eventsIn(stream.text()).map(({ data }) => data.id)).toEqual(ids));

  test("sends the existing records and then each new one, with its cursor", async () => {
    stopClock();
    await using service = await startFeatures({ store: feed.store });
    await addOne("1");
    const stream = await listen(service.base, "/changes");
    expect(stream.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    await hasIds(stream, ["1"]);
    await addOne("2");
    await addOne("3");
    await eventually(() => expect(stream.events()).toHaveLength(3));
    for (const { id, data } of stream.events()) expect(id).toBe(data.cursor);
    await own.change("kind", "4", [{ type: "add", feature: "a", expiresAt: Date.now() + 1000 }]);
    passTime(1000);
    await expect.poll(() => stream.events().at(-1)?.data).toMatchObject({ id: "4", type: "expired" });
    stream.stop();
    expect(await stream.ended).toBe("by the client");
  });

  test("continues after Last-Event-ID without missing a change", async () => {
    await using service = await startFeatures({ store: feed.store });
    const first = await listen(service.base, "/changes?cursor=newest");
    await addOne("1");
    await hasIds(first, ["1"]);
    first.stop();
    await addOne("2");
    await addOne("3");
    const again = await listen(service.base, "/changes?cursor=newest", {
      "last-event-id": first.events().at(-1)?.id,
    });
    await hasIds(again, ["2", "3"]);
    again.stop();
  });

  test("that is far behind gets its records in chunks and delays no other", async () => {
    await using large = await openFeatureStore("memory:");
    const start = await large.newest();
    const long = "💷".repeat(250);
    const ids = names(400).map((name) => long + name);
    for (const id of ids) await large.change(long, id, [{ type: "add", feature: long }]);
    const newest = await large.newest();
    const open = openChangeStreams({
      ...large,
      async changes(after, ...args) {
        // Each chunk takes so long that there is a look at the newest cursor after it.
        if (after !== newest) await sleep(10);
        return large.changes(after, ...args);
      },
    });
    let seen = 0;
    async function* behind(signal: AbortSignal) {
      for await (const chunk of open("subject a", {}, start, signal)) {
        expect(chunk.toString().length).toBeLessThan(70_000);
        seen += eventsIn(chunk.toString()).length;
        yield chunk;
      }
    }
    const late = readStream(behind);
    let seenByThen = 0;
    const current = readStream((signal) => open("subject a", {}, newest, signal));
    await eventually(() => expect(seen).toBeGreaterThan(0));
    await large.change("kind", "latest", [{ type: "add", feature: "a" }]);
    await vi.waitUntil(() => current.text().includes("latest"), { interval: 1, timeout: testWaitMaxMs });
    seenByThen = seen;
    await eventually(() => expect(late.text()).toContain("latest"));
    expect(seen).toBe(ids.length + 1);
    expect(seenByThen).toBeLessThan(ids.length);
  });

  test("is cut off by an unexpected error, which is logged", async () => {
    const lines: string[] = [];
    const log = openLog("error", { write: (line) => lines.push(line) });
    await using service = await startFeatures({ store: feed.store, log });
    const stream = await listen(service.base, "/changes?cursor=newest");
    feed.store.changes = async () => expect.unreachable("a bug");
    await addOne("1");
    expect(await stream.ended).not.toBe("by the service");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ msg: "a response was cut off", method: "GET", route: "/changes" }),
    ]);
  });

  test("ends when records after its cursor have been deleted", async () => {
    const stream = follow(await own.newest());
    feed.store.changes = async () => undefined;
    await addOne("1");
    await stream.ended;
    expect(stream.text()).toBe(":\n\n");
  });

  test("ends when the service stops", async () => {
    const stopping = await startFeatures();
    const stream = await listen(stopping.base, "/changes");
    await stopping[Symbol.asyncDispose]();
    // A stop would cut it off after a while if it did not end by itself.
    expect(await stream.ended).toBe("by the service");
  });

  test.each(["/changes", "/ofrep/v1/events?resource=customer&id=42"])(
    "has no body for HEAD %s",
    async (path) => {
      const type = "text/event-stream";
      const response = await request("HEAD", path, { headers: { accept: type } });
      expect(response).toMatchObject({ status: 200, type: `${type}; charset=utf-8`, text: "" });
    },
  );
});
