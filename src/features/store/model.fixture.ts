import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect } from "vitest";
import {
  add,
  allEntriesOf,
  allFeaturesInUse,
  allIdsWith,
  allKinds,
  type NewStore,
  names,
  openNewStore,
  passTime,
  remove,
  stopClock,
} from "./new-store.fixture.ts";
import type {
  ChangeOutcome,
  ChangeRecord,
  Entry,
  FeatureChange,
  FeatureStore,
  FeedEntry,
  History,
} from "./store.ts";

/** A simple model of a store. An entry remains when it expires, until its expiry is recorded. */
function newModel() {
  const stored: Entry[] = [];
  const records: ChangeRecord[] = [];
  const isLive = ({ expiresAt }: Entry) => expiresAt === undefined || expiresAt > Date.now();
  const live = () => stored.filter(isLive);
  const entriesOf = (resource: string, id: string) =>
    live().filter((entry) => entry.resource === resource && entry.id === id);
  const list = (resource: string, id: string) => entriesOf(resource, id).map(({ feature }) => feature);

  function drop(entry: Entry, type: "removed" | "expired"): void {
    stored.splice(stored.indexOf(entry), 1);
    const { expiresAt = Number.NaN, ...names } = entry;
    records.push({ type, ...names, at: type === "expired" ? expiresAt : Date.now() });
  }

  function make(resource: string, id: string, { type, feature, ...rest }: FeatureChange): boolean {
    const names = { resource, id, feature };
    let entry = stored.find((one) => isDeepStrictEqual({ ...one, expiresAt: 0 }, { ...names, expiresAt: 0 }));
    if (entry && !isLive(entry)) {
      drop(entry, "expired");
      entry = undefined;
    }
    if (type === "remove") {
      if (entry) drop(entry, "removed");
      return entry !== undefined;
    }
    const { expiresAt } = rest as Entry;
    if (entry && entry.expiresAt === expiresAt) return true;
    records.push({ type: "added", ...names, at: Date.now(), expiresAt });
    if (entry) entry.expiresAt = expiresAt;
    else stored.push({ ...names, expiresAt });
    return entry !== undefined;
  }

  return {
    live,
    entriesOf,
    records,
    list,
    /** Whether there are entries that have expired, whose expiry is not recorded. */
    hasDue: () => !stored.every(isLive),
    expire: () => {
      for (const entry of stored.filter((entry) => !isLive(entry))) drop(entry, "expired");
    },
    idsWith: (resource: string, feature: string) =>
      live()
        .filter((entry) => entry.resource === resource && entry.feature === feature)
        .map(({ id }) => id),
    change: (resource: string, id: string, changes: FeatureChange[], onlyIf?: string[]): ChangeOutcome =>
      onlyIf && !isDeepStrictEqual(list(resource, id), onlyIf)
        ? { rejected: "list differs" }
        : { had: changes.map((change) => make(resource, id, change)) },
  };
}

const characters = ["x", "é", "中", "💷"];
const ends = ["1", "2"];
const ofCharacters = (character: string, count: number) =>
  ends.map((end) => character.repeat(count - 1) + end);
const ofBytes = (character: string, bytes: number) => {
  const count = Math.floor((bytes - 1) / Buffer.byteLength(character));
  const begin = "-".repeat(bytes - 1 - count * Buffer.byteLength(character));
  return ends.map((end) => begin + character.repeat(count) + end);
};

const shortNames = [
  ...["a", "A", "a/a", "dark-mode", "é", "中", "💷", "of sixteen bytes", "%2F{1}/", "__proto__"],
];
/** Lengths around those at which a store or its engine may treat names differently. Each pair differs only at the end. */
const longNames = characters
  .flatMap((character) => [
    ...[63, 64, 120, 121, 256].flatMap((count) => ofCharacters(character, count)),
    ...[479, 480, 481].flatMap((bytes) => ofBytes(character, bytes)),
  ])
  .filter((name) => [...name].length <= 256);

/** Names, sometimes together with their hashes. */
const someNames = (maxLength: number) =>
  fc
    .record({
      names: fc.uniqueArray(fc.oneof(fc.constantFrom(...shortNames), fc.constantFrom(...longNames)), {
        minLength: 1,
        maxLength,
      }),
      areHashed: fc.boolean(),
    })
    .map(({ names, areHashed }) =>
      areHashed ? names.flatMap((name) => [name, hash("sha256", name, "base64url")]) : names,
    );

/** An index into names, reduced to their number by `oneOf`. */
const anyIndex = fc.nat(23);
const oneOf = (names: string[], index: number) => names[index % names.length] as string;

/** The conditions of a change for the list of its resource. Only the first two accept it. */
const conditions = {
  none: () => undefined,
  "its list": (list: string[]) => list,
  longer: (list: string[]) => [...list, "other"],
  shorter: (list: string[]) => list.slice(1),
  reversed: (list: string[]) => list.toReversed(),
};
type Condition = keyof typeof conditions;

/**
 * Changes after which a store saves the list of a resource for its history: a feature comes and goes many times, or there
 * are more features than records between two saved lists.
 */
const ofHistory = ["often", "of many 0", "of many 100"];
const series = fc.oneof(
  fc.constant([]),
  fc
    .integer({ min: 20, max: 70 })
    .map((count) => names(count).flatMap(() => [add("often"), remove("often")])),
  fc.integer({ min: 90, max: 130 }).map((count) => names(count).map((name) => add(`of many ${name}`))),
);

const hour = 3_600_000;
/** At most 24 changes: all that expire are recorded in one step. */
const scenario = fc.record({
  resources: someNames(2),
  ids: someNames(3),
  features: someNames(4),
  steps: fc.array(
    fc.record({
      resource: anyIndex,
      id: anyIndex,
      /** Milliseconds that pass before the change. */
      wait: fc.constantFrom(0, 0, 1, 10),
      /** Whether the feed is read before the change, which records what has expired. */
      looks: fc.boolean(),
      changes: fc.array(
        fc.record({
          type: fc.constantFrom("add", "add", "remove"),
          feature: anyIndex,
          expiresIn: fc.constantFrom(undefined, undefined, 0, 1, 10, hour),
        }),
        { maxLength: 3 },
      ),
      series,
      replaces: fc.boolean(),
      condition: fc.constantFrom<Condition[]>("none", ...(Object.keys(conditions) as Condition[])),
    }),
    { minLength: 1, maxLength: 8 },
  ),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer Generated> ? Generated : never;

const byResource = <One extends { resource: string; id: string }>(all: One[]) =>
  Map.groupBy(all, ({ resource, id }) => JSON.stringify([resource, id]));

/**
 * The records of each resource and of each feature, in order. Expiries that are recorded in one step are in no certain
 * order, so they are only among those of their features.
 */
const inOrder = (records: ChangeRecord[]) => ({
  ofResources: byResource(records.filter(({ type }) => type !== "expired")),
  ofFeatures: Map.groupBy(records, ({ resource, id, feature }) => JSON.stringify([resource, id, feature])),
});

const byName = (one: Entry, other: Entry) =>
  JSON.stringify([one.feature, one.id]) < JSON.stringify([other.feature, other.id]) ? -1 : 1;

/** All entries of the feed, page by page. */
async function feedOf(store: FeatureStore) {
  const all: FeedEntry[] = [];
  for (;;) {
    // The first pages are small.
    const limit = all.length < 100 ? 5 : 500;
    const page = (await store.changes(all.at(-1)?.cursor, limit)) ?? [];
    all.push(...page);
    if (page.length < limit) return all;
  }
}

/** All ids that had a feature, read in pages. */
export async function allIdsAt(
  history: History,
  resource: string,
  feature: string,
  at: number,
  limit: number,
) {
  const all: string[] = [];
  let after: string | undefined;
  do {
    const { ids, next } = await history.at(at).idsWith(resource, feature, after, limit);
    expect(ids.length).toBeLessThanOrEqual(limit);
    all.push(...ids);
    after = next;
  } while (after !== undefined);
  return all;
}

/** The records of a resource, read in pages. */
export async function allChanges(history: History, resource: string, id: string, limit: number) {
  const all: FeedEntry[] = [];
  for (;;) {
    const page = (await history.changes(resource, id, all.at(-1)?.cursor, limit)) ?? [];
    all.push(...page);
    if (page.length < limit) return all;
  }
}

/** Compares a store with the model over random names, changes and passing time; if it has a history, also its past. */
export async function compareWithModel(
  make: () => Promise<NewStore>,
  numRuns: number,
  parameters = "",
): Promise<void> {
  const property = fc.asyncProperty(scenario, async ({ resources, ids, features, steps }) => {
    await using store = await openNewStore(make, parameters);
    const { history } = store;
    const model = newModel();
    const past: { at: number; live: Entry[] }[] = [];
    /** Remembers the present instant, which is over when this returns. */
    function remember() {
      if (!history) return;
      past.push({ at: Date.now(), live: structuredClone(model.live()) });
      passTime(1);
    }
    const cursors: [cursor: string, records: number][] = [];
    async function look() {
      const cursor = await store.newest();
      model.expire();
      cursors.push([cursor, model.records.length]);
    }

    async function makeChange(step: Scenario["steps"][number]) {
      const resource = oneOf(resources, step.resource);
      const id = oneOf(ids, step.id);
      const list = model.list(resource, id);
      const changes = [
        ...(step.replaces ? list.map((feature) => ({ type: "remove" as const, feature })) : []),
        ...step.changes.map(({ type, feature, expiresIn }) => ({
          type,
          feature: oneOf(features, feature),
          ...(type === "add" && { expiresAt: expiresIn === undefined ? undefined : Date.now() + expiresIn }),
        })),
        ...(history ? step.series : []),
      ] as FeatureChange[];
      const change = [resource, id, changes, conditions[step.condition](list)] as const;
      expect(await store.change(...change)).toEqual(model.change(...change));
    }

    /** Compares names in use, read in pages of any size. One that has just expired everywhere may be among them. */
    async function compareNames(read: (limit: number) => Promise<string[]>, inUse: Set<string>) {
      const named = await read(999);
      expect(new Set(model.hasDue() ? named.filter((name) => inUse.has(name)) : named)).toEqual(inUse);
      for (const limit of [1, 2]) expect(await read(limit)).toEqual(named);
    }

    async function compareAnswers() {
      for (const resource of resources) {
        for (const id of ids) {
          expect(await store.list(resource, id)).toEqual(model.entriesOf(resource, id));
          const list = model.list(resource, id);
          const has = features.map((feature) => list.includes(feature));
          expect(await store.has(resource, id, features)).toEqual(has);
          expect(await store.has(resource, id, features.slice(0, 1))).toEqual(has.slice(0, 1));
        }
        const each = ids.map((id) => ({ resource, id }));
        const lists = ids.map((id) => model.list(resource, id));
        expect(await store.hasEach(each, features)).toEqual(
          lists.map((list) => features.map((feature) => list.includes(feature))),
        );
        for (const feature of features) {
          const found = await allIdsWith(store, resource, feature, 2);
          expect(found.sort()).toEqual(model.idsWith(resource, feature).sort());
        }
        const ofKind = model.live().filter((entry) => entry.resource === resource);
        const inUse = new Set(ofKind.map(({ feature }) => feature));
        await compareNames((limit) => allFeaturesInUse(store, resource, limit), inUse);
        const numbers = features.map((feature) => model.idsWith(resource, feature).length);
        expect(await store.counts(resource, features)).toEqual(numbers);
        for (const limit of [1, 3, 100]) {
          const found = await allEntriesOf(store, resource, limit);
          expect(found.sort(byName)).toEqual(ofKind.sort(byName));
        }
      }
      await compareNames(
        (limit) => allKinds(store, limit),
        new Set(model.live().map(({ resource }) => resource)),
      );
      const entries = await Array.fromAsync(store.entries());
      expect(byResource(entries)).toEqual(byResource(model.live()));
      expect(entries).toEqual([...byResource(entries).values()].flat());
    }

    async function comparePast(history: History, feed: FeedEntry[]) {
      const all = [...features, ...ofHistory];
      const changed = Map.groupBy(feed, ({ record: { resource, id } }) => JSON.stringify([resource, id]));
      // The cursor may be that of a change of another resource.
      const half = feed.slice(Math.floor(feed.length / 2));
      for (const [key, own] of changed) {
        const [resource, id] = JSON.parse(key);
        for (const limit of [7, 1000]) expect(await allChanges(history, resource, id, limit)).toEqual(own);
        const rest = half.slice(1).filter((entry) => own.includes(entry));
        expect(await history.changes(resource, id, half[0]?.cursor, 9999)).toEqual(rest);
        for (const { at, live } of [{ at: 0, live: [] }, ...past]) {
          const entries = live.filter((entry) => entry.resource === resource && entry.id === id);
          expect(await history.at(at).list(resource, id)).toEqual(entries);
          const has = all.map((feature) => entries.some((entry) => entry.feature === feature));
          expect(await history.at(at).has(resource, id, all)).toEqual(has);
        }
      }
      for (const [round, { at, live }] of past.entries()) {
        const [resource, feature] = [oneOf(resources, round), oneOf(all, round)];
        const found = await allIdsAt(history, resource, feature, at, 1 + (round % 3));
        const had = live.filter((entry) => entry.resource === resource && entry.feature === feature);
        expect(found.sort()).toEqual(had.map(({ id }) => id).sort());
      }
    }

    for (const step of steps) {
      remember();
      passTime(step.wait);
      if (step.looks) await look();
      remember();
      await makeChange(step);
    }
    remember();
    passTime(1);
    if (model.hasDue()) await compareAnswers();
    await look();
    await compareAnswers();
    const feed = await feedOf(store);
    const recordsOf = (some: FeedEntry[] = []) => inOrder(some.map(({ record }) => record));
    expect(recordsOf(feed)).toEqual(inOrder(model.records));
    if (history) await comparePast(history, feed);
    for (const index of [0, Math.floor(feed.length / 2), feed.length - 1]) {
      const cursor = feed[index]?.cursor;
      if (cursor !== undefined) expect(await store.changes(cursor, 9999)).toEqual(feed.slice(index + 1));
    }
    const isInTime = feed.every(({ record }, index) => (feed[index - 1]?.record.at ?? 0) <= record.at);
    for (const before of [1, 3, feed.length, feed.length + 1]) {
      const last = (await store.changes(await store.newest(before), 9999)) ?? [];
      expect(last).toHaveLength(Math.min(before, feed.length));
      if (isInTime) expect(last).toEqual(feed.slice(-before));
      // Which ones these are is approximate if a clock was set back, as the order of records of different resources is.
      expect(feed.map(({ record }) => record)).toEqual(
        expect.arrayContaining(last.map(({ record }) => record)),
      );
      expect(last.at(-1)?.cursor).toBe(feed.at(-1)?.cursor);
    }
    for (const [cursor, count] of cursors) {
      expect(recordsOf(await store.changes(cursor, 9999))).toEqual(inOrder(model.records.slice(count)));
      const before = await store.changes(undefined, 9999, cursor);
      expect(recordsOf(before)).toEqual(inOrder(model.records.slice(0, count)));
    }
  });
  stopClock();
  await fc.assert(property, { numRuns });
}
