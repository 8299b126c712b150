import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { open } from "lmdb";
import { expect, test } from "vitest";
import { allIdsWith, calls, featuresOf, newLmdb } from "./new-store.fixture.ts";
import { openFeatureStore, StoreFailure } from "./store.ts";

const folderOf = ({ url }: { url: string }) => decodeURI(url.slice("lmdb:".length));
const store = fileURLToPath(new URL("store.ts", import.meta.url));

/** Runs a program on the store at a URL, with a limit for the size of a file. Resolves with its output. */
async function runWithFileLimit(kibibytes: number, url: string, program: string): Promise<string> {
  const open = `import { openFeatureStore } from ${JSON.stringify(store)};
    const store = await openFeatureStore(process.argv[1]);`;
  const args = [process.execPath, "--input-type=module", "--eval", open + program, url];
  const limited = ["-c", `ulimit -f ${2 * kibibytes}; exec "$0" "$@"`, ...args];
  const child = spawn("sh", limited, { stdio: ["ignore", "pipe", "ignore"] });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(code).toBe(0);
  return output;
}

test("if the files cannot grow, changes fail, reads continue, and answered changes are kept", async () => {
  await using made = await newLmdb();
  const output = await runWithFileLimit(
    400,
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
      has: await store.has("kind", "0", ["a"]),
      hasNext: await store.has("kind", String(answered), ["a"]),
    }));
    await store[Symbol.asyncDispose]();`,
  );
  const { answered, messages, has, hasNext } = JSON.parse(output);
  // The library reports a write that was cut short as an input/output error.
  const failure = /^StoreFailure: the store failed: .*(File too large|Input\/output error)/;
  expect(messages.filter((message: string) => !failure.test(message))).toEqual([]);
  expect({ has, hasNext }).toEqual({ has: [true], hasNext: [false] });
  expect(answered).toBeGreaterThan(100);
  await using again = await openFeatureStore(made.url);
  expect(await Array.fromAsync(again.entries())).toHaveLength(answered);
  expect(await again.change("kind", "more", [{ type: "add", feature: "a" }])).toEqual({ had: [false] });
});

test("removed features and deleted records leave no keys", async () => {
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
  // The records, the log, the layout number, and the mark that uses are counted.
  expect(await keys(30)).toBe(33);
  expect(await keys(10)).toBe(13);
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
    for (const [resource, id] of resources) {
      await store.change(
        resource,
        id,
        features.map((feature) => ({ type: "add", feature, expiresAt })),
      );
    }
  }
  await rewriteToFirstLayout(folderOf(made));
  // The first opening rewrites the keys, the second finds them rewritten.
  for (const removed of ["dark-mode", other]) {
    await using store = await openFeatureStore(made.url);
    for (const [resource, id] of resources) expect(await featuresOf(store, resource, id)).toEqual(features);
    expect(await Array.fromAsync(store.entries())).toHaveLength(resources.length * features.length);
    for (const feature of features) {
      expect((await allIdsWith(store, one, feature, 2)).sort()).toEqual(["1", one, other].sort());
      expect(await store.count(one, feature)).toBe(3);
    }
    expect((await store.featuresInUse("customer", 10)).sort()).toEqual(features.toSorted());
    for (const [resource, id] of resources) {
      expect(await store.change(resource, id, [{ type: "remove", feature: removed }])).toEqual({
        had: [true],
      });
    }
    features.splice(features.indexOf(removed), 1);
    expect(await store.count(one, removed)).toBe(0);
    expect((await store.featuresInUse("customer", 10)).sort()).toEqual(features.toSorted());
  }
});

test("every method of a closed store rejects", async () => {
  await using made = await newLmdb();
  const closed = await openFeatureStore(made.url);
  await closed.change("kind", "1", [{ type: "add", feature: "a" }]);
  await closed[Symbol.asyncDispose]();
  for (const call of Object.values(calls)) {
    await expect(call(closed)).rejects.toThrow(StoreFailure);
  }
});

test("the URL names the folder of the files, percent-encoded", async () => {
  await using made = await newLmdb();
  await using _store = await openFeatureStore(made.url);
  expect(readdirSync(folderOf(made)).sort()).toEqual(["data.mdb", "lock.mdb"]);
});

test("opening rejects if the folder is a file", async () => {
  await expect(openFeatureStore(`lmdb:${encodeURI(store)}`)).rejects.toThrow(
    /^the store failed: EEXIST: file already exists/,
  );
});
