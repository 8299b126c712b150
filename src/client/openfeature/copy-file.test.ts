import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as afterThisTurn } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { ChangeRecord } from "../change-stream.ts";
import { applyChanges, type Copy } from "./copy.ts";
import { readCopy, writeCopy } from "./copy-file.ts";
import { emptyEntries } from "./entries.ts";

const origin = { baseUrl: "http://127.0.0.1:8080/", kinds: ["customer", "shop"] };
const emptyCopy = (): Copy => ({ entries: emptyEntries(origin.kinds), cursor: "0", currentAt: 0 });

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "copy-"));
  file = join(folder, "copy.json");
});

const added = (id: number, more: Partial<ChangeRecord> = {}): ChangeRecord => ({
  ...{ cursor: String(id), at: "", type: "added", resource: "customer", id: `\u2028 ${id}`, feature: "dark" },
  ...more,
});
const records = [
  ...Array.from({ length: 150 }, (_, index) => added(index)),
  added(150, { expires_at: "2037-03-05T09:14:22.018Z" }),
  added(151, { resource: "shop", feature: "__proto__" }),
];

/** A copy with the changes of these records. */
function copyOf(given: ChangeRecord[]): Copy {
  const copy = emptyCopy();
  applyChanges(copy, given, () => {});
  return copy;
}

test("a copy that was written is read as it was", async () => {
  const copy = copyOf(records);
  await writeCopy(file, origin, copy);
  const { entries, cursor } = (await readCopy(file, origin)) as Copy;
  expect({ entries, cursor }).toEqual({ entries: copy.entries, cursor: "151" });
  expect(await readCopy(join(folder, "missing"), origin)).toBeUndefined();
});

test.each<[damage: string, (content: string) => string]>([
  ["is empty", () => ""],
  ["is no copy", () => "hello\nworld"],
  ["is another JSON document", () => "null\n"],
  ["has another version", (content) => content.replace('"version":1', '"version":2')],
  ["is a copy of another service", (content) => content.replace(/:\d+\//, ":1/")],
  ["is a copy of other kinds", (content) => content.replace('["customer","shop"]', '["customer"]')],
  ["lacks its last line", (content) => content.trimEnd().replace(/\n[^\n]*$/, "\n")],
  ["ends in the middle", (content) => content.slice(0, content.length / 2)],
  ["has a changed letter", (content) => content.replace("\u2028 77", "\u2028 78")],
  ["has a changed cursor", (content) => content.replace(/"cursor":"\w/, '"cursor":"_')],
  ["has a line that is null", (content) => content.replace("\n", "\nnull\n")],
  ["has a line after its end", (content) => `${content}{}\n`],
])("a file that %s is rejected", async (_damage, change) => {
  await writeCopy(file, origin, copyOf(records));
  const content = await readFile(file, "utf8");
  expect(change(content)).not.toBe(content);
  await writeFile(file, change(content));
  await expect(readCopy(file, origin)).rejects.toThrow(/^its first line is not|^it is damaged$/);
});

test("a file has the state of one moment, although the copy changes while it is written", async () => {
  const copy = emptyCopy();
  const made: ChangeRecord[] = [];
  const makeChange = () => {
    const cursor = made.length + 1;
    const id = String((cursor * 7_919) % 30_011);
    const type = cursor % 3 === 0 && cursor > 30_011 ? "removed" : "added";
    made.push(added(cursor, { type, id, feature: `feature ${cursor % 4}` }));
    applyChanges(copy, made.slice(-1), () => {});
  };
  while (made.length < 60_000) makeChange();
  let isWriting = true;
  const writing = writeCopy(file, origin, copy).finally(() => {
    isWriting = false;
  });
  while (isWriting) {
    for (let index = 0; index < 20; index++) makeChange();
    await afterThisTurn();
  }
  await writing;
  const read = (await readCopy(file, origin)) as Copy;
  const cursor = Number(read.cursor);
  expect(cursor).toBeGreaterThan(60_000);
  expect(cursor).toBeLessThan(made.length);
  expect(read.entries).toEqual(copyOf(made.slice(0, cursor)).entries);
  expect(copy.recorded).toBeUndefined();
});
