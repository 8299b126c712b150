import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { open } from "lmdb";
import { expect, test } from "vitest";
import { allIdsWith, newLmdb } from "./new-store.fixture.ts";
import { openFeatureStore, StoreFailure } from "./store.ts";

const folderOf = ({ url }: { url: string }) => decodeURI(url.slice("lmdb:".length));
const store = fileURLToPath(new URL("store.ts", import.meta.url));

/** Runs a program on the store at a URL, whose files may not be larger than so many KiB. */
async function runWithin(kibibytes: number, url: string, program: string): Promise<string> {
  const open = `import { openFeatureStore } from ${JSON.stringify(store)};
    const store = await openFeatureStore(process.argv[1]);`;
  const args = [process.execPath, "--input-type=module", "--eval", open + program, url];
  const limited = ["-c", `ulimit -f ${2 * kibibytes}; exec "$0" "$@"`, ...args];
  const child = spawn("sh", limited, { stdio: ["ignore", "pipe", "ignore"] });
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(code).toBe(0);
  return said;
}

test("a disk that is full fails changes and nothing else, and what was answered is kept", async () => {
  await using made = await newLmdb();
  const said = await runWithin(
    1000,
    made.url,
    `
    let answered = 0;
    const messages = [];
    while (messages.length < 3) {
      await store.change("kind", String(answered), [{ type: "add", feature: "a" }]).then(
        () => { answered += 1; },
        (error) => { messages.push(error.constructor.name + ": " + error.message); },
      );
    }
    console.log(JSON.stringify({
      answered,
      messages,
      has: await store.has("kind", "0", "a"),
      hasNext: await store.has("kind", String(answered), "a"),
    }));
    await store[Symbol.asyncDispose]();`,
  );
  const { answered, messages, has, hasNext } = JSON.parse(said);
  expect(new Set(messages)).toEqual(
    new Set([expect.stringMatching(/^StoreFailure: the store failed: .*File too large/)]),
  );
  expect({ has, hasNext }).toEqual({ has: true, hasNext: false });
  expect(answered).toBeGreaterThan(100);
  await using again = await openFeatureStore(made.url);
  expect(await Array.fromAsync(again.entries())).toHaveLength(answered);
  expect(await again.change("kind", "more", [{ type: "add", feature: "a" }])).toEqual([false]);
});

test("what is removed and what is forgotten leaves nothing behind", async () => {
  await using made = await newLmdb();
  const keys = async (changes: number) => {
    {
      await using store = await openFeatureStore(`${made.url}?changes=${changes}`);
      for (let round = 0; round < 20; round++) {
        const feature = String(round);
        await store.change("kind", "1", [
          { type: "add", feature, expiresAt: Date.now() + 60_000 },
          { type: "add", feature, expiresAt: Date.now() + 70_000 },
          { type: "remove", feature },
        ]);
      }
    }
    const environment = open({ path: folderOf(made), noSubdir: false });
    const count = environment.getKeysCount();
    await environment.close();
    return count;
  };
  // The changes, the log of which there are, and the layout.
  expect(await keys(30)).toBe(32);
  expect(await keys(10)).toBe(12);
});

/** Gives a folder the keys that the library makes of the same texts by itself, as stores had before their layout was told. */
async function giveKeysOfLibrary(path: string): Promise<void> {
  const read = open<unknown, Buffer>({ path, noSubdir: false, keyEncoding: "binary" });
  const kept = [...read.getRange({})].map(({ key, value }) => [key.toString(), value] as const);
  await read.close();
  const written = open<unknown, string>({ path, noSubdir: false });
  written.clearSync();
  written.transactionSync(() => {
    for (const [key, value] of kept) if (key !== "layout") void written.put(key, value);
  });
  await written.close();
}

test("loses nothing of a folder whose keys are of the library's own encoding", async () => {
  await using made = await newLmdb();
  const [one = "", other = ""] = ["1", "2"].map((end) => "中".repeat(161) + end);
  const features = ["dark-mode", "a", one, "x".repeat(100), other];
  const expiresAt = Date.now() + 60_000;
  const places = [one, "customer", other].flatMap((resource) =>
    ["1", one, other].map((id) => [resource, id] as const),
  );
  {
    await using store = await openFeatureStore(made.url);
    for (const [resource, id] of places) {
      await store.change(
        resource,
        id,
        features.map((feature) => ({ type: "add", feature, expiresAt })),
      );
    }
  }
  await giveKeysOfLibrary(folderOf(made));
  // Once it is rewritten, once it is as it should be.
  for (const removed of ["dark-mode", other]) {
    await using store = await openFeatureStore(made.url);
    for (const [resource, id] of places) expect(await store.list(resource, id)).toEqual(features);
    expect(await Array.fromAsync(store.entries())).toHaveLength(places.length * features.length);
    for (const feature of features) {
      expect((await allIdsWith(store, one, feature, 2)).sort()).toEqual(["1", one, other].sort());
    }
    for (const [resource, id] of places) {
      expect(await store.change(resource, id, [{ type: "remove", feature: removed }])).toEqual([true]);
    }
    features.splice(features.indexOf(removed), 1);
  }
});

test("a store that is closed fails whatever it is asked", async () => {
  await using made = await newLmdb();
  const closed = await openFeatureStore(made.url);
  await closed.change("kind", "1", [{ type: "add", feature: "a" }]);
  await closed[Symbol.asyncDispose]();
  for (const asked of [
    () => closed.has("kind", "1", "a"),
    () => closed.list("kind", "1"),
    () => closed.idsWith("kind", "a", undefined, 10),
    () => closed.changes(undefined, 10),
    () => closed.newest(),
    () => closed.change("kind", "1", [{ type: "remove", feature: "a" }]),
    () => Array.fromAsync(closed.entries()),
  ]) {
    await expect(asked()).rejects.toThrow(StoreFailure);
  }
});

test("is kept in the folder that its URL names, percent-encoded", async () => {
  await using made = await newLmdb();
  await using _store = await openFeatureStore(made.url);
  expect(readdirSync(folderOf(made)).sort()).toEqual(["data.mdb", "lock.mdb"]);
});

test("a folder that cannot be one is told at opening", async () => {
  await expect(openFeatureStore(`lmdb:${encodeURI(store)}`)).rejects.toThrow(
    /^the store failed: EEXIST: file already exists/,
  );
});
