import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import type { components } from "../../generated/features.ts";
import { json, plain, startFeatures } from "./features.fixture.ts";
import { openFeatureStore } from "./store/store.ts";

type ChangeRecord = components["schemas"]["ChangeRecord"];

let service: Awaited<ReturnType<typeof startFeatures>>;
beforeEach(async () => {
  service = await startFeatures({ store: await openFeatureStore("memory:?keep=all") });
  return () => service[Symbol.asyncDispose]();
});

const request = (...args: Parameters<typeof service.request>) => service.request(...args);
const get = (path: string) => request("GET", path);
const read = async (path: string) => JSON.parse((await get(path)).text);

/** The present instant, which is over when this resolves. */
async function instant(): Promise<string> {
  const now = Date.now();
  while (Date.now() <= now) await sleep(1);
  return new Date(now).toISOString();
}

describe("with as_of", () => {
  test("a list, a check and the resources of a feature are those of the instant", async () => {
    const before = await instant();
    await request("POST", "/features/kind/1/dark-mode");
    await request("POST", "/features/kind/1/..%2F");
    await request("POST", "/features/kind/2/dark-mode");
    const between = await instant();
    await request("DELETE", "/features/kind/1/dark-mode");
    await request("POST", "/features/kind/1/new");
    await request("POST", "/features/kind/1/dark-mode");
    await request("DELETE", "/features/kind/2");
    const after = await instant();
    const cases: [at: string, list: string[], has: boolean, ids: string[]][] = [
      ["0001-01-01T00:00:00Z", [], false, []],
      [before, [], false, []],
      [between, ["dark-mode", "../"], true, ["1", "2"]],
      [between.replace("Z", "%2B00:00"), ["dark-mode", "../"], true, ["1", "2"]],
      [between.replace("Z", "9Z"), ["dark-mode", "../"], true, ["1", "2"]],
      [after, ["../", "new", "dark-mode"], true, ["1"]],
    ];
    for (const [at, list, result, ids] of cases) {
      expect(await get(`/features/kind/1?as_of=${at}`)).toMatchObject({ status: 200, type: json });
      expect(await read(`/features/kind/1?as_of=${at}`)).toEqual(list);
      expect(await read(`/features/kind/1/dark-mode?as_of=${at}`)).toEqual({ result });
      expect(await read(`/features/kind?feature=dark-mode&as_of=${at}`)).toEqual({ ids });
    }
    expect(await read("/features/kind/1?as_of=")).toEqual(["../", "new", "dark-mode"]);
    expect(await read("/features/kind/unknown?as_of=1999-12-31T23:59:59Z")).toEqual([]);
  });

  test("the ETag is that of the list", async () => {
    await request("POST", "/features/kind/1/a");
    const at = await instant();
    const { headers } = await get("/features/kind/1");
    await request("POST", "/features/kind/1/b");
    const ifNoneMatch = { headers: { "if-none-match": String(headers.etag) } };
    expect(await request("GET", `/features/kind/1?as_of=${at}`, ifNoneMatch)).toMatchObject({ status: 304 });
    expect(await request("GET", "/features/kind/1", ifNoneMatch)).toMatchObject({ status: 200 });
    expect(await request("HEAD", `/features/kind/1?as_of=${at}`)).toMatchObject({ status: 200, text: "" });
  });

  test("the resources of a feature are in pages, which may be empty", async () => {
    const changes = Array.from({ length: 30 }, (_, index) => ({
      type: "add",
      resource: "kind",
      id: String(index),
      feature: "a",
    }));
    await request("POST", "/changes", { body: { changes } });
    const at = await instant();
    const removals = changes.filter(({ id }) => id !== "9").map((change) => ({ ...change, type: "remove" }));
    await request("POST", "/changes", { body: { changes: removals } });
    async function pages(instantOfPages: string) {
      const all: string[][] = [];
      let cursor = "";
      do {
        const page = await read(`/features/kind?feature=a&limit=4&as_of=${instantOfPages}${cursor}`);
        all.push(page.ids);
        cursor = page.next_cursor === undefined ? "" : `&cursor=${page.next_cursor}`;
      } while (cursor);
      return all;
    }
    const ids = changes.map(({ id }) => id).toSorted();
    expect((await pages(at)).flat()).toEqual(ids);
    const now = await pages(await instant());
    expect(now.flat()).toEqual(["9"]);
    expect(now.length).toBeGreaterThan(7);
  });

  test("an instant in the future and a text that is no instant get 400", async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    for (const path of ["/features/kind/1", "/features/kind/1/a", "/features/kind?feature=a&limit=2"]) {
      const by = path.includes("?") ? "&" : "?";
      expect(await get(`${path}${by}as_of=${tomorrow}`)).toMatchObject({
        status: 400,
        type: plain,
        text: "query parameter as_of must not be in the future\n",
      });
      for (const at of ["yesterday", "2026-02-30T00:00:00Z", "2026-01-01", "1767225600", "null"]) {
        const { status, text } = await get(`${path}${by}as_of=${at}`);
        expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining("as_of") });
      }
    }
    expect(await get(`/features/kind?feature=a&count=true&as_of=${await instant()}`)).toMatchObject({
      status: 400,
      text: "query parameter count is not allowed with as_of\n",
    });
    for (const [method, path] of [
      ["POST", "/features/kind/1/a"],
      ["GET", "/resources/kind/1"],
    ] as const) {
      expect(await request(method, `${path}?as_of=${await instant()}`)).toMatchObject({ status: 400 });
    }
  });

  test("a service that keeps no history says so", async () => {
    await using other = await startFeatures();
    for (const path of ["/features/kind/1?", "/features/kind/1/a?", "/features/kind?feature=a&"]) {
      expect(await other.request("GET", `${path}as_of=2026-01-01T00:00:00Z`)).toMatchObject({
        status: 400,
        type: plain,
        text:
          "query parameter as_of is not possible: this service does not keep its history " +
          "(the URL of its store needs keep=all)\n",
      });
    }
  });
});

test("the changes of a resource are all that it ever had, with expiries at their instant", async () => {
  const expires_at = new Date(Date.now() + 300).toISOString();
  await request("POST", `/features/kind/1/short?expires_at=${expires_at}`);
  for (let index = 0; index < 60; index++) {
    await request("POST", `/features/kind/1/f${index % 3}`);
    await request("POST", `/features/kind/other/f${index}`);
    await request("DELETE", `/features/kind/1/f${index % 3}`);
  }
  while (Date.now() <= Date.parse(expires_at)) await sleep(10);
  // A read of the feed records what has expired.
  await get("/changes?cursor=newest");
  const all: ChangeRecord[] = [];
  let cursor = "";
  do {
    const page = await read(`/resources/kind/1/changes?limit=50${cursor}`);
    expect(page.changes.length).toBeLessThanOrEqual(50);
    all.push(...page.changes);
    cursor = page.next_cursor === undefined ? "" : `&cursor=${page.next_cursor}`;
  } while (cursor);
  expect(all).toHaveLength(122);
  expect(all[0]).toMatchObject({ type: "added", feature: "short", expires_at });
  expect(all.find(({ type }) => type === "expired")).toMatchObject({ feature: "short", at: expires_at });
  expect(all.every(({ id }) => id === "1")).toBe(true);
  expect(await get("/resources/kind/1/changes?cursor=other-1")).toMatchObject({ status: 410, type: plain });
  expect(await get("/resources/kind/1/changes?cursor=newest")).toMatchObject({ status: 410 });
});
