import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../testing/project.ts";
import { checksAsMarkdown } from "./report.ts";
import { type Check, circles, gate, nightlyOnly, wheel } from "./table.ts";
import { seedOf, takeFrom, turns } from "./wheel.ts";

const checks = [...gate, ...wheel, ...nightlyOnly];
const spoke = (name: string, minutes: number, paths: string[] = [], isAlone = false): Check => ({
  ...{ name, covers: "", command: "true", needs: [] },
  ...{ minutes, paths, isAlone },
});
const commits = Array.from({ length: 50 }, (_, index) => seedOf(String(index), "commit").toString(16));
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

test("the wheel takes what the change touches, as far as the minutes allow, and two others", () => {
  const spokes = [
    spoke("touched", 2, ["src/ledger"]),
    spoke("file", 2, ["src/main.ts"]),
    spoke("longer name", 1, ["src/led"]),
    ...["one", "two", "three"].map((name) => spoke(name, 5)),
  ];
  const files = ["src/ledger/app.ts", "src/main.ts"];
  for (const [turn, commit] of commits.entries()) {
    const none = takeFrom(spokes, { commit, turn, files: [] }, 0);
    expect(none.length).toBeGreaterThanOrEqual(2);
    const taken = takeFrom(spokes, { commit, turn, files }, 1000);
    expect(taken).toHaveLength(spokes.length);
    const whys = new Map(taken.map(({ check, why }) => [check.name, why]));
    expect(whys.get("touched")).toMatch(/^(touched: src\/ledger\/app.ts|its turn)$/);
    expect(whys.get("longer name")).toMatch(/^(chosen by the commit|its turn)$/);
    const some = takeFrom(spokes, { commit, turn, files }, 7);
    expect(namesOf(some)).toEqual(expect.arrayContaining(["touched", "file"]));
    expect(some.length).toBeGreaterThanOrEqual(4);
  }
});

test("the wheel ends with its minutes; checks that run two at a time need less of them", () => {
  const together = Array.from({ length: 10 }, (_, index) => spoke(String(index), 1));
  const alone = together.map((check) => ({ ...check, isAlone: true }));
  expect(takeFrom(together, { commit: "a", turn: 0, files: [] }, 3)).toHaveLength(4);
  expect(takeFrom(alone, { commit: "a", turn: 0, files: [] }, 3)).toHaveLength(3);
});

test("each check has its turn within ten commits", () => {
  for (let first = 0; first < 30; first += 1) {
    const taken = commits
      .slice(first, first + turns)
      .flatMap((commit, index) => namesOf(takeFrom(wheel, { commit, turn: first + index, files: [] }, 0)));
    expect(new Set(taken).size).toBe(wheel.length);
  }
});

test("the same commit takes the same checks with the same seeds", () => {
  const of = (commit: string, turn: number) => namesOf(takeFrom(wheel, { commit, turn, files: [] }, 6));
  expect(commits.map(of)).toEqual(commits.map(of));
  expect(seedOf("one", "fuzz")).toBe(seedOf("one", "fuzz"));
  expect(seedOf("one", "fuzz")).not.toBe(seedOf("other", "fuzz"));
});
