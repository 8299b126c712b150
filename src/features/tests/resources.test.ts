import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { components } from "../../../generated/features.ts";
import { eventually } from "../../../testing/eventually.ts";
import { add, names, remove } from "../store/new-store.fixture.ts";
import { openFeatureStore } from "../store/stores.ts";
import { json, pagesAt, plain, serviceForTests, startFeatures } from "./features.fixture.ts";

type ChangeRecord = components["schemas"]["ChangeRecord"];
type Page = components["schemas"]["ResourceChangePage"];

const { store, request, base, get, read, replace } = serviceForTests();

/** Adds change records of another resource. */
async function addRecords(count: number, id = "other"): Promise<void> {
  for (let added = 0; added < count; added += 1000) {
    const feature = `${added}`;
    const pairs = Array.from({ length: Math.min(1000, count - added) }, (_, index) =>
      index % 2 ? remove(feature) : add(feature),
    );
    await store.change("kind", id, pairs);
  }
}

/** All pages of the changes of a resource. */
const pagesOf = (path: string, query = ""): Promise<Page[]> => pagesAt(read, `${path}/changes?${query}`);
const changesOf = async (path: string, query?: string) =>
  (await pagesOf(path, query)).flatMap(({ changes }) => changes);

/** All records of the feed. */
async function feed(): Promise<ChangeRecord[]> {
  const records: ChangeRecord[] = [];
  for (let cursor = ""; ; cursor = `&cursor=${records.at(-1)?.cursor}`) {
    const { changes } = await read(`/changes?limit=1000${cursor}`);
    if (changes.length === 0) return records;
    records.push(...changes);
  }
}

describe("a resource", () => {
  test("has its features in the order of the list, with the times at which they expire", async () => {
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    expect(await get("/resources/kind/1")).toMatchObject({
      status: 200,
      type: json,
      text: '{"resource":"kind","id":"1","features":[]}\n',
    });
    for (const path of ["b", `a?expires_at=${expires_at}`, "c?expires_at=2999-01-01T01:00:00.5%2B0100", "b"])
      await request("POST", `/features/kind/1/${path}`);
    await request("POST", "/features/kind/2/a");
    expect(await read("/resources/kind/1")).toEqual({
      resource: "kind",
      id: "1",
      features: [
        { feature: "b" },
        { feature: "a", expires_at },
        { feature: "c", expires_at: "2999-01-01T00:00:00.500Z" },
      ],
    });
    await request("POST", "/features/kind/1/a");
    await request("POST", `/features/kind/1/b?expires_at=${expires_at}`);
    await request("DELETE", "/features/kind/1/c");
    const list = [{ feature: "b", expires_at }, { feature: "a" }];
    expect((await read("/resources/kind/1")).features).toEqual(list);
    const headers = { "if-match": "*" };
    await request("PUT", "/features/kind/1", { body: ["a", "b"], headers });
    expect((await read("/resources/kind/1")).features).toEqual([{ feature: "b" }, { feature: "a" }]);
  });
});

describe("the changes of a resource", () => {
  test("end at the limit, with the cursor of the last one", async () => {
    for (const feature of names(5)) {
      await store.change("kind", "1", [add(feature)]);
      await store.change("kind", "2", [add(feature)]);
    }
    const all = await changesOf("/resources/kind/1");
    expect(all).toHaveLength(5);
    // The cursor of any record of the feed is one of the changes of a resource.
    const records = await feed();
    expect(await read(`/resources/kind/1/changes?cursor=${records[3]?.cursor}`)).toEqual({
      changes: all.slice(2),
    });
    // The newest record is of another resource, so a page that ends at the limit can be followed by an empty one.
    const full = await read("/resources/kind/1/changes?limit=5");
    expect(full).toEqual({ changes: all, next_cursor: all[4]?.cursor });
    expect(await read(`/resources/kind/1/changes?limit=5&cursor=${full.next_cursor}`)).toEqual({
      changes: [],
    });
    // The newest record is of this resource.
    const ofTwo = await changesOf("/resources/kind/2");
    expect(await read("/resources/kind/2/changes?limit=5")).toEqual({ changes: ofTwo });
    const part = { changes: ofTwo.slice(0, 4), next_cursor: ofTwo[3]?.cursor };
    expect(await read("/resources/kind/2/changes?limit=4")).toEqual(part);
  });

  test("have 100 on a page by default, and up to 1,000", async () => {
    await addRecords(1001, "1");
    const lengthsOf = async (query: string) =>
      (await pagesOf("/resources/kind/1", query)).map(({ changes }) => changes.length);
    expect(await lengthsOf("")).toEqual([...Array(10).fill(100), 1]);
    expect(await lengthsOf("limit=1000")).toEqual([1000, 1]);
  });

  test("are found in a long feed, of which a page covers 10,000 records", async () => {
    await addRecords(10_000);
    await store.change("kind", "1", [add("a")]);
    await addRecords(12_000);
    await store.change("kind", "1", [remove("a")]);
    const pages = await pagesOf("/resources/kind/1");
    expect(pages.map(({ changes }) => changes.map(({ type }) => type))).toEqual([[], ["added"], ["removed"]]);
    expect(pages.map(({ next_cursor }) => next_cursor !== undefined)).toEqual([true, true, false]);
    const records = await feed();
    expect(pages[0]?.next_cursor).toBe(records[9_999]?.cursor);
    expect(pages[1]?.next_cursor).toBe(records[19_999]?.cursor);
    expect((await pagesOf("/resources/kind/never")).map(({ changes }) => changes)).toEqual([[], [], []]);
    // Exactly 10,000 records, the newest included.
    const cursor = records[records.length - 10_001]?.cursor;
    expect(await read(`/resources/kind/never/changes?cursor=${cursor}`)).toEqual({ changes: [] });
  });

  test("end, although records are added all the time", async () => {
    await addRecords(3000);
    replace((store) => ({
      async changes(...args) {
        const entries = await store.changes(...args);
        await addRecords(200);
        return entries;
      },
    }));
    expect(await read("/resources/kind/1/changes")).toEqual({ changes: [] });
  });

  test("after a cursor that is unknown or too old are 410; newest is unknown", async () => {
    const small = await openFeatureStore("memory:?changes=50");
    replace(() => small);
    const old = await small.newest();
    for (const name of names(60)) await small.change("kind", "1", [add(name)]);
    for (const cursor of [old, "unknown-1", "x", "newest"]) {
      const response = await get(`/resources/kind/1/changes?cursor=${cursor}`);
      expect(response).toMatchObject({ status: 410, type: plain });
      expect(response.text).toBe((await get("/changes?cursor=unknown-1")).text);
    }
    expect((await read("/resources/kind/1/changes")).changes).toHaveLength(50);
  });

  test("whose records are deleted during a search are 410 on the next page", async () => {
    await addRecords(6000);
    let reads = 0;
    replace((store) => ({
      // The first read ends early, as it does when records are deleted in between.
      changes: async (after, limit, until) =>
        reads++ === 0 ? store.changes(after, Math.min(limit, 7), until) : undefined,
    }));
    const { changes, next_cursor } = await read("/resources/kind/other/changes?limit=1000");
    expect(changes).toHaveLength(7);
    expect(next_cursor).toBe(changes[6].cursor);
    expect((await get(`/resources/kind/other/changes?cursor=${next_cursor}`)).status).toBe(410);
  });

  test("are those of the feed, whatever the changes and the pages are", async () => {
    const change = fc.record({
      resource: fc.constantFrom("kind", "kin", "__proto__"),
      id: fc.constantFrom("1", "11", "../1"),
      feature: fc.constantFrom("a", "b", "changes"),
      isAdded: fc.boolean(),
      fillers: fc.constantFrom(0, 0, 0, 1, 40, 999, 1000),
    });
    const property = fc.asyncProperty(
      fc.array(change, { maxLength: 15 }),
      fc.constantFrom(1, 2, 3, 1000),
      async (changes, limit) => {
        const own = await openFeatureStore("memory:");
        replace(() => own);
        for (const { resource, id, feature, isAdded, fillers } of changes) {
          await own.change(resource, id, [isAdded ? add(feature) : remove(feature)]);
          await addRecords(fillers);
        }
        const records = await feed();
        for (const resource of ["kind", "__proto__"]) {
          for (const id of ["1", "../1"]) {
            const path = `/resources/${resource}/${encodeURIComponent(id)}`;
            const pages = (await pagesOf(path, `limit=${limit}`)).map(({ changes }) => changes);
            expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(limit);
            expect(pages.flat()).toEqual(records.filter((one) => one.resource === resource && one.id === id));
          }
        }
      },
    );
    await fc.assert(property, { numRuns: 8 });
  });
});

describe("many requests for the changes of a resource", () => {
  test("run two of a caller at a time; beyond 100 that wait they get 503, and others are not delayed", async () => {
    await using service = await startFeatures({ store, trustedProxies: ["127.0.0.1"] });
    const path = "/resources/kind/1/changes";
    const getOf = (caller: string, path: string) =>
      service.request("GET", path, { headers: { "x-forwarded-for": caller } });
    let running = 0;
    let runningMost = 0;
    const release = Promise.withResolvers<void>();
    replace((store) => ({
      async changes(...args) {
        running += 1;
        runningMost = Math.max(runningMost, running);
        await release.promise;
        running -= 1;
        return store.changes(...args);
      },
    }));
    const rejected: unknown[] = [];
    const statuses = names(150).map(async () => {
      const response = await getOf("10.0.0.1", path);
      if (response.status !== 200) rejected.push(response);
      return response.status;
    });
    await eventually(() => expect(rejected).toHaveLength(48));
    expect(running).toBe(2);
    expect(rejected[0]).toMatchObject({
      status: 503,
      type: plain,
      headers: { "retry-after": "1" },
      text: "too many long requests are in flight; try again later\n",
    });
    expect((await getOf("10.0.0.1", "/resources/kind/1")).status).toBe(200);
    const other = getOf("10.0.0.2", path);
    await eventually(() => expect(running).toBe(3));
    release.resolve();
    expect((await other).status).toBe(200);
    expect((await Promise.all(statuses)).filter((status) => status === 200)).toHaveLength(102);
    expect(runningMost).toBe(3);
  });

  test("stop when their clients have disconnected", async () => {
    await addRecords(2000);
    const first = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const reads: string[] = [];
    replace((store) => ({
      async changes(after, ...args) {
        reads.push(after === undefined ? "first page" : "next page");
        first.resolve();
        await release.promise;
        return store.changes(after, ...args);
      },
    }));
    const stop = new AbortController();
    const stopped = fetch(`${base()}/resources/kind/1/changes`, { signal: stop.signal }).catch(() => {});
    await first.promise;
    stop.abort();
    await stopped;
    // The service has noticed the end of the first connection when it has answered on a later one.
    await get("/resources/kind/1");
    release.resolve();
    await get("/resources/kind/2/changes?limit=1");
    expect(reads).toEqual(["first page", "first page", "next page"]);
  });
});
