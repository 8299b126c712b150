import { hash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { testFixtures } from "../../../testing/describe-adapters.ts";
import { compareWithModel } from "./model.fixture.ts";
import {
  add,
  allEntriesOf,
  allIdsWith,
  describeOnSharedStores,
  describeOnStores,
  featuresOf,
  names,
  openNewStore,
  openUnlimited,
  passTime,
  remove,
  stopClock,
  storeFixtures,
} from "./new-store.fixture.ts";
import { type Entry, type FeatureStore, featuresMax } from "./store.ts";
import { featureStores, openFeatureStore } from "./stores.ts";

/** All records after a cursor, as text. */
async function recordsAfter(store: FeatureStore, after?: string) {
  const feed = (await store.changes(after, 1000)) ?? [];
  return feed.map(({ record: { type, resource, id, feature } }) => `${type} ${resource}/${id}/${feature}`);
}

const addition = (feature: string) => add(feature);
const tooMany = { rejected: "too many features" };

describeOnStores("a feature store", (make) => {
  test("answers as a model does, whatever the names and the changes are and however much time passes", () =>
    compareWithModel(make, 14));

  test("what it has returned is the reader's own", async () => {
    await using store = await openNewStore(make);
    await store.change("kind", "1", [add("a")]);
    const before = await store.list("kind", "1");
    await store.change("kind", "1", [add("b")]);
    expect(before).toEqual([{ resource: "kind", id: "1", feature: "a" }]);
    for (const entry of await store.list("kind", "1")) entry.feature = "changed";
    expect(await featuresOf(store, "kind", "1")).toEqual(["a", "b"]);
  });

  test("tells names of any form apart, also from their hashes and from those that are equal when joined", async () => {
    await using store = await openNewStore(make);
    const [long = "", other = ""] = ["a", "b"].map((end) => "💷".repeat(255) + end);
    const hashes = (["base64url", "hex"] as const).map((encoding) => hash("sha256", long, encoding));
    const all = ["a", "A", "a/a", "%2F{1}", "__proto__", "中".repeat(161), long, other, ...hashes];
    const resources = all.filter((name) => name.length < 3 || name === long || name === "a/a");
    const pairs = resources.flatMap((resource) => all.map((id) => [resource, id] as const));
    await Promise.all(pairs.map(([resource, id]) => store.change(resource, id, all.map(addition))));
    for (const [resource, id] of pairs) expect(await featuresOf(store, resource, id)).toEqual(all);
    for (const resource of resources) {
      for (const feature of all)
        expect((await allIdsWith(store, resource, feature, 4)).sort()).toEqual(all.toSorted());
    }
    expect(await store.change(long, other, [remove(long)], all)).toEqual({ had: [true] });
    expect(await store.has(long, other, [long, other])).toEqual([false, true]);
    expect(await Array.fromAsync(store.entries())).toHaveLength(pairs.length * all.length - 1);
    expect(await recordsAfter(store, undefined)).toContain(`added ${long}/${other}/${long}`);
  });

  test("finds each of many features of many resources", async () => {
    await using store = await openNewStore(make);
    const [ids, features] = [names(100), names(100)];
    const has = (id: string, feature: string) => (Number(id) + Number(feature)) % 7 === 0;
    const listOf = (id: string) => features.filter((feature) => has(id, feature));
    await Promise.all(ids.map((id) => store.change("kind", id, listOf(id).map(addition))));
    const resources = ids.toReversed().map((id) => ({ resource: "kind", id }));
    const expected = resources.map(({ id }) => features.map((feature) => has(id, feature)));
    expect(await store.hasEach(resources, features)).toEqual(expected);
    expect(await store.hasEach([], ["a"])).toEqual([]);
    expect(await store.hasEach([{ resource: "kin", id: "1" }], ["1"])).toEqual([[false]]);
  });

  test("makes concurrent changes of a resource one after the other", async () => {
    await using store = await openNewStore(make);
    const had = await Promise.all(Array.from({ length: 50 }, () => store.change("kind", "1", [add("a")])));
    expect(had.filter((one) => "had" in one && !one.had[0])).toHaveLength(1);
    expect(await recordsAfter(store)).toEqual(["added kind/1/a"]);

    const tries = Array.from({ length: 20 }, (_, index) =>
      store.change("kind", "1", [remove("a"), add(`winner ${index}`)], ["a"]),
    );
    expect((await Promise.all(tries)).filter((outcome) => "had" in outcome)).toEqual([
      { had: [true, false] },
    ]);
    expect(await featuresOf(store, "kind", "1")).toHaveLength(1);

    // A read sees both features of a change or neither.
    const seen = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        if (index % 3 === 0) await store.change("kind", "2", [add("x"), add("y")]);
        if (index % 3 === 1) await store.change("kind", "2", [remove("x"), remove("y")]);
        return (await featuresOf(store, "kind", "2")).length;
      }),
    );
    expect(seen.filter((length) => length !== 0 && length !== 2)).toEqual([]);
  });

  test("returns full pages of ids and of entries although others between them have expired", async () => {
    await using store = await openNewStore(make);
    stopClock();
    const ids = names(200);
    const staying = ids.filter((id) => Number(id) % 4 === 0);
    const expiryOf = (id: string) => (staying.includes(id) ? undefined : Date.now() + 10);
    await Promise.all(ids.map((id) => store.change("kind", id, [add("a", expiryOf(id))])));
    await store.change("kin", "1", [add("a")]);
    passTime(10);
    for (const limit of [7, 49, 50, 51, 1000]) {
      expect((await store.idsWith("kind", "a", undefined, limit)).ids).toHaveLength(Math.min(limit, 50));
      expect((await allIdsWith(store, "kind", "a", limit)).sort()).toEqual(staying.toSorted());
      const entries = await allEntriesOf(store, "kind", limit);
      expect(entries.map(({ id }) => id).sort()).toEqual(staying.toSorted());
    }
    // A page can begin after an entry that has been removed.
    expect(await store.entriesOf("kind", { feature: "a", id: "50x" }, 1)).toHaveLength(1);
  });

  test("paging through ids misses none that has the feature throughout", async () => {
    await using store = await openNewStore(make);
    const ids = Array.from({ length: 40 }, (_, index) => `id ${index}`);
    await Promise.all(ids.map((id) => store.change("kind", id, [add("a")])));
    const seen: string[] = [];
    for (let after: string | undefined, page = 0; ; page++) {
      const { ids, next } = await store.idsWith("kind", "a", after, 5);
      seen.push(...ids);
      after = next;
      if (after === undefined) break;
      // The last id of the page loses the feature, and a new id gets it.
      await store.change("kind", after as string, [remove("a")]);
      await store.change("kind", `new ${page}`, [add("a")]);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(ids));
  });

  test("the feed has all changes of many resources, those of each in order, up to a cursor", async () => {
    await using store = await openNewStore(make);
    const ids = names(40);
    const changeAll = (type: "add" | "remove") =>
      Promise.all(ids.map((id) => store.change("kind", id, [{ type, feature: "a" }])));
    const start = await store.newest();
    await changeAll("add");
    await changeAll("remove");
    const until = await store.newest();
    await changeAll("add");
    const feed = (await store.changes(start, 1000)) ?? [];
    const byId = Map.groupBy(feed, ({ record }) => record.id);
    expect([...byId.keys()].sort()).toEqual(ids.toSorted());
    for (const own of byId.values())
      expect(own.map(({ record }) => record.type)).toEqual(["added", "removed", "added"]);
    expect(feed.at(-1)?.cursor).toBe(await store.newest());
    expect(feed[79]?.cursor).toBe(until);
    for (const from of [undefined, start]) {
      expect(await store.changes(from, 100, until)).toEqual(feed.slice(0, 80));
      expect(await store.changes(from, 7, until)).toEqual(feed.slice(0, 7));
      expect(await store.changes(from, 100, start)).toEqual([]);
    }
    expect(await store.changes(until, 100, until)).toEqual([]);
    expect(await store.changes(await store.newest(), 100, until)).toEqual([]);
  });

  test("keeps the newest records, and returns undefined for a cursor before a deleted one", async () => {
    await using store = await openNewStore(make, "?changes=20");
    const start = await store.newest();
    await store.change("kind", "1", [add("a")]);
    const [{ cursor = "" } = {}] = (await store.changes(start, 1)) ?? [];
    const many = names(19);
    await store.change("kind", "1", many.map(addition));
    expect(await recordsAfter(store, start)).toHaveLength(20);
    expect(await recordsAfter(store, cursor)).toHaveLength(19);
    for (let round = 0; round < 10; round++) {
      await store.change("kind", "1", many.map(remove));
      await store.change("kind", "1", many.map(addition));
    }
    expect(await store.changes(start, 10)).toBe(undefined);
    expect(await store.changes(cursor, 10)).toBe(undefined);
    const kept = (await store.changes(undefined, 1000))?.length;
    expect(kept).toBeGreaterThanOrEqual(20);
    expect(kept).toBeLessThan(400);
    expect(await recordsAfter(store, await store.newest())).toEqual([]);
  });

  test("returns undefined for an unknown cursor, an altered one and one of another store", async () => {
    await using store = await openNewStore(make);
    await using another = await openNewStore(make);
    for (const one of [another, store]) await one.change("kind", "1", [add("a"), add("b")]);
    const newest = await store.newest();
    expect(await store.changes(newest, 10)).toEqual([]);
    // A cursor is a log, and a position in it with its instant, or one in each of its parts.
    expect(newest).toMatch(/^\w+([.-]\w+)+$/);
    const altered = [
      ...["", "$&0"].map((log) => newest.replace(/^\w+/, log)),
      ...["$&0", "0$&", "-1", "9", "$&.", "$&.0"].map((position) => newest.replace(/\w+$/, position)),
      newest.replace(/(\W\w+){2}$/, ""),
    ];
    for (const cursor of [
      "",
      "x",
      "0",
      "-1",
      "abcdefgh-1",
      "1.2.3",
      "💷",
      await another.newest(),
      ...altered,
    ])
      expect([cursor, await store.changes(cursor, 10)]).toEqual([cursor, undefined]);
  });

  test("records the expiry of each of many features once, some at each read of the feed", async () => {
    await using store = await openNewStore(make);
    stopClock();
    const expiresAt = Date.now() + 10;
    const many = names(450).map((name) => add(name, expiresAt));
    await Promise.all(["1", "2"].map((id) => store.change("kind", id, many)));
    passTime(10);
    const recorded = async () => (await store.changes(undefined, 10_000))?.length ?? 0;
    const [first, second] = [await recorded(), await recorded()];
    expect([900 < first, first < second, second < 1800]).toEqual([true, true, true]);
    // Several can do this at the same time.
    expect(await store.expire()).toBe(true);
    while ((await Promise.all([store.expire(), store.expire()])).includes(true));
    expect(await store.expire()).toBe(false);
    const records = await recordsAfter(store);
    expect(records).toHaveLength(1000);
    const feed = (await store.changes(undefined, 10_000)) ?? [];
    expect(feed).toHaveLength(1800);
    const expired = feed.filter(({ record }) => record.type === "expired");
    expect(new Set(expired.map(({ record }) => `${record.id} ${record.feature}`)).size).toBe(900);
  });

  test("a resource has at most 1000 features, however they are added, and all are listed in order", async () => {
    await using store = await openNewStore(make);
    const all = names(featuresMax);
    const later = Date.now() + 3_600_000;
    const additions = all.map((name, index) => add(name, index % 2 ? later + index : undefined));
    expect(await store.change("kind", "1", [...additions, add("more")])).toEqual(tooMany);
    expect(await featuresOf(store, "kind", "1")).toEqual([]);
    expect(await store.change("kind", "1", additions)).toEqual({ had: all.map(() => false) });
    const entryOf = (feature: string, index: number) => ({
      ...{ resource: "kind", id: "1", feature },
      ...(index % 2 && { expiresAt: later + index }),
    });
    expect(await store.list("kind", "1")).toStrictEqual(all.map(entryOf));
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
    stopClock();
    const passing = names(600).map((name) => add(`passing ${name}`, Date.now() + 10));
    const lasting = names(400);
    await store.change("kind", "1", [...passing, ...lasting.map(addition)]);
    passTime(10);
    const more = names(600).map((name) => `more ${name}`);
    const had = more.map(() => false);
    expect(await store.change("kind", "1", more.map(addition), lasting)).toEqual({ had });
    expect(await featuresOf(store, "kind", "1")).toEqual([...lasting, ...more]);
    expect(await store.change("kind", "1", [add("x")])).toEqual(tooMany);
    expect(await store.expire()).toBe(false);
    const records = (await store.changes(undefined, 10_000)) ?? [];
    expect(records.filter(({ record }) => record.type === "expired")).toHaveLength(600);
  });

  test("what has expired is in no answer from that instant on, before and after its expiry is recorded", async () => {
    await using store = await openNewStore(make);
    stopClock();
    const soon = Date.now() + 10;
    const [ids, features, many] = [names(6), names(24), names(150)];
    /** Each takes several changes of one feature; only the first two expire. */
    const lives = [
      (feature: string) => [add(feature, soon)],
      (feature: string) => [add(feature), add(feature, soon)],
      (feature: string) => [add(feature)],
      (feature: string) => [add(feature, soon), add(feature, soon + 10_000)],
      (feature: string) => [add(feature, soon), add(feature)],
      (feature: string) => [add(feature, soon), remove(feature), add(feature)],
    ];
    /** Every resource loses the feature 0. */
    const lifeOf = (id: string, feature: string) =>
      feature === "0" ? 0 : (Number(id) + Number(feature)) % lives.length;
    const lasts = (id: string, feature: string) => lifeOf(id, feature) > 1;
    const live = (kind: string, id: string, some: string[]) => {
      const changes = some.flatMap((feature) => lives[lifeOf(id, feature)]?.(feature) ?? []);
      return store.change(kind, id, changes);
    };
    await Promise.all([live("long", "0", many), ...ids.map((id) => live("kind", id, features))]);

    async function compare(isLive: (id: string, feature: string) => boolean) {
      const ofId = (id: string, some = features) => some.filter((feature) => isLive(id, feature)).sort();
      for (const id of ids) {
        expect((await featuresOf(store, "kind", id)).sort()).toEqual(ofId(id));
        for (const some of [...features.slice(0, 6).map((one) => [one]), features.slice(0, 6), features])
          expect(await store.has("kind", id, some)).toEqual(some.map((one) => isLive(id, one)));
      }
      expect((await featuresOf(store, "long", "0")).sort()).toEqual(ofId("0", many));
      for (const feature of features) {
        const having = ids.filter((id) => isLive(id, feature));
        expect((await allIdsWith(store, "kind", feature, 4)).sort()).toEqual(having);
        expect(await store.counts("kind", [feature])).toEqual([having.length]);
        if (having.length > 0) expect(await store.featuresInUse("kind", undefined, 99)).toContain(feature);
      }
      const all = ids.flatMap((id) => ofId(id).map((feature) => `${id}/${feature}`)).sort();
      const namesIn = (entries: Entry[]) => entries.map(({ id, feature }) => `${id}/${feature}`).sort();
      expect(namesIn(await allEntriesOf(store, "kind", 7))).toEqual(all);
      const entries = (await Array.fromAsync(store.entries())).filter(({ resource }) => resource === "kind");
      expect(namesIn(entries)).toEqual(all);
    }

    passTime(9);
    await compare(() => true);
    passTime(1);
    await compare(lasts);
    const list = await featuresOf(store, "kind", "1");
    expect(await store.change("kind", "1", [remove("0"), add("3")], list)).toEqual({ had: [false, true] });
    while (await store.expire());
    await compare(lasts);
    const expired = (await recordsAfter(store)).filter((record) => record.startsWith("expired kind/"));
    const passing = ids.flatMap((id) =>
      features.flatMap((feature) => (lasts(id, feature) ? [] : `expired kind/${id}/${feature}`)),
    );
    expect(expired.sort()).toEqual(passing.sort());
  });

  test("returns an entry that exists throughout once, while others change", async () => {
    await using store = await openNewStore(make);
    const ids = Array.from({ length: 60 }, (_, index) => `id ${index}`);
    const features = ["stays", "goes", ...names(38)];
    await Promise.all(ids.map((id) => store.change("kind", id, features.map(addition))));
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
  test("shows a change to every instance, also to one that is opened later", async () => {
    await using made = await make();
    let cursor: string;
    {
      await using one = await openFeatureStore(made.url);
      await using other = await openFeatureStore(made.url);
      for (const feature of names(10)) {
        expect(await one.change("kind", "1", [add(feature)])).toEqual({ had: [false] });
        expect(await other.has("kind", "1", [feature])).toEqual([true]);
        expect(await other.change("kind", "1", [add(feature)])).toEqual({ had: [true] });
        expect(await other.change("kind", "1", [remove(feature)])).toEqual({ had: [true] });
        expect(await featuresOf(one, "kind", "1")).toEqual([]);
      }
      await one.change("kind", "1", [add("b"), add("a")]);
      cursor = await one.newest();
      expect(await other.newest()).toBe(cursor);
      expect(await recordsAfter(one)).toEqual(await recordsAfter(other));
    }
    await using again = await openFeatureStore(made.url);
    expect(await featuresOf(again, "kind", "1")).toEqual(["b", "a"]);
    await again.change("kind", "1", [add("c")]);
    expect(await recordsAfter(again, cursor)).toEqual(["added kind/1/c"]);
  });

  test("has a feature once that two instances add concurrently, in one order", async () => {
    await using made = await make();
    await using one = await openFeatureStore(made.url);
    await using other = await openFeatureStore(made.url);
    const had = await Promise.all(
      [one, other].flatMap((store) => names(40).map((feature) => store.change("kind", "1", [add(feature)]))),
    );
    expect(had.filter((one) => "had" in one && !one.had[0])).toHaveLength(40);
    const list = await featuresOf(one, "kind", "1");
    expect(await featuresOf(other, "kind", "1")).toEqual(list);
    expect(await recordsAfter(one)).toEqual(list.map((feature) => `added kind/1/${feature}`));
  });

  test("can have a list of more than 1000 features from a previous release, which can only get shorter", async () => {
    await using made = await make();
    const all = names(2100);
    {
      await using previous = await openUnlimited(made.url);
      await previous.change("kind", "1", all.map(addition));
    }
    await using store = await openFeatureStore(made.url);
    expect(await featuresOf(store, "kind", "1")).toEqual(all);
    expect(await Array.fromAsync(store.entries())).toHaveLength(2100);
    expect(await store.change("kind", "1", [add("more")])).toEqual(tooMany);
    expect(await store.change("kind", "1", [add("0", Date.now() + 3_600_000)])).toEqual({ had: [true] });
    expect(await store.change("kind", "1", [remove("0"), add("more")])).toEqual({ had: [true, false] });
    await store.change("kind", "1", all.slice(0, 1100).map(remove));
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
    ["memory:?keep=some", "has a parameter keep that is not all"],
    ["memory:?keep=all&changes=10", "has the parameters keep and changes; only one of them is possible"],
    ["memory:?kept=1", "has a parameter kept that memory: does not have; known: changes, keep"],
    [
      "redis://user:12?hunter2@host:1",
      "has an @ after its host; in a name, a password or a value @ must be %40",
    ],
    ["lmdb:x?hunter2=1@host:1", "has a parameter that lmdb: does not have; known: changes, keep"],
    ["redis://host:1?one%20two=3", "has a parameter that redis: does not have; known: changes"],
    ["valkey:", "must be one of memory:, lmdb:FOLDER, redis://"],
    ["redis:", "has no // after its scheme"],
    ["redis://", "has no host"],
    ["redis://one,two", "has more than one host"],
    ["redis://one/names", "must have the number of a database as its path"],
    ["redis+cluster://one:7000,two:7001/1", "has only database 0"],
    ["redis+cluster://one:7000,two:70000", "must be one of"],
    ["redis+cluster://one:7000,,two:7001", "must be one of"],
    ["postgres://one:5432,two:70000/features", "must be one of"],
    [
      "postgres://one?kept=1",
      "known: pool, connect_timeout, sslmode, sslrootcert, channel_binding, host, application_name, changes, keep",
    ],
    ["redis://one?keep=all", "has a parameter keep that redis: does not have; known: changes"],
    ["lmdb:%ZZ", "malformed percent-encoding"],
  ])("%s cannot be opened", async (url, message) => {
    await expect(openFeatureStore(url)).rejects.toThrow(message);
  });
});
