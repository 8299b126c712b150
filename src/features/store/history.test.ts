import fc from "fast-check";
import { expect, test } from "vitest";
import {
  add,
  describeOnSharedStoresWithHistory,
  describeOnStoresWithHistory,
  featuresOf,
  type NewStore,
  names,
  openNewStore,
  passTime,
  remove,
  stopClock,
} from "./new-store.fixture.ts";
import {
  type Entry,
  type FeatureChange,
  type FeatureStore,
  type History,
  openFeatureStore,
  recordsKept,
} from "./store.ts";

/** The present instant. It is over when this returns: what happens next is later. The clock must be stopped. */
function instant(): number {
  const now = Date.now();
  passTime(1);
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

interface Change {
  type: "add" | "remove";
  feature: string;
  expiresIn: number | undefined;
}

/** Few steps or many, of few changes or of hundreds, so that saved lists are made at different places. */
const scenario = fc.array(
  fc.record({
    id: fc.constantFrom(...ids),
    /** Milliseconds that pass after the change. */
    wait: fc.constantFrom(0, 1, 5),
    /** Whether expiries are recorded after that. */
    expires: fc.boolean(),
    changes: fc.oneof(
      fc.array(
        fc.record({
          type: fc.constantFrom("add", "add", "remove"),
          feature: fc.constantFrom(...features),
          expiresIn: fc.constantFrom(undefined, undefined, 1, 3, 8, 3_600_000),
        }),
        { maxLength: 4 },
      ),
      // Each adds and removes the same features many times.
      fc
        .integer({ min: 20, max: 70 })
        .map((count) =>
          Array.from({ length: count }, () => ["add", "remove"] as const).flatMap((types) =>
            types.map((type) => ({ type, feature: "often", expiresIn: undefined })),
          ),
        ),
      // A longer list than the number of records between saved lists.
      fc.integer({ min: 90, max: 130 }).map((count) =>
        Array.from({ length: count }, (_, index) => ({
          type: "add" as const,
          feature: `of many ${index}`,
          expiresIn: undefined,
        })),
      ),
    ),
  }),
  { minLength: 1, maxLength: 10 },
);

describeOnStoresWithHistory("a feature store that keeps its history", (make) => {
  test("answers for every earlier instant as it did at that time, whatever is recorded later", async () => {
    const property = fc.asyncProperty(scenario, async (steps) => {
      await using store = await openWithHistory(make);
      const { list, has } = historyOf(store);
      const all = [...features, "often", "of many 0", "of many 100"];
      const lists = () => Promise.all(ids.map((id) => store.list("kind", id)));
      const past: { at: number; lists: Entry[][] }[] = [];
      for (const { id, changes, wait, expires } of steps) {
        past.push({ lists: await lists(), at: instant() });
        const timed = (changes as Change[]).map(({ expiresIn, ...change }) => ({
          ...change,
          expiresAt: expiresIn && Date.now() + expiresIn,
        }));
        await store.change("kind", id, timed as FeatureChange[]);
        past.push({ lists: await lists(), at: instant() });
        passTime(wait);
        past.push({ lists: await lists(), at: instant() });
        if (expires) await store.expire();
      }
      for (const [round, { at, lists }] of past.entries()) {
        expect(await Promise.all(ids.map((id) => list("kind", id, at)))).toEqual(lists);
        const had = lists.map((entries) => all.map((feature) => namesOf(entries).includes(feature)));
        expect(await Promise.all(ids.map((id) => has("kind", id, all, at)))).toEqual(had);
        for (const index of [round % all.length, (3 * round + 1) % all.length]) {
          const found = await allIdsAt(store, all[index] as string, at, 1 + (round % 3));
          expect(found.sort()).toEqual(ids.filter((_, number) => had[number]?.[index]).sort());
        }
      }
      expect(await list("kind", "1", 0)).toEqual([]);
      expect(await has("kind", "1", ["a"], 0)).toEqual([false]);
    });
    stopClock();
    await fc.assert(property, { numRuns: 8 });
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
    const { changes } = historyOf(store);
    expect(await changes("kind", "1", feed[10]?.cursor, 1000)).toEqual(
      ofResource.filter((entry) => feed.indexOf(entry) > 10),
    );
    expect(await changes("kind", "3", undefined, 10)).toEqual([]);
    for (const cursor of ["other-1", "newest"])
      expect(await changes("kind", "1", cursor, 10)).toBeUndefined();
  });

  test("many resources that had a feature are found, also if none has it now", async () => {
    await using store = await openWithHistory(make);
    stopClock();
    const many = names(230);
    await Promise.all(many.map((id) => store.change("kind", id, [add("a")])));
    const at = instant();
    await Promise.all(many.map((id) => store.change("kind", id, [remove("a")])));
    expect(await store.idsWith("kind", "a", undefined, 1000)).toEqual([]);
    for (const limit of [1, 100, 115, 1000])
      expect((await allIdsAt(store, "a", at, limit)).sort()).toEqual(many.toSorted());
    expect(await allIdsAt(store, "a", Date.now(), 100)).toEqual([]);
  });

  test("a clock that is set back does not change the past", async () => {
    await using store = await openWithHistory(make);
    const start = 2_000_000_000_000;
    stopClock(start);
    await store.change("kind", "1", [add("a")]);
    passTime(-1000);
    await store.change("kind", "1", [add("b", start - 500)]);
    passTime(1100);
    await store.change("kind", "1", [remove("b"), add("c")]);
    const records = (await allChanges(store, "1", 10)).map(({ record }) => record);
    expect(records.map(({ type, feature, at }) => [type, feature, at])).toEqual([
      ["added", "a", start],
      ["added", "b", start],
      ["expired", "b", start - 500],
      ["added", "c", start + 100],
    ]);
    const { list } = historyOf(store);
    expect(await list("kind", "1", start - 1)).toEqual([]);
    expect(namesOf(await list("kind", "1", start))).toEqual(["a"]);
  });

  test("a list of 1,000 features with a long life is read", async () => {
    await using store = await openWithHistory(make);
    stopClock();
    const many = names(1000);
    const moved = many.slice(0, 500);
    const addTo = (some: string[]) => some.map((feature) => add(feature));
    await store.change("kind", "1", addTo(many));
    const at = instant();
    for (let round = 0; round < 3; round++) {
      await store.change("kind", "1", moved.map(remove));
      await store.change("kind", "1", addTo(moved));
    }
    const later = instant();
    await store.change("kind", "1", many.map(remove));
    const { list } = historyOf(store);
    expect(namesOf(await list("kind", "1", at))).toEqual(many);
    expect(namesOf(await list("kind", "1", later))).toEqual([...many.slice(500), ...moved]);
    expect(await list("kind", "1", Date.now())).toEqual([]);
    expect(await allChanges(store, "1", 10_000)).toHaveLength(5000);
  });
});

describeOnSharedStoresWithHistory("a feature store that is opened again", (make) => {
  test("is opened with keep=all or without, as it was begun", async () => {
    for (const [begun, other, way] of [
      ["?keep=all", "", "with"],
      ["", "?keep=all", "without"],
    ] as const) {
      const message = `the store was begun ${way} keep=all, so it must be opened ${way} it; to change this, export it`;
      await using made = await make();
      // Nothing has been recorded yet.
      for (const parameters of [begun, other]) {
        await using store = await openFeatureStore(made.url + parameters);
        expect(store.history === undefined).toBe(parameters === "");
      }
      {
        await using store = await openFeatureStore(made.url + begun);
        await store.change("kind", "1", [add("a")]);
      }
      await expect(openFeatureStore(made.url + other)).rejects.toThrow(message);
      await using store = await openFeatureStore(made.url + begun);
      expect(await featuresOf(store, "kind", "1")).toEqual(["a"]);
      expect(await store.history?.has("kind", "1", ["a"], Date.now())).toEqual(begun ? [true] : undefined);
    }
  });
});

test("a store keeps 100,000 records by default, and all with keep=all, which gives it a history", async () => {
  expect(recordsKept({ changes: undefined })).toBe(100_000);
  expect(recordsKept({ changes: undefined, keep: "all" })).toBe(Number.POSITIVE_INFINITY);
  for (const url of ["memory:", "memory:?changes=10"]) {
    await using store = await openFeatureStore(url);
    expect(store.history).toBeUndefined();
  }
});
