import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { testFixtures } from "../../../testing/describe-adapters.ts";
import { eventually } from "../../../testing/eventually.ts";
import {
  allEntriesOf,
  allIdsWith,
  describeOnSharedStores,
  describeOnStores,
  featuresOf,
  openNewStore,
  openUnlimited,
  storeFixtures,
} from "./new-store.fixture.ts";
import {
  type Entry,
  type FeatureChange,
  type FeatureStore,
  featureStores,
  featuresMax,
  openFeatureStore,
} from "./store.ts";

const add = (feature: string, expiresAt?: number): FeatureChange => ({ type: "add", feature, expiresAt });
const remove = (feature: string): FeatureChange => ({ type: "remove", feature });

/** An instant soon after the store has answered a few more calls, also on a slow machine. */
async function soonFor(store: FeatureStore): Promise<number> {
  const startedAt = Date.now();
  for (let call = 0; call < 30; call++) await store.list("kind", "1");
  return Date.now() + 300 + 5 * (Date.now() - startedAt);
}

/** All records after a cursor, as text. */
async function recordsAfter(store: FeatureStore, after?: string) {
  const feed = (await store.changes(after, 1000)) ?? [];
  return feed.map(({ record: { type, resource, id, feature } }) => `${type} ${resource}/${id}/${feature}`);
}

const asText = ({ resource, id, feature }: Entry) => `${resource}/${id}/${feature}`;
const allEntries = async (store: FeatureStore) => (await Array.fromAsync(store.entries())).map(asText);

const names = (count: number) => Array.from({ length: count }, (_, index) => String(index));
const addition = (feature: string) => add(feature);

/** Names of the maximum length that differ only at the end. */
const longNames = ["a", "b", "c"].map((end) => "💷".repeat(255) + end);

describeOnStores("a feature store", (make) => {
  test("lists each feature once, in the order of adding", async () => {
    await using store = await openNewStore(make);
    expect(await featuresOf(store, "kind", "1")).toEqual([]);
    expect(await store.change("kind", "1", [add("b")])).toEqual({ had: [false] });
    expect(await store.change("kind", "1", [add("a")])).toEqual({ had: [false] });
    expect(await store.change("kind", "1", [add("b")])).toEqual({ had: [true] });
    expect(await featuresOf(store, "kind", "1")).toEqual(["b", "a"]);
    const many = Array.from({ length: 300 }, (_, index) => `f${(index * 7) % 300}`);
    for (const feature of many) await store.change("kind", "2", [add(feature)]);
    expect(await featuresOf(store, "kind", "2")).toEqual(many);
  });

  test("lists each feature with its expiry time, the one of the latest change", async () => {
    await using store = await openNewStore(make);
    const [soon, later] = [Date.now() + 60_000, Date.now() + 120_000];
    const many = names(700).map((name, index) => add(name, index % 2 ? soon + index : undefined));
    for (const changes of [[add("b", soon), add("a"), add("c", soon)], [add("a", later), add("b")], many]) {
      await store.change("kind", "1", changes);
    }
    await store.change("kind", "2", [add("b", later)]);
    const one = { resource: "kind", id: "1" };
    expect(await store.list("kind", "1")).toStrictEqual([
      { ...one, feature: "b" },
      { ...one, feature: "a", expiresAt: later },
      { ...one, feature: "c", expiresAt: soon },
      ...many.map(({ type: _, ...change }) => ({
        ...one,
        feature: change.feature,
        ...("expiresAt" in change && change.expiresAt !== undefined && { expiresAt: change.expiresAt }),
      })),
    ]);
    expect(await store.list("kind", "3")).toEqual([]);
  });

  test("a returned entry is not changed by its reader", async () => {
    await using store = await openNewStore(make);
    await store.change("kind", "1", [add("a")]);
    for (const entry of await store.list("kind", "1")) entry.feature = "changed";
    expect(await featuresOf(store, "kind", "1")).toEqual(["a"]);
  });

  test("has a feature only under the names with which it was added", async () => {
    await using store = await openNewStore(make);
    await store.change("kind", "1", [add("a")]);
    const cases = [
      ["kind", "1", "a", true],
      ["kind", "1", "A", false],
      ["kind", "2", "a", false],
      ["other", "1", "a", false],
    ] as const;
    for (const [resource, id, feature, result] of cases) {
      expect(await store.has(resource, id, [feature])).toEqual([result]);
    }
  });

  test("counts the resources of a feature exactly, also before an expiry is recorded", async () => {
    await using store = await openNewStore(make);
    const ids = names(20);
    for (const id of ids) await store.change("kind", id, [add("a"), add("b")]);
    await store.change("other", "1", [add("a")]);
    expect(await store.count("kind", "a")).toBe(20);
    expect(await store.count("other", "a")).toBe(1);
    expect(await store.count("kind", "c")).toBe(0);
    const expiresAt = await soonFor(store);
    const expiring = ids.slice(0, 10);
    for (const id of expiring) await store.change("kind", id, [add("a", expiresAt), remove("b")]);
    expect(await store.count("kind", "a")).toBe(20);
    expect(await store.count("kind", "b")).toBe(10);
    while (Date.now() <= expiresAt) await sleep(5);
    expect(await store.count("kind", "a")).toBe(10);
    await store.expire();
    expect(await store.count("kind", "a")).toBe(10);
    for (const id of expiring) await store.change("kind", id, [add("a")]);
    expect(await store.count("kind", "a")).toBe(20);
    while (await store.expire());
    expect(await store.count("kind", "a")).toBe(20);
    expect(await store.featuresInUse("kind", 10)).toEqual(["a", "b"]);
    for (const id of ids) await store.change("kind", id, [remove("b")]);
    expect(await store.featuresInUse("kind", 10)).toEqual(["a"]);
    expect(await store.featuresInUse("unknown", 10)).toEqual([]);
  });

  test("lists the entries of a kind in pages, without those that have expired", async () => {
    await using store = await openNewStore(make);
    const expiresAt = await soonFor(store);
    const later = Date.now() + 3_600_000;
    const expected: string[] = [];
    for (const id of names(25)) {
      await store.change("kind", id, [add("a", later), add("b"), add("gone", expiresAt)]);
      expected.push(`a ${id} ${later}`, `b ${id} undefined`);
    }
    await store.change("kin", "1", [add("a")]);
    while (Date.now() <= expiresAt) await sleep(5);
    for (const limit of [1, 7, 50, 51, 1000]) {
      const found = await allEntriesOf(store, "kind", limit);
      const texts = found.map((entry) => `${entry.feature} ${entry.id} ${entry.expiresAt}`);
      expect(texts.sort()).toEqual(expected.toSorted());
      expect(found.every(({ resource }) => resource === "kind")).toBe(true);
    }
    expect(await store.entriesOf("unknown", undefined, 10)).toEqual([]);
    // A page can begin after an entry that has been removed.
    expect((await store.entriesOf("kind", { feature: "a", id: "24x" }, 1)).length).toBe(1);
  });

  test("resources whose names are equal when joined are different", async () => {
    await using store = await openNewStore(make);
    await store.change("a/b", "c", [add("x")]);
    expect(await featuresOf(store, "a", "b/c")).toEqual([]);
    await store.change("__proto__", "constructor", [add("toString")]);
    expect(await featuresOf(store, "__proto__", "constructor")).toEqual(["toString"]);
    await store.change("{1}", "}{2", [add("%2F{3}")]);
    expect(await allEntries(store)).toHaveLength(3);
    expect(await allIdsWith(store, "{1}", "%2F{3}", 10)).toEqual(["}{2"]);
  });

  test("accepts names of the maximum length", async () => {
    await using store = await openNewStore(make);
    for (const resource of longNames) {
      for (const id of longNames) {
        for (const feature of longNames) await store.change(resource, id, [add(feature)]);
        expect(await featuresOf(store, resource, id)).toEqual(longNames);
      }
      for (const feature of longNames) {
        expect((await allIdsWith(store, resource, feature, 2)).sort()).toEqual(longNames);
      }
    }
    const [resource = "", id = "", feature = ""] = longNames;
    expect(await allEntries(store)).toHaveLength(27);
    expect(await store.change(resource, id, [remove(feature)])).toEqual({ had: [true] });
    expect(await store.has(resource, id, [feature])).toEqual([false]);
    expect(await allEntries(store)).toHaveLength(26);
    expect(await recordsAfter(store)).toContain(`removed ${resource}/${id}/${feature}`);
  });

  test("keeps features with short names of a resource with a long id", async () => {
    await using store = await openNewStore(make);
    const id = "中".repeat(161);
    await store.change("customer", id, [add("dark-mode"), add("a")]);
    expect(await featuresOf(store, "customer", id)).toEqual(["dark-mode", "a"]);
    expect(await allEntries(store)).toEqual([`customer/${id}/dark-mode`, `customer/${id}/a`]);
    expect(await store.change("customer", id, [remove("dark-mode")], ["dark-mode", "a"])).toEqual({
      had: [true],
    });
    expect(await featuresOf(store, "customer", id)).toEqual(["a"]);
  });

  test("a long name and its hash are different names", async () => {
    await using store = await openNewStore(make);
    const [long = ""] = longNames;
    const hashes = (["base64url", "hex"] as const).map((encoding) => hash("sha256", long, encoding));
    await store.change("kind", "1", [add(long)]);
    expect(
      await store.change(
        "kind",
        "1",
        hashes.map((name) => add(name)),
      ),
    ).toEqual({ had: [false, false] });
    expect(await featuresOf(store, "kind", "1")).toEqual([long, ...hashes]);
  });

  test("a returned list is not changed by a later add", async () => {
    await using store = await openNewStore(make);
    await store.change("kind", "1", [add("a")]);
    const before = await featuresOf(store, "kind", "1");
    await store.change("kind", "1", [add("b")]);
    expect(before).toEqual(["a"]);
  });

  test("exactly one of many concurrent adds is the first", async () => {
    await using store = await openNewStore(make);
    const had = await Promise.all(Array.from({ length: 50 }, () => store.change("kind", "1", [add("a")])));
    expect(had.filter((one) => !("rejected" in one || one.had[0]))).toHaveLength(1);
    expect(await featuresOf(store, "kind", "1")).toEqual(["a"]);
    expect(await recordsAfter(store)).toEqual(["added kind/1/a"]);
  });

  test("a removed feature is absent, and goes to the end when it is added again", async () => {
    await using store = await openNewStore(make);
    await store.change("kind", "1", [add("a"), add("b")]);
    expect(await store.change("kind", "1", [remove("a")])).toEqual({ had: [true] });
    expect(await store.change("kind", "1", [remove("a"), remove("never")])).toEqual({ had: [false, false] });
    expect(await store.has("kind", "1", ["a"])).toEqual([false]);
    expect(await featuresOf(store, "kind", "1")).toEqual(["b"]);
    expect(await store.idsWith("kind", "a", undefined, 10)).toEqual([]);
    await store.change("kind", "1", [add("a")]);
    expect(await featuresOf(store, "kind", "1")).toEqual(["b", "a"]);
  });

  test("changes are made in their order, in one transaction", async () => {
    await using store = await openNewStore(make);
    const changes = [add("a"), add("b"), remove("a"), add("a"), add("b"), remove("c")];
    expect(await store.change("kind", "1", changes)).toEqual({
      had: [false, false, true, false, true, false],
    });
    expect(await featuresOf(store, "kind", "1")).toEqual(["b", "a"]);
    expect(await store.change("kind", "1", [])).toEqual({ had: [] });
    // A concurrent read sees both features or neither.
    const seen = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        if (index % 3 === 0) await store.change("kind", "2", [add("x"), add("y")]);
        if (index % 3 === 1) await store.change("kind", "2", [remove("x"), remove("y")]);
        return (await featuresOf(store, "kind", "2")).length;
      }),
    );
    expect(seen.filter((length) => length !== 0 && length !== 2)).toEqual([]);
  });

  test("changes nothing if the list is not the expected one", async () => {
    await using store = await openNewStore(make);
    expect(await store.change("kind", "1", [add("a"), add("b")], [])).toEqual({ had: [false, false] });
    for (const other of [[], ["a"], ["b", "a"], ["a", "b", "c"], ["a", "B"]]) {
      expect(await store.change("kind", "1", [add("c")], other)).toEqual({ rejected: "list differs" });
    }
    expect(await featuresOf(store, "kind", "1")).toEqual(["a", "b"]);
    const tries = Array.from({ length: 20 }, (_, index) =>
      store.change("kind", "1", [remove("a"), add(`winner ${index}`)], ["a", "b"]),
    );
    expect((await Promise.all(tries)).filter((outcome) => "had" in outcome)).toEqual([
      { had: [true, false] },
    ]);
    expect(await featuresOf(store, "kind", "1")).toHaveLength(2);
  });

  test("returns the ids that have a feature in pages, each once", async () => {
    await using store = await openNewStore(make);
    const ids = Array.from({ length: 57 }, (_, index) => `${(index * 31) % 57}`);
    await Promise.all(ids.map((id) => store.change("kind", id, [add("a"), add("b")])));
    await store.change("other", "1", [add("a")]);
    await store.change("kind", "beyond", [add("b")]);
    await store.change("kind", "7", [remove("a")]);
    for (const limit of [1, 7, 56, 57, 1000]) {
      const found = await allIdsWith(store, "kind", "a", limit);
      expect(new Set(found).size).toBe(found.length);
      expect(found.sort()).toEqual(ids.filter((id) => id !== "7").sort());
    }
    expect(await store.idsWith("kind", "c", undefined, 10)).toEqual([]);
    expect(await store.idsWith("kin", "a", undefined, 10)).toEqual([]);
  });

  test("paging through ids misses none that has the feature throughout", async () => {
    await using store = await openNewStore(make);
    const ids = Array.from({ length: 40 }, (_, index) => `id ${index}`);
    for (const id of ids) await store.change("kind", id, [add("a")]);
    const seen: string[] = [];
    for (let after: string | undefined, page = 0; ; page++) {
      const found = await store.idsWith("kind", "a", after, 5);
      seen.push(...found);
      after = found.at(-1);
      if (found.length < 5) break;
      // The last id of the page loses the feature, and a new id gets it.
      await store.change("kind", after as string, [remove("a")]);
      await store.change("kind", `new ${page}`, [add("a")]);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(ids));
  });

  test("returns the records after any cursor, in order", async () => {
    await using store = await openNewStore(make);
    const start = await store.newest();
    expect(await store.changes(undefined, 10)).toEqual([]);
    const before = Date.now();
    await store.change("kind", "1", [add("a"), add("b"), add("a")]);
    await store.change("kind", "1", [remove("a"), remove("never")]);
    await store.change("kind", "1", [add("a")]);
    const all = ["added kind/1/a", "added kind/1/b", "removed kind/1/a", "added kind/1/a"];
    const changes = (await store.changes(undefined, 10)) ?? [];
    expect(await recordsAfter(store)).toEqual(all);
    expect(await recordsAfter(store, start)).toEqual(all);
    for (const [index, { cursor }] of changes.entries()) {
      expect(await recordsAfter(store, cursor)).toEqual(all.slice(index + 1));
    }
    expect(await recordsAfter(store, await store.newest())).toEqual([]);
    const [first] = (await store.changes(start, 1)) ?? [];
    expect(first?.record).toEqual({
      type: "added",
      resource: "kind",
      id: "1",
      feature: "a",
      at: expect.any(Number),
    });
    expect(first?.record.at).toBeGreaterThanOrEqual(before);
    expect(first?.record.at).toBeLessThanOrEqual(Date.now());
  });

  test("the feed has all changes of many resources, those of each in order", async () => {
    await using store = await openNewStore(make);
    const ids = Array.from({ length: 25 }, (_, index) => String(index));
    for (const type of ["add", "remove", "add"] as const) {
      await Promise.all(ids.map((id) => store.change("kind", id, [{ type, feature: "a" }])));
    }
    const seen: string[] = [];
    let after: string | undefined;
    for (;;) {
      const page = (await store.changes(after, 7)) ?? [];
      seen.push(...page.map(({ record }) => `${record.id} ${record.type}`));
      if (page.length === 0) break;
      expect(page.length).toBeLessThanOrEqual(7);
      after = page.at(-1)?.cursor;
    }
    expect(seen).toHaveLength(75);
    for (const id of ids) {
      expect(seen.filter((one) => one.startsWith(`${id} `))).toEqual(
        ["added", "removed", "added"].map((type) => `${id} ${type}`),
      );
    }
    expect(after).toBe(await store.newest());
  });

  test("keeps the newest records, and returns undefined for a cursor before a deleted one", async () => {
    await using store = await openNewStore(make, "?changes=20");
    const start = await store.newest();
    await store.change("kind", "1", [add("a")]);
    const [{ cursor = "" } = {}] = (await store.changes(start, 1)) ?? [];
    const many = Array.from({ length: 19 }, (_, index) => add(String(index)));
    await store.change("kind", "1", many);
    expect(await recordsAfter(store, start)).toHaveLength(20);
    expect(await recordsAfter(store, cursor)).toHaveLength(19);
    for (let round = 0; round < 10; round++) {
      await store.change(
        "kind",
        "1",
        many.map(({ feature }) => remove(feature)),
      );
      await store.change("kind", "1", many);
    }
    expect(await store.changes(start, 10)).toBe(undefined);
    expect(await store.changes(cursor, 10)).toBe(undefined);
    expect((await store.changes(undefined, 1000))?.length).toBeGreaterThanOrEqual(20);
    expect((await store.changes(undefined, 1000))?.length).toBeLessThan(400);
    expect(await recordsAfter(store, await store.newest())).toEqual([]);
  });

  test.each(["", "x", "0", "-1", "abcdefgh-1", "1.2.3", "💷"])(
    "returns undefined for the unknown cursor '%s'",
    async (cursor) => {
      await using store = await openNewStore(make);
      await store.change("kind", "1", [add("a")]);
      expect(await store.changes(cursor, 10)).toBe(undefined);
    },
  );

  test("returns undefined for an altered cursor and for a cursor of another store", async () => {
    await using store = await openNewStore(make);
    await using another = await openNewStore(make);
    for (const one of [another, store]) await one.change("kind", "1", [add("a"), add("b")]);
    expect(await store.changes(await store.newest(), 10)).toEqual([]);
    expect(await store.changes(`${await store.newest()}0`, 10)).toBe(undefined);
    expect(await store.changes((await store.newest()).replace(/\w+$/, "0$&"), 10)).toBe(undefined);
    expect(await store.changes(await another.newest(), 10)).toBe(undefined);
  });

  test("an expired feature is in no answer, and the feed has its removal", async () => {
    await using store = await openNewStore(make);
    const expiresAt = await soonFor(store);
    await store.change("kind", "1", [add("lasting"), add("passing", expiresAt), add("also", expiresAt)]);
    await store.change("kind", "2", [add("passing", expiresAt)]);
    expect(await featuresOf(store, "kind", "1")).toEqual(["lasting", "passing", "also"]);
    expect(await store.has("kind", "1", ["passing"])).toEqual([true]);
    expect((await store.idsWith("kind", "passing", undefined, 10)).sort()).toEqual(["1", "2"]);
    expect((await Array.fromAsync(store.entries())).map(({ expiresAt }) => expiresAt)).toContain(expiresAt);
    const cursor = await store.newest();
    await sleep(expiresAt - Date.now() + 1);
    expect(await featuresOf(store, "kind", "1")).toEqual(["lasting"]);
    expect(await store.has("kind", "1", ["passing"])).toEqual([false]);
    expect(await store.idsWith("kind", "passing", undefined, 10)).toEqual([]);
    expect(await allEntries(store)).toEqual(["kind/1/lasting"]);
    expect(await store.change("kind", "1", [remove("passing")], ["lasting"])).toEqual({ had: [false] });
    expect(await store.change("kind", "2", [add("passing")])).toEqual({ had: [false] });
    const changes = (await store.changes(cursor, 10)) ?? [];
    expect(changes.filter(({ record }) => record.type === "expired").map(({ record }) => record.at)).toEqual([
      expiresAt,
      expiresAt,
      expiresAt,
    ]);
    expect((await recordsAfter(store, cursor)).filter((one) => one.includes("kind/2"))).toEqual([
      "expired kind/2/passing",
      "added kind/2/passing",
    ]);
    expect(await recordsAfter(store, await store.newest())).toEqual([]);
    await store.change("kind", "1", [add("also")]);
    expect(await featuresOf(store, "kind", "1")).toEqual(["lasting", "also"]);
  });

  test("a page of ids is full although other ids have expired", async () => {
    await using store = await openNewStore(make);
    const expiresAt = await soonFor(store);
    const ids = Array.from({ length: 200 }, (_, index) => String(index));
    await Promise.all(
      ids.map((id) => store.change("kind", id, [add("a", Number(id) % 50 ? expiresAt : undefined)])),
    );
    await sleep(expiresAt - Date.now() + 1);
    expect(await store.idsWith("kind", "a", undefined, 3)).toHaveLength(3);
    expect((await allIdsWith(store, "kind", "a", 3)).sort()).toEqual(["0", "100", "150", "50"]);
  });

  test("the last add decides the expiry time, and the feature keeps its position", async () => {
    await using store = await openNewStore(make);
    const [soon, later] = [await soonFor(store), Date.now() + 600_000];
    await store.change("kind", "1", [add("a", soon), add("b", later), add("c", soon), add("d")]);
    const cursor = await store.newest();
    expect(await store.change("kind", "1", [add("a"), add("b", soon), add("c", soon), add("d")])).toEqual({
      had: [true, true, true, true],
    });
    expect(
      (await store.changes(cursor, 10))?.map(({ record }) => [record.type, record.feature, record.expiresAt]),
    ).toEqual([
      ["added", "a", undefined],
      ["added", "b", soon],
    ]);
    expect(await featuresOf(store, "kind", "1")).toEqual(["a", "b", "c", "d"]);
    await sleep(soon - Date.now() + 1);
    expect(await featuresOf(store, "kind", "1")).toEqual(["a", "d"]);
    expect(await recordsAfter(store, await store.newest())).toEqual([]);
    expect((await recordsAfter(store, cursor)).slice(2).sort()).toEqual([
      "expired kind/1/b",
      "expired kind/1/c",
    ]);
  });

  test("features that expire at the same time are in the feed, each once", async () => {
    await using store = await openNewStore(make);
    const expiresAt = await soonFor(store);
    await Promise.all(
      ["1", "2"].map((id) =>
        store.change(
          "kind",
          id,
          names(900).map((name) => add(name, expiresAt)),
        ),
      ),
    );
    await sleep(expiresAt - Date.now() + 1);
    expect(await featuresOf(store, "kind", "1")).toEqual([]);
    // A step is bounded; several can run at the same time.
    expect(await store.expire()).toBe(true);
    while ((await Promise.all([store.expire(), store.expire()])).includes(true));
    expect(await store.expire()).toBe(false);
    const changes = (await store.changes(undefined, 10_000)) ?? [];
    expect(changes).toHaveLength(3600);
    const expired = changes.filter(({ record }) => record.type === "expired");
    expect(new Set(expired.map(({ record }) => `${record.id} ${record.feature}`)).size).toBe(1800);
    expect(expired).toHaveLength(1800);
    expect(await store.changes(changes.at(-1)?.cursor, 10)).toEqual([]);
  });

  test("a read of the feed makes one step of the expiry", async () => {
    await using store = await openNewStore(make);
    const expiresAt = await soonFor(store);
    const many = names(1000).map((name) => add(name, expiresAt));
    await store.change("kind", "1", many);
    await sleep(expiresAt - Date.now() + 1);
    const after = async () => (await store.changes(undefined, 10_000))?.length ?? 0;
    const [first, second] = [await after(), await after()];
    expect(first).toBeGreaterThan(0);
    expect(second).toBeLessThan(2000);
    await eventually(async () => expect(await after()).toBe(2000));
  });

  test("a resource has at most 1000 features, however they are added", async () => {
    await using store = await openNewStore(make);
    const all = names(featuresMax);
    const tooMany = { rejected: "too many features" };
    expect(await store.change("kind", "1", names(featuresMax + 1).map(addition))).toEqual(tooMany);
    expect(await featuresOf(store, "kind", "1")).toEqual([]);
    expect(await store.change("kind", "1", all.map(addition))).toEqual({ had: all.map(() => false) });
    const cursor = await store.newest();
    for (const changes of [
      [add("more")],
      [add("more"), remove("more"), add("more")],
      [remove("never"), add("more"), add("0")],
      [remove("0"), add("more"), add("0")],
    ]) {
      expect(await store.change("kind", "1", changes)).toEqual(tooMany);
      expect(await store.change("kind", "1", changes, all)).toEqual(tooMany);
    }
    expect(await store.change("kind", "1", [add("more")], [])).toEqual({ rejected: "list differs" });
    expect(await featuresOf(store, "kind", "1")).toEqual(all);
    expect(await store.changes(cursor, 10)).toEqual([]);
    expect(await store.change("kind", "1", all.map(addition))).toEqual({ had: all.map(() => true) });
    expect(await store.change("kind", "1", [add("more"), remove("more")])).toEqual({ had: [false, true] });
    expect(await store.change("kind", "1", [add("more"), remove("0")])).toEqual({ had: [false, true] });
    expect(await featuresOf(store, "kind", "1")).toEqual([...all.slice(1), "more"]);
    expect(await store.change("kind", "2", [add("more")])).toEqual({ had: [false] });
  });

  test("what has expired does not count, and is removed by a change that needs its place", async () => {
    await using store = await openNewStore(make);
    const expiresAt = await soonFor(store);
    const passing = names(600).map((name) => add(`passing ${name}`, expiresAt));
    const lasting = names(400);
    await store.change("kind", "1", [...passing, ...lasting.map(addition)]);
    await sleep(expiresAt - Date.now() + 1);
    const more = names(600).map((name) => `more ${name}`);
    expect(await store.change("kind", "1", more.map(addition), lasting)).toEqual({
      had: more.map(() => false),
    });
    expect(await featuresOf(store, "kind", "1")).toEqual([...lasting, ...more]);
    expect(await store.change("kind", "1", [add("x")])).toEqual({ rejected: "too many features" });
    expect(await store.expire()).toBe(false);
    const records = (await store.changes(undefined, 10_000)) ?? [];
    expect(records.filter(({ record }) => record.type === "expired")).toHaveLength(600);
  });

  test("returns records up to a cursor", async () => {
    await using store = await openNewStore(make);
    const start = await store.newest();
    const ids = names(40);
    await Promise.all(ids.map((id) => store.change("kind", id, [add("before")])));
    const until = await store.newest();
    await Promise.all(ids.map((id) => store.change("kind", id, [add("after")])));
    for (const from of [undefined, start]) {
      const changes = (await store.changes(from, 100, until)) ?? [];
      expect(changes.map(({ record }) => record.feature)).toEqual(ids.map(() => "before"));
      expect(changes.at(-1)?.cursor).toBe(until);
      expect(await store.changes(from, 100, start)).toEqual([]);
      expect(await store.changes(from, 7, until)).toEqual(changes.slice(0, 7));
    }
    expect(await store.changes(until, 100, until)).toEqual([]);
    expect(await store.changes(await store.newest(), 100, until)).toEqual([]);
  });

  test("returns every entry, those of a resource together and in order", async () => {
    await using store = await openNewStore(make);
    const expiresAt = Date.now() + 60_000;
    await store.change("kind", "2", [add("z"), add("a", expiresAt)]);
    await store.change("kind", "1", [add("y")]);
    await store.change("other", "1", [add("y")]);
    await store.change("kinds", "2", [add("y")]);
    await store.change("kind", "2", [add("m"), remove("z"), add("z")]);
    await store.change("kind", "gone", [add("y"), remove("y")]);
    const entries = await Array.fromAsync(store.entries());
    expect(entries.map(asText).sort()).toEqual([
      "kind/1/y",
      "kind/2/a",
      "kind/2/m",
      "kind/2/z",
      "kinds/2/y",
      "other/1/y",
    ]);
    const ofTwo = entries.filter(({ resource, id }) => resource === "kind" && id === "2");
    const two = { resource: "kind", id: "2" };
    expect(ofTwo).toEqual([
      { ...two, feature: "a", expiresAt },
      { ...two, feature: "m" },
      { ...two, feature: "z" },
    ]);
    const begin = entries.findIndex(({ resource, id }) => resource === "kind" && id === "2");
    expect(entries.slice(begin, begin + 3)).toEqual(ofTwo);
  });

  test("returns an entry that exists throughout once, while others change", async () => {
    await using store = await openNewStore(make);
    const ids = Array.from({ length: 500 }, (_, index) => `id ${index}`);
    await Promise.all(ids.map((id) => store.change("kind", id, [add("stays"), add("goes")])));
    const seen: string[] = [];
    for await (const { id, feature } of store.entries()) {
      if (feature !== "stays") continue;
      const other = ids[(seen.push(id) * 7919) % ids.length] as string;
      await store.change("kind", other, [remove("goes")]);
      await store.change("kind", `${other} more`, [add("new")]);
    }
    expect(seen.sort()).toEqual(ids.sort());
  });
});

describeOnSharedStores("a feature store that is opened several times", (make) => {
  test("shows a change to every instance", async () => {
    await using made = await make();
    await using one = await openFeatureStore(made.url);
    await using other = await openFeatureStore(made.url);
    for (let round = 0; round < 50; round++) {
      const feature = String(round);
      expect(await one.change("kind", "1", [add(feature)])).toEqual({ had: [false] });
      expect(await other.has("kind", "1", [feature])).toEqual([true]);
      expect(await other.change("kind", "1", [add(feature)])).toEqual({ had: [true] });
      expect(await other.change("kind", "1", [remove(feature)])).toEqual({ had: [true] });
      expect(await featuresOf(one, "kind", "1")).toEqual([]);
    }
    expect(await one.newest()).toBe(await other.newest());
    expect(await recordsAfter(one)).toEqual(await recordsAfter(other));
  });

  test("has a feature once that two instances add concurrently, in one order", async () => {
    await using made = await make();
    await using one = await openFeatureStore(made.url);
    await using other = await openFeatureStore(made.url);
    const features = Array.from({ length: 60 }, (_, index) => String(index));
    const had = await Promise.all(
      [one, other].flatMap((store) => features.map((feature) => store.change("kind", "1", [add(feature)]))),
    );
    expect(had.filter((one) => !("rejected" in one || one.had[0]))).toHaveLength(60);
    const list = await featuresOf(one, "kind", "1");
    expect(await featuresOf(other, "kind", "1")).toEqual(list);
    expect(await recordsAfter(one)).toEqual(list.map((feature) => `added kind/1/${feature}`));
  });

  test("has its features and its feed when it is opened again", async () => {
    await using made = await make();
    let cursor: string;
    {
      await using store = await openFeatureStore(made.url);
      await store.change("kind", "1", [add("b"), add("a")]);
      cursor = await store.newest();
    }
    await using store = await openFeatureStore(made.url);
    expect(await featuresOf(store, "kind", "1")).toEqual(["b", "a"]);
    await store.change("kind", "1", [add("c")]);
    expect(await recordsAfter(store, cursor)).toEqual(["added kind/1/c"]);
  });
});

describeOnSharedStores("a list that a previous release stored", (make) => {
  test("can be longer than 1000; it is read, and can only get shorter", async () => {
    await using made = await make();
    const all = names(2500);
    {
      await using previous = await openUnlimited(made.url);
      await previous.change("kind", "1", all.map(addition));
    }
    await using store = await openFeatureStore(made.url);
    expect(await featuresOf(store, "kind", "1")).toEqual(all);
    expect(await Array.fromAsync(store.entries())).toHaveLength(2500);
    const tooMany = { rejected: "too many features" };
    expect(await store.change("kind", "1", [add("more")])).toEqual(tooMany);
    expect(await store.change("kind", "1", [add("0", Date.now() + 60_000)])).toEqual({ had: [true] });
    expect(await store.change("kind", "1", [remove("0"), add("more")])).toEqual({ had: [true, false] });
    await store.change("kind", "1", all.slice(0, 1500).map(remove));
    expect(await featuresOf(store, "kind", "1")).toHaveLength(1001);
    expect(await store.change("kind", "1", [add("x")])).toEqual(tooMany);
    await store.change("kind", "1", [remove("2000"), remove("2001")]);
    expect(await store.change("kind", "1", [add("x")])).toEqual({ had: [false] });
    expect(await featuresOf(store, "kind", "1")).toHaveLength(1000);
  });
});

describe("a scheme of feature stores", () => testFixtures(featureStores, storeFixtures));

describe("the URL of a feature store", () => {
  test.each([
    ["lmdb:", "has no folder"],
    ["lmdb:?keep=all", "has no folder"],
    ["lmdb://data/features", "has a host; it must be lmdb:FOLDER"],
    ["lmdb:x?changes=0", "has a parameter changes that is not a whole number from 1 to 999999"],
    ["memory:?kept=1", "has a parameter kept that memory: does not have; known: changes, keep"],
    ["redis://user:12?hunter2@host:1", "has a parameter that redis: does not have; known: changes"],
    ["redis://user:12?hunter2=1@host:1", "has a parameter that redis: does not have; known: changes"],
    ["redis://host:1?one%20two=3", "has a parameter that redis: does not have; known: changes"],
    ["valkey:", "must be one of memory:, lmdb:FOLDER, redis://"],
    ["redis:", "names no host"],
    ["redis://one,two", "has more than one host"],
    ["redis://one/names", "must have the number of a database as its path"],
    ["redis+cluster://one:7000,two:7001/1", "has only database 0"],
    ["redis+cluster://one:7000,two:70000", "must be one of"],
    ["redis+cluster://one:7000,,two:7001", "must be one of"],
    ["postgres://one:5432,two:70000/features", "must be one of"],
    ["postgres://one?kept=1", "known: pool, connect_timeout, sslmode, sslrootcert, changes, keep"],
    ["redis://one?keep=all", "has a parameter keep that redis: does not have; known: changes"],
    ["lmdb:%ZZ", "malformed percent-encoding"],
  ])("%s cannot be opened", async (url, message) => {
    await expect(openFeatureStore(url)).rejects.toThrow(message);
  });
});
