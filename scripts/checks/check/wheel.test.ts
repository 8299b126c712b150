import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../testing/project.ts";
import { checksAsMarkdown } from "./report.ts";
import { type Check, circles, gate, nightlyOnly, wheel } from "./table.ts";
import { seedOf, takeFrom } from "./wheel.ts";

const checks = [...gate, ...wheel, ...nightlyOnly];
const spoke = (name: string, minutes: number, paths: string[] = [], isAlone = false): Check => ({
  ...{ name, covers: "", command: "true", needs: [] },
  ...{ minutes, paths, isAlone },
});
const commits = Array.from({ length: 1000 }, (_, index) => seedOf(String(index), "commit").toString(16));
const namesOf = (taken: { check: Check }[]) => taken.map(({ check }) => check.name);

test("every name in the table is unique", () => {
  expect(checks.map(({ name }) => name)).toEqual([...new Set(checks.map(({ name }) => name))]);
});

test.each([...gate, ...wheel])(
  "$name: its paths exist and it takes at most 5 minutes",
  ({ paths, minutes }) => {
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(minutes).toBeLessThanOrEqual(5);
  },
);

test("docs/checks.md is what npm run check -- --list prints", async () => {
  expect(await readFile(join(root, "docs/checks.md"), "utf8")).toBe(checksAsMarkdown(circles));
});

test("the wheel takes what the change touches, and two others", () => {
  const spokes = [
    spoke("touched", 1, ["src/ledger"]),
    spoke("file", 1, ["src/main.ts"]),
    spoke("longer name", 1, ["src/led"]),
    ...["one", "two", "three"].map((name) => spoke(name, 5)),
  ];
  for (const commit of commits.slice(0, 50)) {
    const taken = takeFrom(spokes, { commit, files: ["src/ledger/app.ts", "src/main.ts"] }, 1);
    expect(taken).toHaveLength(2);
    const enough = takeFrom(spokes, { commit, files: ["src/ledger/app.ts", "src/main.ts"] }, 6);
    expect(namesOf(enough)).toEqual(expect.arrayContaining(["touched", "file"]));
    expect(enough.filter(({ why }) => why.startsWith("touched"))).toHaveLength(2);
    expect(enough.length).toBeGreaterThanOrEqual(4);
  }
});

test("the wheel ends with its minutes, and a check that runs alone needs twice as many", () => {
  const together = Array.from({ length: 10 }, (_, index) => spoke(String(index), 1));
  const alone = together.map((check) => ({ ...check, isAlone: true }));
  expect(takeFrom(together, { commit: "a", files: [] }, 3)).toHaveLength(6);
  expect(takeFrom(alone, { commit: "a", files: [] }, 3)).toHaveLength(3);
});

test("the same commit takes the same checks with the same seeds; another one takes others", () => {
  const taken = commits.map((commit) => namesOf(takeFrom(wheel, { commit, files: [] }, 6)).join());
  expect(taken).toEqual(commits.map((commit) => namesOf(takeFrom(wheel, { commit, files: [] }, 6)).join()));
  expect(new Set(taken).size).toBeGreaterThan(900);
});
