import { expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { allChanges, allIdsAt, compareWithModel } from "./model.fixture.ts";
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
import { recordsKept } from "./parameters.ts";
import type { Entry, FeatureStore, History } from "./store.ts";
import { openFeatureStore } from "./stores.ts";

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
/** The list of a resource at an instant. */
const listAt = (store: FeatureStore, at: number) => historyOf(store).at(at).list("kind", "1");
const namesOf = (entries: Entry[]) => entries.map(({ feature }) => feature);

describeOnStoresWithHistory("a feature store that keeps its history", (make) => {
  test("answers for every earlier instant as it did at that time, whatever is recorded later", () =>
    compareWithModel(make, 10, "?keep=all"));

  test("returns undefined for the changes of a resource after an unknown cursor, and none of an unknown one", async () => {
    await using store = await openWithHistory(make);
    const { changes } = historyOf(store);
    for (const cursor of ["other-1", "newest"])
      expect(await changes("kind", "1", cursor, 10)).toBeUndefined();
    expect(await changes("kind", "1", undefined, 10)).toEqual([]);
  });

  test("many resources that had a feature are found, also if none has it now", async () => {
    await using store = await openWithHistory(make);
    stopClock();
    const many = names(230);
    await Promise.all(many.map((id) => store.change("kind", id, [add("a")])));
    const at = instant();
    await Promise.all(many.map((id) => store.change("kind", id, [remove("a")])));
    expect((await store.idsWith("kind", "a", undefined, 1000)).ids).toEqual([]);
    for (const limit of [1, 100, 115, 1000])
      expect((await allIdsAt(historyOf(store), "kind", "a", at, limit)).sort()).toEqual(many.toSorted());
    expect(await allIdsAt(historyOf(store), "kind", "a", Date.now(), 100)).toEqual([]);
  });

  test("a state up to the settled instant stays, whatever is changed meanwhile and however long that takes", async () => {
    await using made = await make();
    await using store = await openFeatureStore(`${made.url}?keep=all`);
    const { settled } = historyOf(store);
    const responses: { at: number; features: string[] }[] = [];
    let isChanging = true;
    const reading = (async () => {
      while (isChanging) {
        const at = await settled();
        responses.push({ at, features: namesOf(await listAt(store, at)) });
      }
    })();
    for (let round = 0; round < 100; round++) {
      const changes = round % 2 === 0 ? [add("a"), add("b")] : [remove("a"), remove("b")];
      await Promise.all([store.change("kind", "1", changes), store.change("kind", "2", changes)]);
    }
    isChanging = false;
    await reading;
    for (const { at, features } of responses) expect(namesOf(await listAt(store, at))).toEqual(features);
    const ats = responses.map(({ at }) => at);
    expect(ats).toEqual(ats.toSorted((one, other) => one - other));
    await store.change("kind", "1", [add("last")]);
    const changedAt = (await allChanges(historyOf(store), "kind", "1", 100)).at(-1)?.record.at ?? 0;
    await eventually(async () => expect(await settled()).toBeGreaterThanOrEqual(changedAt));
    expect(namesOf(await listAt(store, changedAt))).toEqual(["last"]);
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
    const records = (await allChanges(historyOf(store), "kind", "1", 10)).map(({ record }) => record);
    expect(records.map(({ type, feature, at }) => [type, feature, at])).toEqual([
      ["added", "a", start],
      ["added", "b", start],
      ["expired", "b", start - 500],
      ["added", "c", start + 100],
    ]);
    expect(await listAt(store, start - 1)).toEqual([]);
    expect(namesOf(await listAt(store, start))).toEqual(["a"]);
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
    expect(namesOf(await listAt(store, at))).toEqual(many);
    expect(namesOf(await listAt(store, later))).toEqual([...many.slice(500), ...moved]);
    expect(await listAt(store, Date.now())).toEqual([]);
    expect(await allChanges(historyOf(store), "kind", "1", 10_000)).toHaveLength(5000);
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
      expect(await store.history?.at(Date.now()).has("kind", "1", ["a"])).toEqual(begun ? [true] : undefined);
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
