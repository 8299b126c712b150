import { beforeEach, describe, expect, test } from "vitest";
import type { components } from "../../generated/features.ts";
import { json, plain, startFeatures } from "./features.fixture.ts";

type Entry = components["schemas"]["Entry"];

let service: Awaited<ReturnType<typeof startFeatures>>;
beforeEach(async () => {
  service = await startFeatures();
  return () => service[Symbol.asyncDispose]();
});

const request = (...args: Parameters<typeof service.request>) => service.request(...args);
const get = (path: string) => request("GET", path);
const read = async (path: string) => JSON.parse((await get(path)).text);
const add = (entries: Entry[]) =>
  request("POST", "/changes", { body: { changes: entries.map((entry) => ({ type: "add", ...entry })) } });

/** Names of one character and of the maximum length, and names that a path or an object could treat differently. */
const names = ["a", "__proto__", "..", "%2F/", '"\\', "💷".repeat(256), '"'.repeat(256), "é".repeat(255)];
const expires_at = "2999-01-01T00:00:00.000Z";

/** The entries of a kind, read in pages. */
async function entriesOf(resource: string, limit: number): Promise<Entry[]> {
  const all: Entry[] = [];
  let cursor = "";
  do {
    const page = await read(`/features?resource=${encodeURIComponent(resource)}&limit=${limit}${cursor}`);
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    all.push(...page.entries);
    cursor = page.next_cursor === undefined ? "" : `&cursor=${page.next_cursor}`;
  } while (cursor);
  return all;
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
      for (const limit of [1, 3, 64, 65, 1000])
        expect(sorted(await entriesOf(resource, limit))).toEqual(sorted(entries(resource)));
    }
    expect(await get("/features?resource=unknown")).toMatchObject({
      status: 200,
      type: json,
      text: '{"entries":[]}\n',
    });
    expect(await get("/features/?resource=unknown")).toMatchObject({ status: 200 });
  });

  test("are complete if others are removed while the pages are read", async () => {
    const many = Array.from({ length: 100 }, (_, index) => ({
      resource: "kind",
      id: String(index),
      feature: `f${index % 7}`,
    }));
    await add(many);
    const all: Entry[] = [];
    let cursor = "";
    do {
      const page = await read(`/features?resource=kind&limit=10${cursor}`);
      all.push(...page.entries);
      // Also the entry at which the next page begins.
      const { id, feature } = page.entries.at(-1) ?? {};
      if (id !== undefined) await request("DELETE", `/features/kind/${id}/${feature}`);
      cursor = page.next_cursor === undefined ? "" : `&cursor=${page.next_cursor}`;
    } while (cursor);
    expect(sorted(all)).toEqual(sorted(many));
  });

  test("need a kind, and a cursor of the list", async () => {
    for (const [query, message] of [
      ["", "query parameter resource is required"],
      ["?resource=", "query parameter resource"],
      ["?resource=kind&limit=0", "query parameter limit"],
      ["?resource=kind&feature=a", "feature"],
      [
        "?resource=kind&cursor=NDI",
        "query parameter cursor must be the next_cursor of a page of this list\n",
      ],
      [
        "?resource=kind&cursor=WyJhIl0",
        "query parameter cursor must be the next_cursor of a page of this list\n",
      ],
      ["?resource=kind&cursor=$", "query parameter cursor"],
    ] as const) {
      expect(await get(`/features${query}`)).toMatchObject({
        status: 400,
        type: plain,
        text: expect.stringContaining(message),
      });
    }
  });
});

describe("the number of resources of a feature", () => {
  test("is on each page if the request has count=true", async () => {
    await add(
      Array.from({ length: 5 }, (_, index) => ({ resource: "kind", id: String(index), feature: "a" })),
    );
    await add([
      { resource: "kind", id: "0", feature: "b" },
      { resource: "other", id: "0", feature: "a" },
    ]);
    expect(await read("/features/kind?feature=a&count=true")).toEqual({
      ids: ["0", "1", "2", "3", "4"],
      count: 5,
    });
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
    expect(await get("/features/kind?feature=a&count=1")).toMatchObject({ status: 400, type: plain });
  });
});
