import { cp, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { open } from "lmdb";
import { expect, onTestFinished, test } from "vitest";
import { add, allIdsWith, calls, featuresOf, newLmdb, remove } from "../new-store.fixture.ts";
import { StoreFailure } from "../store.ts";
import { openFeatureStore } from "../stores.ts";

const folderOf = ({ url }: { url: string }) => decodeURI(url.slice("lmdb:".length));
const store = fileURLToPath(new URL("../stores.ts", import.meta.url));

test("removed features and deleted records leave no keys", async () => {
  await using made = await newLmdb();
  const keys = async (changes: number) => {
    {
      await using store = await openFeatureStore(`${made.url}?changes=${changes}`);
      for (let round = 0; round < 20; round++) {
        const feature = String(round);
        const additions = [1, 2].map((hours) => add(feature, Date.now() + hours * 3_600_000));
        await store.change("kind", "1", [...additions, remove(feature)]);
      }
    }
    const environment = open({ path: folderOf(made), noSubdir: false });
    const count = environment.getKeysCount();
    await environment.close();
    return count;
  };
  // The records, the log, the layout number, and the mark that uses are counted.
  expect(await keys(30)).toBe(33);
  expect(await keys(10)).toBe(13);
});

test("rejects the cursor of a change that a restored copy does not have, also when another change has its number", async () => {
  await using made = await newLmdb();
  const copy = `${folderOf(made)}-copy`;
  onTestFinished(() => rm(copy, { recursive: true, force: true }));
  const open = () => openFeatureStore(made.url);
  let kept: string;
  let lost: string;
  {
    await using store = await open();
    await store.change("kind", "1", [add("kept")]);
    kept = await store.newest();
  }
  await cp(folderOf(made), copy, { recursive: true });
  {
    await using store = await open();
    await store.change("kind", "1", [add("lost")]);
    lost = await store.newest();
  }
  await rm(folderOf(made), { recursive: true });
  await cp(copy, folderOf(made), { recursive: true });
  await using store = await open();
  expect(await store.changes(lost, 10)).toBeUndefined();
  await store.change("kind", "1", [add("other"), add("another")]);
  expect(await store.changes(lost, 10)).toBeUndefined();
  expect(await store.changes(kept, 10)).toHaveLength(2);
});

/** Rewrites a folder to the first layout: keys in the library's own encoding, no layout number, and no counted uses. */
async function rewriteToFirstLayout(path: string): Promise<void> {
  const read = open<unknown, Buffer>({ path, noSubdir: false, keyEncoding: "binary" });
  const values = [...read.getRange({})].map(({ key, value }) => [key.toString(), value] as const);
  await read.close();
  const environment = open<unknown, string>({ path, noSubdir: false });
  environment.clearSync();
  environment.transactionSync(() => {
    for (const [key, value] of values) {
      if (!/^(layout$|counted$|use\t|expiry\t)/.test(key)) void environment.put(key, value);
    }
  });
  await environment.close();
}

test("migrates a folder of the first layout without losing an entry", async () => {
  await using made = await newLmdb();
  const [one = "", other = ""] = ["1", "2"].map((end) => "中".repeat(161) + end);
  const features = ["dark-mode", "a", one, "x".repeat(100), other];
  const expiresAt = Date.now() + 60_000;
  const resources = [one, "customer", other].flatMap((resource) =>
    ["1", one, other].map((id) => [resource, id] as const),
  );
  {
    await using store = await openFeatureStore(made.url);
    const additions = features.map((feature) => add(feature, expiresAt));
    for (const [resource, id] of resources) await store.change(resource, id, additions);
  }
  await rewriteToFirstLayout(folderOf(made));
  // The first opening rewrites the keys, the second finds them rewritten.
  for (const removed of ["dark-mode", other]) {
    await using store = await openFeatureStore(made.url);
    for (const [resource, id] of resources) expect(await featuresOf(store, resource, id)).toEqual(features);
    expect(await Array.fromAsync(store.entries())).toHaveLength(resources.length * features.length);
    for (const feature of features) {
      expect((await allIdsWith(store, one, feature, 2)).sort()).toEqual(["1", one, other].sort());
      expect(await store.counts(one, [feature])).toEqual([3]);
    }
    expect((await store.featuresInUse("customer", undefined, 10)).sort()).toEqual(features.toSorted());
    for (const [resource, id] of resources)
      expect(await store.change(resource, id, [remove(removed)])).toEqual({ had: [true] });
    features.splice(features.indexOf(removed), 1);
    expect(await store.counts(one, [removed])).toEqual([0]);
    expect((await store.featuresInUse("customer", undefined, 10)).sort()).toEqual(features.toSorted());
  }
});

test("every method of a closed store rejects", async () => {
  await using made = await newLmdb();
  const closed = await openFeatureStore(made.url);
  await closed.change("kind", "1", [add("a")]);
  await closed[Symbol.asyncDispose]();
  for (const call of Object.values(calls)) await expect(call(closed)).rejects.toThrow(StoreFailure);
});

test("opening rejects if the folder is a file", async () => {
  await expect(openFeatureStore(`lmdb:${encodeURI(store)}`)).rejects.toThrow(
    /^the folder .* cannot be written: there is a file of this name$/,
  );
});
