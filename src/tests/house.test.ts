import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .map((file) => join("src", file))
  .filter((file) => /\.tsx?$/.test(file));
const sources = files.filter((file) => !/\.(test|fixture)\.ts$/.test(file));
const read = (file: string) => readFileSync(join(root, file), "utf8");

const specifiersIn = (text: string) =>
  [...text.matchAll(/(?<!")\b(?:from|import|import\()\s*"([^"\s]+)"/g)].map(
    ([, specifier = ""]) => specifier,
  );
const isRelative = (specifier: string) => specifier.startsWith(".");
const pathOf = (specifier: string, file: string) => normalize(join(dirname(file), specifier));
const importsOf = (file: string) =>
  specifiersIn(read(file))
    .filter(isRelative)
    .map((specifier) => pathOf(specifier, file));

const floor = "src/process src/waiting src/engines src/values";
const stored = "src/database src/ledger/queue src/ledger/tables src/ledger/projection";

/**
 * The folders of src, and the files and folders that each may import, besides itself. The first that contains a file
 * applies.
 */
const allowedImports = `
src/values
src/waiting
src/engines
src/process             src/values src/waiting src/engines
src/contract            src/values generated
src/http                ${floor} src/contract
src/client              src/contract/operation-types.ts generated
src/console             src/values src/client generated/ledger.event-types.ts
src/database            ${floor}
src/rabbitmq            src/waiting src/engines
src/features/store      ${floor} src/database
src/features/requests   ${floor} src/contract src/http src/features/store generated/features
src/features/settings   ${floor} src/database/databases src/features/store
src/features            ${floor} src/contract src/http generated/features
src/ledger/queue        ${floor} src/rabbitmq
src/ledger/access       ${floor} src/database src/http src/ledger/tables
src/ledger/tables       ${floor} src/database generated/ledger
src/ledger/projection   src/values src/ledger/tables generated/ledger
src/ledger/past         src/waiting src/database src/ledger/projection src/ledger/tables
src/ledger/views        src/values src/contract src/ledger/tables src/ledger/projection src/ledger/publishing/reason.ts src/ledger/publishing/target-name.ts generated/ledger
src/ledger/requests     ${floor} ${stored} src/contract src/http src/ledger/past src/ledger/views generated/ledger
src/ledger/handlers     ${floor} ${stored} src/contract src/http src/ledger/past src/ledger/requests src/ledger/views src/ledger/intake src/ledger/publishing/target-name.ts src/ledger/transparency generated/ledger
src/ledger/intake       ${floor} ${stored} src/contract generated/ledger
src/ledger/publishing   ${floor} src/database src/rabbitmq src/ledger/tables
src/ledger/transparency ${floor} src/database src/ledger/tables
src/ledger              ${floor} src/contract src/http src/database generated/ledger
src                     ${floor} src/http src/ledger/start.ts src/ledger/access/recorder.ts src/features/start.ts
`
  .trim()
  .split("\n")
  .map((line) => line.split(/\s+/) as [folder: string, ...allowed: string[]]);
const isIn = (file: string, folder: string) =>
  file === folder || file.startsWith(`${folder}/`) || file.startsWith(`${folder}.`);

/** The imports of a file that are not allowed. */
function forbiddenImports(file: string, imports: string[]): string[] {
  const [folder = "", ...others] = allowedImports.find(([name]) => isIn(file, name)) ?? [];
  const allowed = folder === "src" ? others : [folder, ...others];
  return imports.filter((path) => !allowed.some((name) => isIn(path, name)));
}

/** The groups of files each of which imports every other one, directly or through others. */
function circlesIn(graph: Map<string, string[]>): string[][] {
  const reachedFrom = (start: string) => {
    const reached = new Set<string>();
    const waiting = [...(graph.get(start) ?? [])];
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (!reached.has(file)) waiting.push(...(graph.get(file) ?? []));
      reached.add(file);
    }
    return reached;
  };
  const reached = new Map([...graph.keys()].map((file) => [file, reachedFrom(file)]));
  const circleOf = (file: string) =>
    [...(reached.get(file) ?? [])].filter((other) => reached.get(other)?.has(file)).sort();
  const circles = [...graph.keys()].map(circleOf).filter(({ length }) => length > 1);
  return [...new Map(circles.map((circle) => [circle.join(), circle])).values()];
}

/** The files of the product that contain this, and those of them that may not. */
function filesWith(pattern: RegExp, isAllowed: RegExp) {
  const found = sources.filter((file) => pattern.test(read(file)));
  return { found, forbidden: found.filter((file) => !isAllowed.test(file)) };
}

describe("the structure of src", () => {
  test.each(sources)("%s imports only what its folder may import", (file) => {
    expect(forbiddenImports(file, importsOf(file))).toEqual([]);
  });

  test("the check finds forbidden imports", () => {
    const found = (file: string, ...imports: string[]) => forbiddenImports(file, imports).length;
    expect(found("src/ledger/tables/event.ts", "src/ledger/views/event.ts")).toBe(1);
    expect(found("src/features/app.ts", "src/ledger/app.ts")).toBe(1);
    expect(found("src/http/service.ts", "src/features/app.ts", "generated/ledger.ts")).toBe(2);
    expect(importsOf("src/main.ts")).toContain("src/ledger/start.ts");
  });

  test("no more than two files import each other in a circle", () => {
    const graph = new Map(sources.map((file) => [file, importsOf(file)]));
    expect(circlesIn(graph).filter(({ length }) => length > 2)).toEqual([]);
  });

  test("the check finds circles", () => {
    const graph = new Map([
      ["a", ["b"]],
      ["b", ["c", "d"]],
      ["c", ["a"]],
      ["d", ["e"]],
      ["e", []],
    ]);
    expect(circlesIn(graph)).toEqual([["a", "b", "c"]]);
  });

  test("product files import only packages that their package.json declares", () => {
    const packagesOf = (file: string) =>
      specifiersIn(read(file))
        .filter((specifier) => !isRelative(specifier) && !/^(node:|#)/.test(specifier))
        .map((name) => name.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? name);
    const undeclaredIn = (files: string[], manifest: string, ...members: string[]) => {
      const content = JSON.parse(read(manifest));
      const declared = members.flatMap((member) => Object.keys(content[member]));
      return files.flatMap(packagesOf).filter((name) => !declared.includes(name));
    };
    const {
      client = [],
      console = [],
      others = [],
    } = Object.groupBy(sources, (file) => /^src\/(client|console)\//.exec(file)?.[1] ?? "others");
    expect(undeclaredIn(others, "package.json", "dependencies")).toEqual([]);
    // The host of the provider has its peer; the client itself needs none.
    const { provider = [], calls = [] } = Object.groupBy(client, (file) =>
      isIn(file, "src/client/openfeature") ? "provider" : "calls",
    );
    const ofClient = "src/client/package.json";
    expect(undeclaredIn(calls, ofClient, "dependencies")).toEqual([]);
    expect(undeclaredIn(provider, ofClient, "dependencies", "peerDependencies")).toEqual([]);
    expect(calls.flatMap(importsOf).filter((path) => provider.includes(path))).toEqual([]);
    // Its bundle contains them.
    expect(undeclaredIn(console, "package.json", "devDependencies")).toEqual([]);
    expect(others.flatMap(packagesOf)).toContain("fastify");
    expect(console.flatMap(packagesOf)).toContain("preact");
    expect(calls.flatMap(packagesOf)).toEqual(["undici"]);
    expect(new Set(provider.flatMap(packagesOf))).toEqual(new Set(["@openfeature/server-sdk"]));
  });

  test("only src/main.ts and the commands read process.env", () => {
    const { found, forbidden } = filesWith(/process\.env/, /^src\/(main\.ts$|\w+\/commands\/)/);
    expect(forbidden).toEqual([]);
    expect(found).toContain("src/main.ts");
  });

  test("only the folders of tables, the embedded queue, the journal and three files of src/database contain SQL statements", () => {
    const sql = /\b(select|insert into|update|delete from)\b[^;]*\bfrom\b|insert into/;
    const { found, forbidden } = filesWith(
      sql,
      /^src\/(ledger\/(tables|queue\/sqs\/embedded|access\/journal)|features\/store\/postgres)[/.]/,
    );
    expect(forbidden).toEqual(
      ["migrate", "pglite/autovacuum", "postgres/session"].map((file) => `src/database/${file}.ts`),
    );
    expect(found.length).toBeGreaterThan(2);
  });

  test("only the app.ts, the requests and handlers of a service, the webhooks and the witness contain HTTP statuses", () => {
    const status = /\b(?:status: |problem\(|HttpError\()[1-5]\d\d\b|statusCode|STATUS_CODES/;
    const isAllowed =
      /^src\/(?!ledger|features)|^src\/\w+\/(?:app\.ts$|handlers\/|requests\/|publishing\/targets\/webhook\.ts$|transparency\/witness\.ts$)/;
    const { found, forbidden } = filesWith(status, isAllowed);
    expect(forbidden).toEqual([]);
    expect(found.filter((file) => /^src\/(ledger|features)/.test(file)).length).toBeGreaterThan(2);
  });

  test("no file has a default export", () => {
    expect(filesWith(/^export default/m, /^$/).found).toEqual([]);
  });
});

/** The reference models and what they are built on. If they shared code with the product, they would share its bugs. */
const models = [
  "simulation/ledger/oracle.ts",
  "simulation/ledger/oracle-agreements.ts",
  "simulation/ledger/oracle-reports.ts",
  "simulation/ledger/messages.ts",
  "simulation/features/history.ts",
];
/** They may import only each other, the tables of the contract and the random generator, types too. */
const allowedInModels = [...models, "generated/ledger.json", "testing/random.ts"];
const allowedInRandom = ["pure-rand/distribution/uniformInt", "pure-rand/generator/xoroshiro128plus"];

/** The other files and packages that a model imports. */
const forbiddenInModel = (text: string, file: string) =>
  specifiersIn(text)
    .map((specifier) => (isRelative(specifier) ? pathOf(specifier, file) : specifier))
    .filter((path) => !allowedInModels.includes(path));

describe("the reference models of the simulation", () => {
  test.each(models)("%s imports no product code", (file) => {
    expect(forbiddenInModel(read(file), file)).toEqual([]);
  });

  test("testing/random.ts imports only its generator", () => {
    expect(specifiersIn(read("testing/random.ts")).sort()).toEqual(allowedInRandom);
  });

  test("the check finds every form of an import", () => {
    const text = `
      import { keyOf } from "../../src/ledger/tables/event.ts";
      import type { components } from "../../generated/ledger.ts";
      import { stateMachine } from "../../generated/ledger.state-machine.ts";
      import {\n  type Query,\n} from "./trace.ts";
      export { fold } from "../../src/ledger/projection/history.ts";
      import "../../src/main.ts";
      const { app } = await import("../../src/ledger/app.ts");
      import { ledgerClient } from "payment-ledger-services-client";`;
    expect(forbiddenInModel(text, "simulation/ledger/oracle.ts")).toEqual([
      "src/ledger/tables/event.ts",
      "generated/ledger.ts",
      "generated/ledger.state-machine.ts",
      "simulation/ledger/trace.ts",
      "src/ledger/projection/history.ts",
      "src/main.ts",
      "src/ledger/app.ts",
      "payment-ledger-services-client",
    ]);
  });
});

describe("PROMISES.md", () => {
  const text = readFileSync(join(root, "PROMISES.md"), "utf8");
  const promises = text.split(/^(?=### \d+\. )/m).slice(1);
  const testsOf = (promise: string) => [...promise.matchAll(/^- `(\S+\.test\.ts)`: "([^"]+)"$/gm)];

  test.each(promises.map((promise) => [promise.split("\n")[0], promise]))(
    "%s names an existing test",
    (_first, promise) => {
      expect(testsOf(promise).length).toBeGreaterThan(0);
      const missing = testsOf(promise).filter(([, file = "", title]) => !read(file).includes(`"${title}"`));
      expect(missing.map(([reference]) => reference)).toEqual([]);
    },
  );

  test("has each promise in a table, in the order of the numbers", () => {
    const numbers = promises.map((_, index) => index + 1);
    expect(promises.map((promise) => Number(/\d+/.exec(promise)?.[0]))).toEqual(numbers);
    expect([...text.matchAll(/^\| (\d+) \| \[/gm)].map(([, number]) => Number(number))).toEqual(numbers);
    expect(promises.length).toBeGreaterThan(10);
  });
});

describe("the documents", () => {
  const documents = globSync("**/*.md", { cwd: root, exclude: ["node_modules", "dist", "data"] });
  const anchorOf = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-");
  const anchorsIn = (path: string) =>
    [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));

  test.each(documents)("every link of %s within the repository leads somewhere", (document) => {
    const links = [...read(document).matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g)];
    const broken = links.filter(([, path = "", anchor]) => {
      const target = path === "" ? document : join(dirname(document), path);
      return !existsSync(join(root, target)) || (anchor && !anchorsIn(target).includes(anchor));
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test("the index of the decisions names every record", () => {
    const folder = "docs/decisions";
    const index = read(`${folder}/README.md`);
    const records = readdirSync(join(root, folder)).filter((file) => !/^(README|dependencies)/.test(file));
    const anchors = records.flatMap((file) =>
      [...read(`${folder}/${file}`).matchAll(/^## (.+)$/gm)].map(
        ([, heading = ""]) => `${file}#${anchorOf(heading)}`,
      ),
    );
    expect(anchors.filter((anchor) => !index.includes(`(${anchor})`))).toEqual([]);
    expect(anchors.length).toBeGreaterThan(40);
    expect(documents).toEqual(expect.arrayContaining(["README.md", "docs/operating.md", "deploy/README.md"]));
  });

  test("the package and every contract have one version", () => {
    const contracts = readdirSync(join(root, "openapi")).filter((file) => file.endsWith(".yaml"));
    const versions = contracts.map((file) => /^ {2}version: (.*)$/m.exec(read(`openapi/${file}`))?.[1]);
    expect(versions).toEqual(contracts.map(() => JSON.parse(read("package.json")).version));
    expect(contracts.length).toBeGreaterThan(2);
  });
});
