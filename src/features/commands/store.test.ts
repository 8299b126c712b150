import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newFolder, run } from "../../../testing/run.ts";
import { add, describeOnSharedStores, featuresOf } from "../store/new-store.fixture.ts";
import { openFeatureStore } from "../store/stores.ts";

const store = (url: string, args: string[], folder: string, input = "") =>
  run("src/features/commands/store.ts", { args, folder, input, env: { FEATURES_STORE_URL: url } }).exit;
const expiry = "2037-01-01T00:00:00.000Z";

describeOnSharedStores("the command store", (make) => {
  test("exports entries that an import reproduces in order", async () => {
    await using made = await make();
    const folder = newFolder();
    const odd = { resource: "a/b", id: "💷".repeat(256), feature: "x\u2028y" };
    {
      await using from = await openFeatureStore(made.url);
      await from.change("customer", "42", [add("b"), add("a", Date.parse(expiry)), add("c")]);
      await from.change(odd.resource, odd.id, [add(odd.feature)]);
    }
    const exported = await store(made.url, ["export", "all.ndjson"], folder);
    expect(exported).toMatchObject({ code: 0, output: "exported 4 features to all.ndjson\n" });
    expect(readdirSync(folder)).toEqual(["all.ndjson"]);
    const lines = readFileSync(join(folder, "all.ndjson"), "utf8").trimEnd().split("\n");
    const entries = lines.map((line) => JSON.parse(line));
    expect(entries).toContainEqual(odd);
    expect(entries.filter(({ id }) => id === "42")).toEqual([
      { resource: "customer", id: "42", feature: "b" },
      { resource: "customer", id: "42", feature: "a", expires_at: expiry },
      { resource: "customer", id: "42", feature: "c" },
    ]);

    const other = `lmdb:${folder}/other`;
    for (const counts of ["4 added, 0 already present, 0 expired", "0 added, 4 already present, 0 expired"]) {
      const imported = await store(other, ["import", "all.ndjson"], folder);
      expect(imported).toMatchObject({ code: 0, output: `imported all.ndjson: ${counts}\n` });
    }
    const again = await store(other, ["export", "-"], folder);
    expect(again.output.trimEnd().split("\n").sort()).toEqual(lines.sort());
  });

  test("imports more than one batch into a store that is in use", async () => {
    await using made = await make();
    await using open = await openFeatureStore(made.url);
    const lines = Array.from({ length: 2345 }, (_, index) =>
      JSON.stringify({ resource: "kind", id: String(index % 3), feature: String(index) }),
    );
    const text = `${lines.join("\r\n")}\r\n\r\n`;
    const { code, output } = await store(made.url, ["import", "-"], newFolder(), text);
    expect([code, output]).toEqual([0, "imported -: 2,345 added, 0 already present, 0 expired\n"]);
    const expected = Array.from({ length: 782 }, (_, index) => String(index * 3));
    expect(await featuresOf(open, "kind", "0")).toEqual(expected);
    expect((await store(made.url, ["export", "-"], newFolder())).output.split("\n")).toHaveLength(2346);
  });
});

describe("the command store", () => {
  test("skips an expired feature", async () => {
    const folder = newFolder();
    const line = JSON.stringify({ resource: "a", id: "b", feature: "c", expires_at: "2001-01-01T00:00:00Z" });
    expect((await store("lmdb:s", ["import", "-"], folder, line)).output).toBe(
      "imported -: 0 added, 0 already present, 1 expired\n",
    );
    expect((await store("lmdb:s", ["export", "-"], folder)).output).toBe("");
  });

  test.each([
    ["{", "line 2 is not JSON"],
    ["[]", "line 2: the value must be an object; 0 features were imported\n"],
    ['{"resource":"a","id":"b","feature":"\\ud800"}', "line 2 has an unpaired surrogate"],
    ['{"resource":"a","id":"b"}', "line 2: feature is required"],
    [
      '{"resource":"a","id":"b","feature":""}',
      "line 2: feature must not be empty; 0 features were imported\n",
    ],
    ['{"resource":"a","id":"b","feature":"c","expires_at":"soon"}', "line 2: expires_at must be an instant"],
    [
      '{"resource":"a","id":"b","feature":"c","x":1}',
      "line 2: x is unknown; known: resource, id, feature, expires_at",
    ],
  ])("reports the number of a line that cannot be imported: %s", async (line, message) => {
    const good = '{"resource":"a","id":"b","feature":"c"}';
    const { code, errors } = await store("lmdb:s", ["import", "-"], newFolder(), `\n${line}\n${good}\n`);
    expect(code).toBe(1);
    expect(errors).toContain(`store: ${message}`);
    expect(errors).toContain("features were imported");
  });

  test.each([
    ["lmdb:s", [], "expected export or import"],
    ["lmdb:s", ["export"], "expected export or import"],
    ["lmdb:s", ["import", "a", "b"], "expected export or import"],
    ["lmdb:s", ["exprot", "a"], "expected export or import"],
    ["lmdb:s", ["export", "a", "--all"], "--all"],
    ["memory:", ["export", "a"], "FEATURES_STORE_URL is memory:, which no other process can read\n"],
  ])("with %s, exits with 2 for the arguments %j", async (url, args, message) => {
    const { code, errors } = await store(url, args, newFolder());
    expect(code).toBe(2);
    expect(errors).toContain(message);
  });

  test("reports a file that cannot be written or read, and leaves no incomplete file", async () => {
    const folder = newFolder();
    const unwritable = await store("lmdb:s", ["export", "no/such/file"], folder);
    expect(unwritable.code).toBe(1);
    expect(unwritable.errors).toContain("no/such/file");
    const unreadable = await store("lmdb:s", ["import", "nothing"], folder);
    expect(unreadable.code).toBe(1);
    expect(unreadable.errors).toContain("nothing");
    writeFileSync(join(folder, "file"), "original");
    expect((await store("lmdb:file", ["export", "a"], folder)).code).toBe(1);
    // An existing file is replaced only by a complete one.
    for (const name of ["taken", "file.part"]) mkdirSync(join(folder, name));
    for (const file of ["taken", "file"]) {
      expect((await store("lmdb:s", ["export", file], folder)).code).toBe(1);
    }
    expect(readFileSync(join(folder, "file"), "utf8")).toBe("original");
    expect(readdirSync(folder).sort()).toEqual(["file", "file.part", "s", "taken"]);
  });

  test("reports the line of a resource that would have too many features", async () => {
    const lines = Array.from({ length: 1502 }, (_, index) =>
      JSON.stringify({ resource: "kind", id: index < 1501 ? "1" : "2", feature: String(index) }),
    );
    const { code, errors } = await store("lmdb:s", ["import", "-"], newFolder(), lines.join("\n"));
    expect(code).toBe(1);
    expect(errors).toContain(
      "store: line 1001: kind/1 would have more than 1,000 features, the maximum; 1,000 features were imported\n",
    );
  });

  test("can be stopped during an import", async () => {
    const folder = newFolder();
    const lines = Array.from({ length: 200_000 }, (_, id) => `{"resource":"a","id":"${id}","feature":"c"}\n`);
    writeFileSync(join(folder, "many.ndjson"), lines.join(""));
    const importing = run("src/features/commands/store.ts", {
      args: ["import", "many.ndjson"],
      folder,
      env: { FEATURES_STORE_URL: "lmdb:s" },
    });
    await expect.poll(() => readdirSync(folder)).toContain("s");
    importing.child.kill("SIGINT");
    const { code, errors } = await importing.exit;
    expect(code).toBe(1);
    const [, count = ""] = /store: stopped; ([\d,]+) features were imported/.exec(errors) ?? [];
    const exported = await store("lmdb:s", ["export", "-"], folder);
    expect(exported.output.split("\n")).toHaveLength(Number(count.replaceAll(",", "")) + 1);
  });

  test("can be stopped while it waits for input", async () => {
    const folder = newFolder();
    const lines = Array.from({ length: 1000 }, (_, id) => `{"resource":"a","id":"${id}","feature":"c"}\n`);
    const importing = run("src/features/commands/store.ts", {
      args: ["import", "-"],
      folder,
      env: { FEATURES_STORE_URL: "lmdb:s" },
      input: lines.join(""),
      keepInputOpen: true,
    });
    await using open = await openFeatureStore(`lmdb:${folder}/s`);
    await expect.poll(() => open.has("a", "999", ["c"])).toEqual([true]);
    importing.child.kill("SIGINT");
    const { code, errors } = await importing.exit;
    expect(code).toBe(1);
    expect(errors).toContain("store: stopped; 1,000 features were imported\n");
  });
});
