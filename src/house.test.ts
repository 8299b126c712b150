import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
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

/** The folders that both services share. */
const shared = ["src/http", "src/contract", "src/process", "src/values"];

/** The files and folders that a folder may import, besides itself. The first entry that contains a file applies. */
const allowedImports: [folder: string, allowed: string[]][] = [
  ["src/values", []],
  ["src/process", []],
  ["src/contract", ["src/values"]],
  ["src/http", shared],
  ["src/client", ["src/contract", "generated"]],
  ["src/console", ["src/client", "generated/ledger.event-types.ts"]],
  ["src/database", ["src/process", "src/values"]],
  ["src/features/store", ["src/process", "src/values", "src/database"]],
  ["src/features", [...shared, "generated/features"]],
  ["src/ledger/queue", ["src/process", "src/values"]],
  ["src/ledger/tables", ["src/process", "src/values", "src/database", "generated/ledger"]],
  ["src/ledger/projection", ["src/values", "src/ledger/tables", "generated/ledger"]],
  ["src/ledger/views", ["src/values", "src/ledger/tables", "src/ledger/projection", "generated/ledger"]],
  [
    "src/ledger/handlers",
    [
      ...shared,
      "src/ledger/views",
      "src/ledger/intake",
      "src/ledger/projection",
      "src/ledger/tables",
      "src/database",
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
      "src/database",
      "generated/ledger",
    ],
  ],
  [
    "src/ledger/publishing",
    ["src/process", "src/values", "src/ledger/tables", "src/ledger/queue/amqp/connect.ts", "src/database"],
  ],
  ["src/ledger", [...shared, "src/database", "generated/ledger"]],
  ["src", ["src/http", "src/process", "src/ledger/start.ts", "src/features/start.ts"]],
];
const isIn = (file: string, folder: string) =>
  file === folder || file.startsWith(`${folder}/`) || file.startsWith(`${folder}.`);

/** The imports of a file that are not allowed. */
function forbiddenImports(file: string, imports: string[]): string[] {
  const [folder, others] = allowedImports.find(([name]) =>
    isIn(file, name),
  ) as (typeof allowedImports)[number];
  const allowed = folder === "src" ? others : [folder, ...others];
  return imports.filter((path) => !allowed.some((name) => isIn(path, name)));
}

describe("the structure of src", () => {
  test.each(sources)("%s imports only what its folder may import", (file) => {
    expect(forbiddenImports(file, importsOf(file))).toEqual([]);
  });

  test("the check finds forbidden imports", () => {
    expect(forbiddenImports("src/ledger/tables/event.ts", ["src/ledger/views/event.ts"])).toHaveLength(1);
    expect(forbiddenImports("src/features/app.ts", ["src/ledger/app.ts"])).toHaveLength(1);
    expect(
      forbiddenImports("src/http/service.ts", ["src/features/app.ts", "generated/ledger.ts"]),
    ).toHaveLength(2);
    expect(importsOf("src/main.ts")).toContain("src/ledger/start.ts");
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
    const within = (folder: string) => sources.filter((file) => isIn(file, folder));
    const [ofClient, ofConsole] = [within("src/client"), within("src/console")];
    const others = sources.filter((file) => ![...ofClient, ...ofConsole].includes(file));
    expect(undeclaredIn(others, "package.json", "dependencies")).toEqual([]);
    // The host of the provider has its peer; the client itself needs none.
    const [ofProvider, ofCalls] = [true, false].map((isProvider) =>
      ofClient.filter((file) => isIn(file, "src/client/openfeature") === isProvider),
    ) as [string[], string[]];
    expect(undeclaredIn(ofCalls, "src/client/package.json", "dependencies")).toEqual([]);
    expect(undeclaredIn(ofProvider, "src/client/package.json", "dependencies", "peerDependencies")).toEqual(
      [],
    );
    expect(ofCalls.flatMap(importsOf).filter((path) => ofProvider.includes(path))).toEqual([]);
    // Its bundle contains them.
    expect(undeclaredIn(ofConsole, "package.json", "devDependencies")).toEqual([]);
    expect(others.flatMap(packagesOf)).toContain("fastify");
    expect(ofConsole.flatMap(packagesOf)).toContain("preact");
    expect(ofCalls.flatMap(packagesOf)).toEqual(["undici"]);
    expect(new Set(ofProvider.flatMap(packagesOf))).toEqual(new Set(["@openfeature/server-sdk"]));
  });

  test("only src/main.ts and the commands read process.env", () => {
    const readers = sources.filter((file) => read(file).includes("process.env"));
    expect(readers.filter((file) => file !== "src/main.ts" && !/^src\/\w+\/commands\//.test(file))).toEqual(
      [],
    );
    expect(readers).toContain("src/main.ts");
  });

  test("only the folders of tables and two files of src/database contain SQL statements", () => {
    const withSql = sources.filter((file) =>
      /\b(select|insert into|update|delete from)\b[^;]*\bfrom\b|insert into/.test(read(file)),
    );
    const ofTables = ["src/ledger/tables", "src/features/store/postgres"];
    const others = withSql.filter((file) => !ofTables.some((folder) => isIn(file, folder)));
    expect(others).toEqual(["src/database/pglite-autovacuum.ts", "src/database/session.ts"]);
    expect(withSql.length).toBeGreaterThan(2);
  });

  test("only the app.ts, the handlers of a service and the webhooks contain HTTP statuses", () => {
    const withStatuses = sources.filter(
      (file) =>
        /^src\/(ledger|features)\//.test(file) &&
        /\b(?:status: |problem\(|HttpError\()[1-5]\d\d\b|statusCode|STATUS_CODES/.test(read(file)),
    );
    const isAllowed = (file: string) =>
      /^src\/\w+\/(?:app\.ts$|handlers\/|publishing\/targets\/webhook\.ts$)/.test(file);
    expect(withStatuses.filter((file) => !isAllowed(file))).toEqual([]);
    expect(withStatuses.length).toBeGreaterThan(2);
  });

  test("no file has a default export", () => {
    expect(sources.filter((file) => /^export default/m.test(read(file)))).toEqual([]);
  });
});

/** The reference models and what they are built on. If they shared code with the product, they would share its bugs. */
const models = [
  "simulation/ledger/oracle.ts",
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

  test.each([
    [
      'import { lifeCyclePosition } from "../../src/ledger/projection/states.ts";',
      "src/ledger/projection/states.ts",
    ],
    ['import type { EventRow } from "../../src/ledger/tables/event.ts";', "src/ledger/tables/event.ts"],
    ['import type { components } from "../../generated/ledger.ts";', "generated/ledger.ts"],
    [
      'import { stateMachine } from "../../generated/ledger.state-machine.ts";',
      "generated/ledger.state-machine.ts",
    ],
    ['import {\n  type Read,\n} from "./reads.ts";', "simulation/ledger/reads.ts"],
    ['export { keyOf } from "../../src/ledger/tables/event.ts";', "src/ledger/tables/event.ts"],
    ['import "../../src/main.ts";', "src/main.ts"],
    [
      'const { fold } = await import("../../src/ledger/projection/history.ts");',
      "src/ledger/projection/history.ts",
    ],
    ['import { ledgerClient } from "payment-ledger-services-client";', "payment-ledger-services-client"],
  ])("the check finds %j", (line, imported) => {
    expect(forbiddenInModel(line, "simulation/ledger/oracle.ts")).toEqual([imported]);
  });
});

describe("PROMISES.md", () => {
  const promises = readFileSync(join(root, "PROMISES.md"), "utf8")
    .split(/^(?=\d+\. )/m)
    .slice(1);
  const testsOf = (promise: string) => [...promise.matchAll(/`(\S+\.test\.ts)`: "([^"]+)"/g)];

  test.each(promises.map((promise) => [promise.split("\n")[0], promise]))(
    "%s … names an existing test",
    (_first, promise) => {
      expect(testsOf(promise).length).toBeGreaterThan(0);
      const missing = testsOf(promise).filter(([, file = "", title]) => !read(file).includes(`"${title}"`));
      expect(missing.map(([reference]) => reference)).toEqual([]);
    },
  );

  test("numbers its promises in order", () => {
    expect(promises.map((promise) => Number.parseInt(promise, 10))).toEqual(
      promises.map((_, index) => index + 1),
    );
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

  test("all documents are found", () => {
    expect(documents).toEqual(expect.arrayContaining(["README.md", "docs/operating.md", "deploy/README.md"]));
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
  });

  test("the package and every contract have one version", () => {
    const contracts = readdirSync(join(root, "openapi")).filter((file) => file.endsWith(".yaml"));
    const versions = contracts.map((file) => /^ {2}version: (.*)$/m.exec(read(`openapi/${file}`))?.[1]);
    expect(versions).toEqual(contracts.map(() => JSON.parse(read("package.json")).version));
    expect(contracts.length).toBeGreaterThan(2);
  });
});
