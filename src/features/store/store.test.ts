import { describe, expect, test } from "vitest";
import { openFeatureStore } from "./store.ts";

describe.each(["memory:"])("feature store %s", (url) => {
  test("lists each feature once, in the order of adding", async () => {
    await using store = await openFeatureStore(url);
    expect(await store.list("kind", "1")).toEqual([]);
    expect(await store.add("kind", "1", "b")).toBe(true);
    expect(await store.add("kind", "1", "a")).toBe(true);
    expect(await store.add("kind", "1", "b")).toBe(false);
    expect(await store.list("kind", "1")).toEqual(["b", "a"]);
  });

  test("has what was added to that very resource", async () => {
    await using store = await openFeatureStore(url);
    await store.add("kind", "1", "a");
    const asked = [
      ["kind", "1", "a", true],
      ["kind", "1", "A", false],
      ["kind", "2", "a", false],
      ["other", "1", "a", false],
    ] as const;
    for (const [resource, id, feature, result] of asked) {
      expect(await store.has(resource, id, feature)).toBe(result);
    }
  });

  test("parts that look alike when joined are different resources", async () => {
    await using store = await openFeatureStore(url);
    await store.add("a/b", "c", "x");
    expect(await store.list("a", "b/c")).toEqual([]);
    await store.add("__proto__", "constructor", "toString");
    expect(await store.list("__proto__", "constructor")).toEqual(["toString"]);
  });

  test("a list that was handed out is not changed by a later add", async () => {
    await using store = await openFeatureStore(url);
    await store.add("kind", "1", "a");
    const before = await store.list("kind", "1");
    await store.add("kind", "1", "b");
    expect(before).toEqual(["a"]);
  });

  test("of many adds at once exactly one is the first", async () => {
    await using store = await openFeatureStore(url);
    const added = await Promise.all(Array.from({ length: 50 }, () => store.add("kind", "1", "a")));
    expect(added.filter(Boolean)).toHaveLength(1);
    expect(await store.list("kind", "1")).toEqual(["a"]);
  });
});
