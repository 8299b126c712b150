import { describe, expect, test } from "vitest";
import type { components } from "../../../generated/features.ts";
import { json, pagesAt, serviceForTests } from "./features.fixture.ts";

type Entry = components["schemas"]["Entry"];

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
      const page: components["schemas"]["EntryPage"] = await read(path);
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
