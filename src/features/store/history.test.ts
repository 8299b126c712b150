import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { describeOnStoresWithHistory, featuresOf, type NewStore, openNewStore } from "./new-store.fixture.ts";
import {
  type Entry,
  type FeatureChange,
  type FeatureStore,
  type History,
  openFeatureStore,
} from "./store.ts";

const add = (feature: string, expiresAt?: number): FeatureChange => ({ type: "add", feature, expiresAt });
const remove = (feature: string): FeatureChange => ({ type: "remove", feature });

/** The present instant. It is over when this resolves: what happens next is later. */
async function instant(): Promise<number> {
  const now = Date.now();
  while (Date.now() <= now) await sleep(1);
  return now;
}

const openWithHistory = (make: () => Promise<NewStore>) => openNewStore(make, "?keep=all");
const historyOf = ({ history }: FeatureStore): History => {
  if (!history) throw new Error("the store keeps no history");
  return history;
};
const namesOf = (entries: Entry[]) => entries.map(({ feature }) => feature);

/** All ids that had a feature, read in pages. */
async function allIdsAt(store: FeatureStore, feature: string, at: number, limit: number): Promise<string[]> {
  const all: string[] = [];
  let after: string | undefined;
  do {
    const { ids, next } = await historyOf(store).idsWith("kind", feature, at, after, limit);
    expect(ids.length).toBeLessThanOrEqual(limit);
    all.push(...ids);
    after = next;
  } while (after !== undefined);
  return all;
}

/** The records of a resource, read in pages. */
async function allChanges(store: FeatureStore, id: string, limit: number) {
  const all = [];
  for (let after: string | undefined; ; ) {
    const page = (await historyOf(store).changes("kind", id, after, limit)) ?? [];
    all.push(...page);
    if (page.length < limit) return all;
    after = page.at(-1)?.cursor;
  }
}

const features = ["a", "dark-mode", "beta search", "é".repeat(256), "💷".repeat(255)];
const ids = ["1", "2", "中".repeat(200)];

/** Few steps or many, of few changes or of hundreds, so that saved lists are made at different places. */
const scenario = fc.array(
  fc.record({
    id: fc.constantFrom(...ids),
    changes: fc.oneof(
      fc.array(
        fc.record({
          type: fc.constantFrom("add", "add", "remove"),
          feature: fc.constantFrom(...features),
          expiresAt: fc.constantFrom(undefined, 4_000_000_000_000, 4_000_000_000_001),
        }),
        { maxLength: 4 },
      ),
      // Each adds and removes the same features many times.
      fc
        .integer({ min: 20, max: 70 })
        .map((count) =>
          Array.from({ length: count }, () => ["add", "remove"] as const).flatMap((types) =>
            types.map((type) => ({ type, feature: "often", expiresAt: undefined })),
          ),
        ),
      // A longer list than the number of records between saved lists.
      fc.integer({ min: 90, max: 130 }).map((count) =>
        Array.from({ length: count }, (_, index) => ({
          type: "add" as const,
          feature: `of many ${index}`,
          expiresAt: undefined,
        })),
      ),
    ),
  }),
  { minLength: 1, maxLength: 8 },
);

describeOnStoresWithHistory("a feature store that keeps its history", (make) => {
  afterEach(() => void vi.useRealTimers());

  test("answers for every earlier instant as it did at that time", async () => {
    const property = fc.asyncProperty(scenario, async (steps) => {
      await using store = await openWithHistory(make);
      const all = [...features, "often", "of many 0", "of many 100"];
      async function state() {
        const lists = await Promise.all(ids.map((id) => store.list("kind", id)));
        const has = await Promise.all(ids.map((id) => store.has("kind", id, all)));
        const resources = await Promise.all(
          all.map(async (feature) => (await store.idsWith("kind", feature, undefined, 100)).sort()),
        );
        return { lists, has, resources };
      }
      const past = [{ at: await instant(), state: await state() }];
      for (const { id, changes } of steps) {
        await store.change("kind", id, changes as FeatureChange[]);
        past.push({ at: await instant(), state: await state() });
      }
      for (const { at, state } of past) {
        const { list, has } = historyOf(store);
        expect(await Promise.all(ids.map((id) => list("kind", id, at)))).toEqual(state.lists);
        expect(await Promise.all(ids.map((id) => has("kind", id, all, at)))).toEqual(state.has);
        for (const [index, feature] of all.entries()) {
          for (const limit of [1, 2, 100])
            expect((await allIdsAt(store, feature, at, limit)).sort()).toEqual(state.resources[index]);
        }
      }
      expect(namesOf(await historyOf(store).list("kind", "1", 0))).toEqual([]);
    });
    await fc.assert(property, { numRuns: 15, interruptAfterTimeLimit: 8000 });
  });

  test("has every record of a resource, and the feed begins with the first change", async () => {
    await using store = await openWithHistory(make);
    for (let index = 0; index < 30; index++) {
      await store.change("kind", "1", [add(`f${index}`)]);
      await store.change("kind", "2", [add("other")]);
      await store.change("other", "1", [add("other")]);
      if (index % 3 === 0) await store.change("kind", "1", [remove(`f${index}`)]);
    }
    const feed = (await store.changes(undefined, 1000)) ?? [];
    expect(feed[0]?.record).toMatchObject({ type: "added", resource: "kind", id: "1", feature: "f0" });
    const ofResource = feed.filter(({ record }) => record.resource === "kind" && record.id === "1");
    expect(ofResource).toHaveLength(40);
    for (const limit of [1, 7, 40, 1000]) expect(await allChanges(store, "1", limit)).toEqual(ofResource);
    // Any cursor of the feed is a cursor of the resource.
    const middle = feed[10]?.cursor;
    expect(await historyOf(store).changes("kind", "1", middle, 1000)).toEqual(
      ofResource.filter(
        (entry) => feed.indexOf(entry) > 10 || feed.findIndex((one) => one.cursor === entry.cursor) > 10,
      ),
    );
    expect(await historyOf(store).changes("kind", "3", undefined, 10)).toEqual([]);
    expect(await historyOf(store).changes("kind", "1", "other-1", 10)).toBeUndefined();
    expect(await historyOf(store).changes("kind", "1", "newest", 10)).toBeUndefined();
  });

  test("an expiry is in the history at its instant, before and after it is recorded", async () => {
    await using store = await openWithHistory(make);
    const added = await instant();
    const expiresAt = Date.now() + 400;
    await store.change("kind", "1", [add("a", expiresAt), add("b")]);
    const before = await instant();
    expect(before).toBeLessThan(expiresAt);
    while (Date.now() <= expiresAt) await sleep(5);
    await store.change("kind", "1", [add("c")]);
    const after = await instant();
    async function expectPast() {
      const { list, has } = historyOf(store);
      expect(namesOf(await list("kind", "1", added))).toEqual([]);
      expect(namesOf(await list("kind", "1", before))).toEqual(["a", "b"]);
      expect(namesOf(await list("kind", "1", expiresAt - 1))).toEqual(["a", "b"]);
      expect(namesOf(await list("kind", "1", expiresAt))).toEqual(["b"]);
      expect(namesOf(await list("kind", "1", after))).toEqual(["b", "c"]);
      expect(await has("kind", "1", ["a"], expiresAt - 1)).toEqual([true]);
      expect(await has("kind", "1", ["a"], expiresAt)).toEqual([false]);
      expect(await allIdsAt(store, "a", expiresAt - 1, 10)).toEqual(["1"]);
      expect(await allIdsAt(store, "a", expiresAt, 10)).toEqual([]);
    }
    await expectPast();
    while (await store.expire());
    await expectPast();
    const records = (await allChanges(store, "1", 2)).map(({ record }) => record);
    expect(records.find(({ type }) => type === "expired")).toMatchObject({ feature: "a", at: expiresAt });
    // Added again, it is the last of the list.
    await store.change("kind", "1", [add("a")]);
    expect(await featuresOf(store, "kind", "1")).toEqual(["b", "c", "a"]);
    const again = await instant();
    expect(namesOf(await historyOf(store).list("kind", "1", again))).toEqual(["b", "c", "a"]);
    await expectPast();
  });

  test("a feature that expires and is added again before its expiry is recorded goes to the end", async () => {
    await using store = await openWithHistory(make);
    const expiresAt = Date.now() + 200;
    await store.change("kind", "1", [add("a", expiresAt), add("b")]);
    while (Date.now() <= expiresAt) await sleep(5);
    await store.change("kind", "1", [add("a")]);
    const at = await instant();
    expect(namesOf(await historyOf(store).list("kind", "1", at))).toEqual(["b", "a"]);
    expect(namesOf(await historyOf(store).list("kind", "1", expiresAt))).toEqual(["b"]);
  });

  test("many resources that had a feature are found, also if none has it now", async () => {
    await using store = await openWithHistory(make);
    const many = Array.from({ length: 230 }, (_, index) => String(index));
    for (const id of many) await store.change("kind", id, [add("a")]);
    const at = await instant();
    for (const id of many) await store.change("kind", id, [remove("a")]);
    expect(await store.idsWith("kind", "a", undefined, 1000)).toEqual([]);
    for (const limit of [1, 100, 115, 1000])
      expect((await allIdsAt(store, "a", at, limit)).sort()).toEqual(many.toSorted());
    expect(await allIdsAt(store, "a", Date.now(), 100)).toEqual([]);
  });

  test("a clock that is set back does not change the past", async () => {
    await using store = await openWithHistory(make);
    await store.change("kind", "1", [add("a")]);
    const at = await instant();
    vi.useFakeTimers({ toFake: ["Date"], now: at - 3_600_000 });
    await store.change("kind", "1", [add("b")]);
    vi.useRealTimers();
    const [first, second] = (await allChanges(store, "1", 10)).map(({ record }) => record);
    expect(second?.at).toBeGreaterThanOrEqual(first?.at as number);
    expect(namesOf(await historyOf(store).list("kind", "1", (first?.at as number) - 1))).toEqual([]);
    expect(namesOf(await historyOf(store).list("kind", "1", at))).toEqual(["a", "b"]);
  });

  test("a list of 1,000 features with a long life is read", async () => {
    await using store = await openWithHistory(make);
    const many = Array.from({ length: 1000 }, (_, index) => `feature ${index}`);
    await store.change(
      "kind",
      "1",
      many.map((feature) => add(feature)),
    );
    const at = await instant();
    for (let round = 0; round < 3; round++) {
      await store.change("kind", "1", many.slice(0, 500).map(remove));
      await store.change(
        "kind",
        "1",
        many.slice(0, 500).map((feature) => add(feature)),
      );
    }
    const later = await instant();
    expect(namesOf(await historyOf(store).list("kind", "1", at))).toEqual(many);
    const moved = [...many.slice(500), ...many.slice(0, 500)];
    expect(namesOf(await historyOf(store).list("kind", "1", later))).toEqual(moved);
  });

  test("keep=all excludes a number of records, and has no other value", async () => {
    await using made = await make();
    await expect(openFeatureStore(`${made.url}?keep=all&changes=10`)).rejects.toThrow(
      "FEATURES_STORE_URL has the parameters keep and changes; only one of them is possible",
    );
    await expect(openFeatureStore(`${made.url}?keep=some`)).rejects.toThrow(
      "a parameter keep that is not all",
    );
  });
});

test("without keep=all a store has no history", async () => {
  for (const url of ["memory:", "memory:?changes=10"]) {
    await using store = await openFeatureStore(url);
    expect(store.history).toBeUndefined();
  }
  await expect(openFeatureStore("redis://127.0.0.1:1?keep=all")).rejects.toThrow(
    "a parameter keep that redis: does not have; known: changes",
  );
});

test("with keep=all the memory of a process has more records than a store keeps by default", async () => {
  await using store = await openFeatureStore("memory:?keep=all");
  const toggle = Array.from({ length: 500 }, () => [add("a"), remove("a")]).flat();
  for (let count = 0; count < 101; count++) await store.change("kind", String(count % 3), toggle);
  const [first] = (await store.changes(undefined, 1)) ?? [];
  expect(first?.cursor).toMatch(/-1$/);
  expect((await store.newest()).split("-")[1]).toBe("101000");
});
