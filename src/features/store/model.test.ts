import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { allEntriesOf, allIdsWith, describeOnStores, openNewStore } from "./new-store.fixture.ts";
import type { ChangeOutcome, ChangeRecord, Entry, FeatureChange, FeatureStore } from "./store.ts";

type TimelessRecord = Omit<ChangeRecord, "at">;

/** A simple model of a store. */
function newModel() {
  const entries: Entry[] = [];
  const records: TimelessRecord[] = [];
  const entriesOf = (resource: string, id: string) =>
    entries.filter((entry) => entry.resource === resource && entry.id === id);
  const list = (resource: string, id: string) => entriesOf(resource, id).map(({ feature }) => feature);

  function make(resource: string, id: string, change: FeatureChange): boolean {
    const entry = entriesOf(resource, id).find(({ feature }) => feature === change.feature);
    if (change.type === "remove") {
      if (!entry) return false;
      entries.splice(entries.indexOf(entry), 1);
      records.push({ type: "removed", resource, id, feature: change.feature });
      return true;
    }
    const { feature, expiresAt } = change;
    if (entry && entry.expiresAt === expiresAt) return true;
    records.push({ type: "added", resource, id, feature, expiresAt });
    if (entry) entry.expiresAt = expiresAt;
    else entries.push({ resource, id, feature, expiresAt });
    return entry !== undefined;
  }

  return {
    entries,
    entriesOf,
    records,
    list,
    idsWith: (resource: string, feature: string) =>
      entries.filter((entry) => entry.resource === resource && entry.feature === feature).map(({ id }) => id),
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

const shortNames = ["a", "kind", "dark-mode", "é", "中", "💷", "of sixteen bytes", "%2F{1}/"];
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

const later = Date.now() + 3_600_000;
const scenario = fc.record({
  resources: someNames(2),
  ids: someNames(3),
  features: someNames(4),
  steps: fc.array(
    fc.record({
      resource: anyIndex,
      id: anyIndex,
      changes: fc.array(
        fc.record({
          type: fc.constantFrom("add", "add", "remove"),
          feature: anyIndex,
          expiresAt: fc.constantFrom(undefined, later, later + 1),
        }),
        { maxLength: 3 },
      ),
      replaces: fc.boolean(),
      condition: fc.constantFrom("none", "its list", "another list"),
    }),
    { minLength: 1, maxLength: 12 },
  ),
});

const byResource = <One extends { resource: string; id: string }>(all: One[]) =>
  Map.groupBy(all, ({ resource, id }) => JSON.stringify([resource, id]));

const byName = (one: Entry, other: Entry) =>
  JSON.stringify([one.feature, one.id]) < JSON.stringify([other.feature, other.id]) ? -1 : 1;

/** All records after a cursor, page by page. */
async function recordsAfter(store: FeatureStore, cursor: string | undefined): Promise<TimelessRecord[]> {
  const all: TimelessRecord[] = [];
  for (let after = cursor; ; ) {
    const page = (await store.changes(after, 5)) ?? [];
    all.push(...page.map(({ record: { at: _, ...record } }) => record));
    if (page.length < 5) return all;
    after = page.at(-1)?.cursor;
  }
}

describeOnStores("a feature store compared with a model", (make) => {
  test("answers as the model does, whatever the names and the changes are", async () => {
    // Starts the server before the time limit of the property begins.
    await (await make())[Symbol.asyncDispose]();
    const property = fc.asyncProperty(scenario, async ({ resources, ids, features, steps }) => {
      await using store = await openNewStore(make);
      const model = newModel();
      const cursors: [cursor: string | undefined, records: number][] = [[undefined, 0]];
      for (const step of steps) {
        const resource = oneOf(resources, step.resource);
        const id = oneOf(ids, step.id);
        const list = model.list(resource, id);
        const changes: FeatureChange[] = [
          ...(step.replaces ? list.map((feature) => ({ type: "remove" as const, feature })) : []),
          ...step.changes.map(
            (change) => ({ ...change, feature: oneOf(features, change.feature) }) as FeatureChange,
          ),
        ];
        const conditions: Record<string, string[]> = { "its list": list, "another list": [...list, "other"] };
        const change = [resource, id, changes, conditions[step.condition]] as const;
        expect(await store.change(...change)).toEqual(model.change(...change));
        cursors.push([await store.newest(), model.records.length]);
      }
      for (const resource of resources) {
        for (const id of ids) {
          const list = model.list(resource, id);
          expect(await store.list(resource, id)).toEqual(model.entriesOf(resource, id));
          const has = features.map((feature) => list.includes(feature));
          expect(await store.has(resource, id, features)).toEqual(has);
        }
        for (const feature of features) {
          const found = await allIdsWith(store, resource, feature, 2);
          expect(found.sort()).toEqual(model.idsWith(resource, feature).sort());
          expect(await store.count(resource, feature)).toBe(found.length);
        }
        const ofKind = model.entries.filter((entry) => entry.resource === resource);
        const inUse = [...new Set(ofKind.map(({ feature }) => feature))].sort();
        expect((await store.featuresInUse(resource, 100)).sort()).toEqual(inUse);
        expect(await store.featuresInUse(resource, 1)).toHaveLength(Math.min(inUse.length, 1));
        for (const limit of [1, 3, 100]) {
          const found = await allEntriesOf(store, resource, limit);
          expect(found.sort(byName)).toEqual(ofKind.sort(byName));
        }
      }
      const entries = await Array.fromAsync(store.entries());
      expect(byResource(entries)).toEqual(byResource(model.entries));
      expect(entries).toEqual([...byResource(entries).values()].flat());
      for (const [cursor, count] of cursors) {
        const records = await recordsAfter(store, cursor);
        expect(byResource(records)).toEqual(byResource(model.records.slice(count)));
      }
    });
    await fc.assert(property, { numRuns: 30, interruptAfterTimeLimit: 5000 });
  });
});
