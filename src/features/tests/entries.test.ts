import { describe, expect, test } from "vitest";
import type { components } from "../../../generated/features.ts";
import { passTime, stopClock } from "../store/new-store.fixture.ts";
import { json, pagesAt, serviceForTests } from "./features.fixture.ts";

type Schemas = components["schemas"];
type Entry = Schemas["Entry"];

const { request, get, read } = serviceForTests();
const add = (entries: Entry[]) =>
  request("POST", "/changes", { body: { changes: entries.map((entry) => ({ type: "add", ...entry })) } });

/** Names of one character and of the maximum length, and names that a path or an object could treat differently. */
const names = ["a", "__proto__", "..", "%2F/", '"\\', "💷".repeat(256), '"'.repeat(256), "é".repeat(255)];
const expires_at = "2999-01-01T00:00:00.000Z";

/** The entries of a kind, read in pages. `afterPage` is called with the last entry of each. */
async function entriesOf(
  resource: string,
  limit: number,
  afterPage = async (_last: Entry) => {},
): Promise<Entry[]> {
  const pages = await pagesAt(
    async (path) => {
      const page: Schemas["EntryPage"] = await read(path);
      expect(page.entries.length).toBeLessThanOrEqual(limit);
      const last = page.entries.at(-1);
      if (last) await afterPage(last);
      return page;
    },
    `/features?resource=${encodeURIComponent(resource)}&limit=${limit}`,
  );
  return pages.flatMap(({ entries }) => entries);
}

const sorted = (entries: Entry[]) => entries.map((entry) => JSON.stringify(entry)).sort();

describe("the entries of a kind", () => {
  test("are those of its resources, each once, whatever the page size is", async () => {
    const entries = (resource: string) =>
      names.flatMap((id) =>
        names.map((feature, index) => ({ resource, id, feature, ...(index % 3 === 0 && { expires_at }) })),
      );
    for (const resource of ["kind", "..", names.at(-1) as string]) {
      await add(entries(resource));
      for (const limit of [2, 64, 65, 1000])
        expect(sorted(await entriesOf(resource, limit))).toEqual(sorted(entries(resource)));
    }
    const none = { status: 200, type: json, text: '{"entries":[]}\n' };
    for (const path of ["/features", "/features/"])
      expect(await get(`${path}?resource=unknown`)).toMatchObject(none);
  });

  test("are complete if others are removed while the pages are read", async () => {
    const many = Array.from({ length: 100 }, (_, index) => ({
      ...{ resource: "kind", id: String(index), feature: `f${index % 7}` },
    }));
    await add(many);
    // Also the entry at which the next page begins.
    const all = await entriesOf("kind", 10, async ({ id, feature }) => {
      await request("DELETE", `/features/kind/${id}/${feature}`);
    });
    expect(sorted(all)).toEqual(sorted(many));
  });
});

describe("the kinds and the features in use", () => {
  const kindsBy = async (limit: number) =>
    (await pagesAt(read, `/resources?limit=${limit}`)).flatMap(({ kinds }: Schemas["KindPage"]) => kinds);
  const usesBy = async (resource: string, limit: number) => {
    const path = `/resources/${encodeURIComponent(resource)}?limit=${limit}`;
    return (await pagesAt(read, path)).flatMap(({ features }: Schemas["FeatureUsePage"]) => features);
  };

  test("are listed in pages of any size, each once, with the number of resources that have a feature", async () => {
    for (const path of ["/resources", "/resources/"])
      expect(await get(path)).toMatchObject({ status: 200, type: json, text: '{"kinds":[]}\n' });
    expect(await get("/resources/unknown")).toMatchObject({ status: 200, text: '{"features":[]}\n' });
    // A client changes the path of another resource if a whole segment is two dots.
    const kinds = names.filter((name) => name !== "..");
    for (const [index, resource] of kinds.entries()) {
      const ids = names.slice(0, index + 1);
      await add(ids.flatMap((id) => names.map((feature) => ({ resource, id, feature }))));
    }
    for (const limit of [1, 3, 8, 1000]) {
      expect((await kindsBy(limit)).sort()).toEqual(kinds.toSorted());
      for (const [index, resource] of kinds.entries()) {
        const uses = await usesBy(resource, limit);
        expect(uses.map(({ feature }) => feature).sort()).toEqual(names.toSorted());
        expect(new Set(uses.map(({ count }) => count))).toEqual(new Set([index + 1]));
      }
    }
    const { etag } = (await get("/resources/a")).headers;
    const unchanged = await request("GET", "/resources/a", { headers: { "if-none-match": String(etag) } });
    expect(unchanged.status).toBe(304);
  });

  test("lack what was removed and what has expired; a page that is not the last one can be short", async () => {
    stopClock();
    await add(["a", "b", "c"].map((feature) => ({ resource: "kind", id: "1", feature })));
    const soon = new Date(Date.now() + 10).toISOString();
    await add([{ resource: "kind", id: "2", feature: "a", expires_at: soon }]);
    await add([{ resource: "kind", id: "2", feature: "bb", expires_at: soon }]);
    await add([{ resource: "kind", id: "2", feature: "c" }]);
    passTime(10);
    expect(await usesBy("kind", 3)).toEqual([
      { feature: "a", count: 1 },
      { feature: "b", count: 1 },
      { feature: "c", count: 2 },
    ]);
    const page = await read("/resources/kind?limit=3");
    expect([page.features.length, page.next_cursor]).toEqual([2, expect.any(String)]);
    for (const id of ["1", "2"]) await request("DELETE", `/features/kind/${id}`);
    expect(await usesBy("kind", 3)).toEqual([]);
    // A read of the feed removes what has expired.
    await get("/changes");
    expect(await kindsBy(3)).toEqual([]);
  });
});

describe("the number of resources of a feature", () => {
  test("is on each page if the request has count=true", async () => {
    const ids = ["0", "1", "2", "3", "4"];
    await add(ids.map((id) => ({ resource: "kind", id, feature: "a" })));
    await add([
      { resource: "kind", id: "0", feature: "b" },
      { resource: "other", id: "0", feature: "a" },
    ]);
    expect(await read("/features/kind?feature=a&count=true")).toEqual({ ids, count: 5 });
    const first = await read("/features/kind?feature=a&count=TRUE&limit=2");
    expect(first).toEqual({ ids: ["0", "1"], next_cursor: expect.any(String), count: 5 });
    const next = `/features/kind?feature=a&count=true&limit=2&cursor=${first.next_cursor}`;
    expect(await read(next)).toMatchObject({ ids: ["2", "3"], count: 5 });
    await request("DELETE", "/features/kind/3/a");
    await request("POST", "/features/kind/4/a");
    expect(await read(next)).toMatchObject({ ids: ["2", "4"], count: 4 });
    expect(await read("/features/kind?feature=never&count=true")).toEqual({ ids: [], count: 0 });
    for (const query of ["count=false", "count=", ""])
      expect(await read(`/features/kind?feature=a&${query}`)).not.toHaveProperty("count");
  });
});
