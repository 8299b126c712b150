import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .map((file) => join("src", file))
  .filter((file) => file.endsWith(".ts"));
const sources = files.filter((file) => !/\.(test|fixture)\.ts$/.test(file));
const read = (file: string) => readFileSync(join(root, file), "utf8");

const namesIn = (text: string) =>
  [...text.matchAll(/(?:from|import|import\()\s*"([^"]+)"/g)].map(([, name = ""]) => name);
const isOfOurs = (name: string) => name.startsWith(".");
const pathOf = (name: string, file: string) => normalize(join(dirname(file), name));
const importsOf = (file: string) =>
  namesIn(read(file))
    .filter(isOfOurs)
    .map((name) => pathOf(name, file));

/** The rooms that know neither service. */
const shared = ["src/http", "src/contract", "src/process", "src/values"];

/** Where a file may import from, besides its own room. The first folder that contains a file decides. */
const doors: [room: string, mayImport: string[]][] = [
  ["src/values", []],
  ["src/process", []],
  ["src/contract", ["src/values"]],
  ["src/http", shared],
  ["src/client", ["src/contract", "generated"]],
  ["src/features/store", ["src/process", "src/values"]],
  ["src/features", [...shared, "generated/features"]],
  ["src/ledger/queue", ["src/process", "src/values"]],
  ["src/ledger/database", ["src/process", "src/values"]],
  ["src/ledger/tables", ["src/process", "src/values", "src/ledger/database", "generated/ledger"]],
  ["src/ledger/projection", ["src/values", "src/ledger/tables", "generated/ledger"]],
  ["src/ledger/views", ["src/values", "src/ledger/tables", "src/ledger/projection", "generated/ledger"]],
  [
    "src/ledger/handlers",
    [
      ...shared,
      "src/ledger/views",
      "src/ledger/projection",
      "src/ledger/tables",
      "src/ledger/database",
      "src/ledger/queue",
      "generated/ledger",
    ],
  ],
  [
    "src/ledger/intake",
    [
      "src/contract",
      "src/process",
      "src/values",
      "src/ledger/queue",
      "src/ledger/projection",
      "src/ledger/tables",
      "src/ledger/database",
      "generated/ledger",
    ],
  ],
  ["src/ledger", [...shared, "generated/ledger"]],
  ["src", ["src/http", "src/process", "src/ledger/start.ts", "src/features/start.ts"]],
];
const isIn = (file: string, room: string) =>
  file === room || file.startsWith(`${room}/`) || file.startsWith(`${room}.`);

/** Of these imports of a file, those that no door leads to. */
function straysOf(file: string, targets: string[]): string[] {
  const [room, mayImport] = doors.find(([name]) => isIn(file, name)) as (typeof doors)[number];
  const open = room === "src" ? mayImport : [room, ...mayImport];
  return targets.filter((target) => !open.some((name) => isIn(target, name)));
}

describe("the doors of the house", () => {
  test.each(sources)("%s imports only through them", (file) => {
    expect(straysOf(file, importsOf(file))).toEqual([]);
  });

  test("are closed to the rest", () => {
    expect(straysOf("src/ledger/tables/event.ts", ["src/ledger/views/event.ts"])).toHaveLength(1);
    expect(straysOf("src/features/app.ts", ["src/ledger/app.ts"])).toHaveLength(1);
    expect(straysOf("src/http/service.ts", ["src/features/app.ts", "generated/ledger.ts"])).toHaveLength(2);
    expect(importsOf("src/main.ts")).toContain("src/ledger/start.ts");
  });

  test("the product imports only packages that are installed for production", () => {
    const imported = sources.flatMap((file) => namesIn(read(file)).filter((name) => !isOfOurs(name)));
    const packages = imported
      .filter((name) => !name.startsWith("node:"))
      .map((name) => name.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? name);
    const { dependencies } = JSON.parse(read("package.json"));
    expect(packages.filter((name) => !(name in dependencies))).toEqual([]);
    expect(packages).toContain("fastify");
  });

  test("the environment is read where a program begins, and nowhere else", () => {
    const readers = sources.filter((file) => read(file).includes("process.env"));
    expect(readers.filter((file) => file !== "src/main.ts" && !/^src\/\w+\/commands\//.test(file))).toEqual(
      [],
    );
    expect(readers).toContain("src/main.ts");
  });

  test("SQL is in the tables' room, but for what an engine does for itself", () => {
    const speakers = sources.filter((file) =>
      /\b(select|insert into|update|delete from)\b[^;]*\bfrom\b|insert into/.test(read(file)),
    );
    expect(
      speakers.map((file) => relative("src/ledger/tables", file)).filter((path) => path.startsWith("..")),
    ).toEqual(["../database/pglite-autovacuum.ts", "../database/session.ts"]);
    expect(speakers.length).toBeGreaterThan(2);
  });

  test("HTTP statuses are decided by handlers, and by the app for what they do not catch", () => {
    const speakers = sources.filter(
      (file) =>
        /^src\/(ledger|features)\//.test(file) &&
        /\b(?:status: |problem\(|HttpError\()[1-5]\d\d\b|statusCode|STATUS_CODES/.test(read(file)),
    );
    const isAllowed = (file: string) => /^src\/\w+\/(?:app\.ts$|handlers\/)/.test(file);
    expect(speakers.filter((file) => !isAllowed(file))).toEqual([]);
    expect(speakers.length).toBeGreaterThan(2);
  });

  test("nothing is exported as default", () => {
    expect(sources.filter((file) => /^export default/m.test(read(file)))).toEqual([]);
  });
});

/** They say what is right, and so must not have it from those whom they judge. */
const judges = [
  "simulation/ledger/oracle.ts",
  "simulation/ledger/lives.ts",
  "simulation/features/history.ts",
];
/** All that they may import, types too: each other, and the chance that a seed decides. */
const openToJudges = [...judges, "simulation/random.ts"];
const openToChance = ["pure-rand/distribution/uniformInt", "pure-rand/generator/xoroshiro128plus"];

/** What a text of a judge imports beside these: files, and packages. */
const helpersIn = (text: string, file: string) =>
  namesIn(text)
    .map((name) => (isOfOurs(name) ? pathOf(name, file) : name))
    .filter((path) => !openToJudges.includes(path));

describe("those that judge the services", () => {
  test.each(judges)("%s shares no code with them", (file) => {
    expect(helpersIn(read(file), file)).toEqual([]);
  });

  test("nor does the chance of a seed", () => {
    expect(namesIn(read("simulation/random.ts")).sort()).toEqual(openToChance);
  });

  test.each([
    [
      'import { lifeCyclePosition } from "../../src/ledger/projection/states.ts";',
      "src/ledger/projection/states.ts",
    ],
    ['import type { EventRow } from "../../src/ledger/tables/event.ts";', "src/ledger/tables/event.ts"],
    ['import type { components } from "../../generated/ledger.ts";', "generated/ledger.ts"],
    ['import contract from "../../generated/ledger.json" with { type: "json" };', "generated/ledger.json"],
    ['import {\n  type Query,\n} from "./trace.ts";', "simulation/ledger/trace.ts"],
    ['export { keyOf } from "../../src/ledger/tables/event.ts";', "src/ledger/tables/event.ts"],
    ['import "../../src/main.ts";', "src/main.ts"],
    [
      'const { fold } = await import("../../src/ledger/projection/history.ts");',
      "src/ledger/projection/history.ts",
    ],
    ['import { ledgerClient } from "payment-ledger-services/client";', "payment-ledger-services/client"],
  ])("cannot have %j", (line, imported) => {
    expect(helpersIn(line, "simulation/ledger/oracle.ts")).toEqual([imported]);
  });
});

describe("the promises", () => {
  const promises = readFileSync(join(root, "PROMISES.md"), "utf8")
    .split(/^(?=\d+\. )/m)
    .slice(1);
  const named = (promise: string) => [...promise.matchAll(/`(\S+\.test\.ts)`: "([^"]+)"/g)];

  test.each(promises.map((promise) => [promise.split("\n")[0], promise]))(
    "%s … is tried by a test that is there",
    (_first, promise) => {
      expect(named(promise).length).toBeGreaterThan(0);
      const missing = named(promise).filter(([, file = "", name]) => !read(file).includes(`"${name}"`));
      expect(missing.map(([reference]) => reference)).toEqual([]);
    },
  );

  test("are numbered in their order", () => {
    expect(promises.map((promise) => Number.parseInt(promise, 10))).toEqual(
      promises.map((_, index) => index + 1),
    );
    expect(promises.length).toBeGreaterThan(10);
  });
});
