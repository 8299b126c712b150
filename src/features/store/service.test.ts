import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { pagesAt, startFeatures } from "../tests/features.fixture.ts";
import {
  describeOnSharedStores,
  describeOnStores,
  type NewStore,
  openNewStore,
  passTime,
  stopClock,
} from "./new-store.fixture.ts";
import { openFeatureStore } from "./stores.ts";

type Names = [resource: string, id: string, feature: string];

const pathOf = (...names: string[]) => names.map((name) => `/${encodeURIComponent(name)}`).join("");
const contextOf = ([resource, id]: Names) => ({ targetingKey: pathOf(resource, id).slice(1) });
const additionOf = ([resource, id, feature]: Names) => ({ type: "add", resource, id, feature });

/** A service and what a caller asks it about features. */
function callerOf(service: Awaited<ReturnType<typeof startFeatures>>) {
  const read = async (path: string) => JSON.parse((await service.request("GET", path)).text);
  async function post(path: string, body: object) {
    const { status, text } = await service.request("POST", path, { body });
    expect([path, status, text]).toEqual([path, 200, text]);
    return JSON.parse(text);
  }
  return {
    ...service,
    read,
    post,
    add: (...all: Names[]) => post("/changes", { changes: all.map(additionOf) }),
    /** Each operation that shows whether a resource has a feature, with what it shows of these names. */
    async shown(names: Names): Promise<Record<string, boolean>> {
      const [resource, id, feature] = names;
      const list = await read(`/features${pathOf(resource, id)}`);
      const { features } = await read(`/resources${pathOf(resource, id)}`);
      const { results } = await post("/query", { resources: [{ resource, id }], features: [feature] });
      const kind = `/features${pathOf(resource)}?feature=${encodeURIComponent(feature)}&limit=2`;
      const ofFeature = await pagesAt(read, kind);
      const all = await pagesAt(read, `/features?resource=${encodeURIComponent(resource)}&limit=3`);
      const entries: object[] = all.flatMap((page: { entries: object[] }) => page.entries);
      const { changes } = await read(`/resources${pathOf(resource, id)}/changes`);
      const flags = "/ofrep/v1/evaluate/flags";
      const flag = await post(`${flags}${pathOf(feature)}`, { context: contextOf(names) });
      const bulk = await post(flags, { context: { resource, id } });
      const isFlag = (one: { key: string; value: boolean }) => one.key === feature && one.value;
      const isNamed = (one: object) => {
        const { resource: kind, id: identifier, feature: name } = one as Record<string, string>;
        return kind === resource && identifier === id && name === feature;
      };
      return {
        hasFeature: (await read(`/features${pathOf(...names)}`)).result,
        listFeatures: list.includes(feature),
        getResource: features.some((one: { feature: string }) => one.feature === feature),
        hasFeatures: results[0].has[0],
        listResources: ofFeature.some((page: { ids: string[] }) => page.ids.includes(id)),
        listEntries: entries.some(isNamed),
        listResourceChanges: changes.some(isNamed),
        evaluateFlag: flag.value,
        evaluateFlags: bulk.flags.some(isFlag),
      };
    },
  };
}

const everywhere = (value: boolean) =>
  expect.toSatisfy((shown: Record<string, boolean>) => {
    const values = Object.values(shown);
    return values.length === 9 && values.every((one) => one === value);
  }, `${value} in every response`);

/** Starts a service on a new store, until the end of the test. */
async function startOn(make: () => Promise<NewStore>) {
  const disposables = new AsyncDisposableStack();
  onTestFinished(() => disposables.disposeAsync());
  const store = disposables.use(await openNewStore(make));
  return callerOf(disposables.use(await startFeatures({ store })));
}

/** Pairs of names that some comparison without letter case, or after a normalization, takes for one. */
const alike = [
  ["beta", "Beta"],
  ["s", "ſ"],
  ["k", "\u212A"],
  ["é", "e\u0301"],
  ["Å", "\u212B"],
  ["ß", "ss"],
  ["ß", "ẞ"],
  ["i", "İ"],
  ["ı", "i"],
  ["ﬁ", "fi"],
  ["σ", "ς"],
  ["a", "ａ"],
  ["1", "１"],
  ["x", "x "],
  ["x", "x\u200B"],
] as const;

/** All ways to join neighbours among some parts with a separator until there are three names. */
function namesOf(parts: string[], separator: string): Names[] {
  const all: Names[] = [];
  for (let first = 1; first < parts.length - 1; first += 1) {
    for (let second = first + 1; second < parts.length; second += 1) {
      const places = [parts.slice(0, first), parts.slice(first, second), parts.slice(second)];
      all.push(places.map((place) => place.join(separator)) as Names);
    }
  }
  return all;
}

const separators = [
  ...["", "/", ":", ",", "|", " ", "-", "_", "~", "=", "&", "?", "#", ";", "+", "*", "%", "%2F", "%00", "\\"],
  ...[
    '"',
    '","',
    "'",
    "\\t",
    "\\u0000",
    "{",
    "}",
    "{0/16}",
    "[",
    "(",
    ")",
    "\u00A0",
    "\u2028",
    "..",
    "::",
    "/./",
  ],
];
const someNames = fc
  .record({
    parts: fc.array(fc.constantFrom("a", "b", "A", "1", "é", "💷"), { minLength: 4, maxLength: 5 }),
    separator: fc.constantFrom(...separators),
    areAdded: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
  })
  .map(({ parts, separator, areAdded }) => ({ all: namesOf(parts, separator), areAdded }));

describeOnStores("a service on a feature store", (make) => {
  test("returns a result for each of equal checks and changes in one request, in its place", async () => {
    const { add, post, read, request } = await startOn(make);
    const one = { resource: "kind", id: "1" };
    const feature = { ...one, feature: "a" };
    const changes = ["add", "add", "remove", "remove", "add", "add"].map((type) => ({ type, ...feature }));
    const other = { type: "add", resource: "kind", id: "2", feature: "a" };
    const { results } = await post("/changes", { changes: [other, ...changes, other] });
    const changed = [true, true, false, true, false, true, false, false];
    expect(results).toEqual(changed.map((is) => ({ changed: is })));
    const removals = await post("/changes", {
      changes: [
        { ...other, type: "remove" },
        { type: "add", ...feature },
        { ...other, type: "remove" },
      ],
    });
    expect(removals.results).toEqual([true, false, false].map((is) => ({ changed: is })));
    await add(["kind", "1", "b"]);
    const resources = [one, { resource: "kind", id: "2" }, one, one];
    const query = await post("/query", { resources, features: ["b", "a", "x", "a", "b", "x"] });
    const [has, none] = [[true, true, false, true, true, false], Array(6).fill(false)];
    expect(query.results).toEqual(
      [has, none, has, has].map((own, index) => ({ ...resources[index], has: own })),
    );
    const headers = { "if-match": "*" };
    const replaced = await request("PUT", "/features/kind/1", { headers, body: ["c", "a", "c"] });
    expect([replaced.status, await read("/features/kind/1")]).toEqual([400, ["a", "b"]]);
    const bulk = await post("/ofrep/v1/evaluate/flags", { context: { targetingKey: "kind/1" } });
    expect(bulk.flags.map(({ key }: { key: string }) => key)).toEqual(["a", "b"]);
  });

  test("takes names that are equal only without letter case, or in another form of Unicode, for different ones", async () => {
    const service = await startOn(make);
    for (const [index, pair] of alike.entries()) {
      for (const place of [0, 1, 2]) {
        const others = Array<string>(3).fill(`name ${index}`);
        const [present, absent] = pair.map((name) => others.with(place, name)) as [Names, Names];
        await service.add(present);
        expect([present, await service.shown(present)]).toEqual([present, everywhere(true)]);
        expect([absent, await service.shown(absent)]).toEqual([absent, everywhere(false)]);
      }
    }
  });

  test("takes names for different ones that are equal when joined, whatever the separator is", async () => {
    const property = fc.asyncProperty(someNames, async ({ all, areAdded }) => {
      await using store = await openNewStore(make);
      await using started = await startFeatures({ store });
      const service = callerOf(started);
      const added = all.filter((_, index) => areAdded[index]);
      if (added.length > 0) await service.add(...added);
      const keys = new Set(added.map((names) => JSON.stringify(names)));
      for (const names of all) {
        const isAdded = keys.has(JSON.stringify(names));
        expect([names, await service.shown(names)]).toEqual([names, everywhere(isAdded)]);
      }
    });
    await fc.assert(property, { numRuns: 6 });
  });

  test("returns a page for the cursor of any text, as if it followed one of the list", async () => {
    const { add, request } = await startOn(make);
    await add(["kind", "1", "a"], ["other", "1", "b"], ["kind", "1", "b"]);
    const texts = ["\u0000", "1\t", "1\u0000", "\uFFFF", "x".repeat(1000), "zz\nother\t1"];
    for (const text of texts) {
      const cursor = Buffer.from(text).toString("base64url");
      const { status, text: page } = await request("GET", `/features/kind?feature=a&cursor=${cursor}`);
      expect([text, status, JSON.parse(page).ids.filter((id: string) => id !== "1")]).toEqual([
        text,
        200,
        [],
      ]);
      for (const names of [
        [text, "1"],
        ["a", text],
        ["\uD800", "1"],
        ["a", "\uD800"],
      ]) {
        const ofEntries = Buffer.from(JSON.stringify(names)).toString("base64url");
        const entries = await request("GET", `/features?resource=kind&cursor=${ofEntries}`);
        expect([names, entries.status, entries.text.includes("other")]).toEqual([names, 200, false]);
      }
    }
  });
});

describeOnSharedStores("two services on one feature store", (make) => {
  async function startTwo() {
    const disposables = new AsyncDisposableStack();
    onTestFinished(() => disposables.disposeAsync());
    const { url } = disposables.use(await make());
    const start = async () => {
      const store = disposables.use(await openFeatureStore(url));
      return callerOf(disposables.use(await startFeatures({ store })));
    };
    return [await start(), await start()] as const;
  }
  const names: Names = ["kind", "1", "a"];

  test("show each other's changes at once, in every response, also to who has an earlier one", async () => {
    const [one, other] = await startTwo();
    await one.add(["kind", "1", "b"]);
    const paths = ["/features/kind/1", "/features/kind?feature=a"];
    const etagsOf = async ({ request }: typeof one) =>
      Promise.all(paths.map(async (path) => String((await request("GET", path)).headers.etag)));
    const without = await etagsOf(other);
    for (let round = 0; round < 3; round += 1) {
      await other.add(names);
      expect((await one.shown(names)).listFeatures).toBe(true);
      const shown = await one.shown(names);
      expect(shown).toEqual(everywhere(true));
      const present = await etagsOf(one);
      await one.request("DELETE", `/features${pathOf(...names)}`);
      const { listResourceChanges: _, ...absent } = await other.shown(names);
      expect(new Set(Object.values(absent))).toEqual(new Set([false]));
      for (const [index, path] of paths.entries()) {
        const ask = (etag = "") => other.request("GET", path, { headers: { "if-none-match": etag } });
        expect([path, (await ask(present[index])).status]).toEqual([path, 200]);
        // The list is again as it was, and so is its entity tag.
        expect([path, (await ask(without[index])).status]).toEqual([path, 304]);
      }
    }
  });

  test("show no feature that has expired, whoever added it and has read it", async () => {
    const [one, other] = await startTwo();
    stopClock();
    const expires_at = new Date(Date.now() + 50).toISOString();
    await one.post("/changes", { changes: [{ ...additionOf(names), expires_at }] });
    expect(await other.shown(names)).toEqual(everywhere(true));
    const { headers } = await other.request("GET", "/features/kind/1");
    passTime(50);
    for (const service of [one, other]) {
      const { listResourceChanges: _, ...shown } = await service.shown(names);
      expect(new Set(Object.values(shown))).toEqual(new Set([false]));
      const known = { "if-none-match": String(headers.etag) };
      expect((await service.request("GET", "/features/kind/1", { headers: known })).status).toBe(200);
    }
  });
});
