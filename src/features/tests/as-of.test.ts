import { beforeEach, describe, expect, test } from "vitest";
import type { components } from "../../../generated/features.ts";
import { names, passTime, stopClock } from "../store/new-store.fixture.ts";
import { json, pagesAt, plain, serviceForTests, startFeatures } from "./features.fixture.ts";

type Pages = components["schemas"];

const { request, get, read } = serviceForTests("memory:?keep=all");
beforeEach(() => stopClock());

/** The present instant, which is over when this returns. */
function instant(): string {
  const now = Date.now();
  passTime(1);
  return new Date(now).toISOString();
}

describe("with as_of", () => {
  test("a list, a check and the resources of a feature are those of the instant", async () => {
    const before = instant();
    await request("POST", "/features/kind/1/dark-mode");
    await request("POST", "/features/kind/1/..%2F");
    await request("POST", "/features/kind/2/dark-mode");
    const between = instant();
    await request("DELETE", "/features/kind/1/dark-mode");
    await request("POST", "/features/kind/1/new");
    await request("POST", "/features/kind/1/dark-mode");
    await request("DELETE", "/features/kind/2");
    const after = instant();
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
    const at = instant();
    const { headers } = await get("/features/kind/1");
    await request("POST", "/features/kind/1/b");
    const ifNoneMatch = { headers: { "if-none-match": String(headers.etag) } };
    expect(await request("GET", `/features/kind/1?as_of=${at}`, ifNoneMatch)).toMatchObject({ status: 304 });
    expect(await request("GET", "/features/kind/1", ifNoneMatch)).toMatchObject({ status: 200 });
    expect(await request("HEAD", `/features/kind/1?as_of=${at}`)).toMatchObject({ status: 200, text: "" });
  });

  test("the resources of a feature are in pages, which may be empty", async () => {
    const changes = names(30).map((id) => ({ type: "add", resource: "kind", id, feature: "a" }));
    await request("POST", "/changes", { body: { changes } });
    const at = instant();
    const removals = changes.filter(({ id }) => id !== "9").map((change) => ({ ...change, type: "remove" }));
    await request("POST", "/changes", { body: { changes: removals } });
    const idsAt = async (at: string) => {
      const pages: Pages["ResourcePage"][] = await pagesAt(
        read,
        `/features/kind?feature=a&limit=4&as_of=${at}`,
      );
      return pages.map(({ ids }) => ids);
    };
    expect((await idsAt(at)).flat()).toEqual(changes.map(({ id }) => id).toSorted());
    const now = await idsAt(instant());
    expect(now.flat()).toEqual(["9"]);
    expect(now.length).toBeGreaterThan(7);
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
  const expires_at = new Date(Date.now() + 1000).toISOString();
  await request("POST", `/features/kind/1/short?expires_at=${expires_at}`);
  await request("POST", "/features/kind/other/a");
  for (const method of ["POST", "DELETE", "POST"] as const) await request(method, "/features/kind/1/a");
  passTime(2000);
  // A read of the feed records what has expired.
  await get("/changes?cursor=newest");
  const pages: Pages["ResourceChangePage"][] = await pagesAt(read, "/resources/kind/1/changes?limit=2");
  const texts = pages.map(({ changes }) => changes.map(({ type, feature }) => `${type} ${feature}`).join());
  expect(texts).toEqual(["added short,added a", "removed a,added a", "expired short"]);
  expect([pages[0]?.changes[0]?.expires_at, pages[2]?.changes[0]?.at]).toEqual([expires_at, expires_at]);
  const gone = { status: 410, type: plain };
  for (const cursor of ["other-1", "newest"])
    expect(await get(`/resources/kind/1/changes?cursor=${cursor}`)).toMatchObject(gone);
});
