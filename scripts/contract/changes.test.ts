import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openProjectCopy, type ProjectCopy } from "../../testing/project.ts";

let copy: ProjectCopy;
beforeAll(async () => {
  copy = await openProjectCopy();
  for (const file of ["ledger", "features", "payment-events.asyncapi"]) {
    for (const folder of ["openapi", "generated"]) {
      const path = join(copy.folder, folder, `${file}.yaml`);
      const contract = await readFile(path, "utf8");
      await writeFile(path, contract.replace(/^ {2}version: .*$/m, "  version: 1.0.0"));
    }
    // The tests start from a release of the current contracts.
    await rm(join(copy.folder, `openapi/released/${file}.yaml`));
  }
  expect(await changes("--release")).toMatchObject({ code: 0 });
});
afterAll(() => copy[Symbol.asyncDispose]());

const changes = (...args: string[]) => copy.run("scripts/contract/changes.ts", args);

/** Runs the script with texts of a file replaced, then restores the file. */
async function changesWith(file: string, replacements: [string, string][], ...args: string[]) {
  const path = join(copy.folder, file);
  const original = await readFile(path, "utf8");
  const changed = replacements.reduce((text, [from, to]) => text.replace(from, to), original);
  expect(changed).not.toBe(original);
  await writeFile(path, changed);
  const result = await changes(...args);
  await writeFile(path, original);
  return result;
}

const removal: [string, string] = ['        "404":\n          $ref: "#/components/responses/NotFound"\n', ""];
const shorter: [string, string] = ["maxLength: 256", "maxLength: 255"];

test("a contract without changes is listed as unchanged", async () => {
  expect(await changes("--check")).toMatchObject({ code: 0, errors: "" });
  const log = await readFile(join(copy.folder, "CHANGELOG.md"), "utf8");
  expect(log).toMatch(
    /## Unreleased\n\n### Contract\n\nUnchanged: Feature storage \S+, Payment ledger \S+, .*\.\n\n## \d+\.\d+\.\d+ \(\d{4}-/,
  );
});

test.each<[string, string, [string, string], string]>([
  ["a removed response", "generated/ledger.yaml", removal, "status 404"],
  [
    "a new required member of a message",
    "openapi/payment-events.asyncapi.yaml",
    ["./ledger.yaml#/components/schemas/EventMessage", "./ledger.yaml#/components/schemas/Event"],
    "required",
  ],
  ["a shorter maximum length", "generated/features.yaml", shorter, "maxLength"],
])("%s requires a new major version", async (_name, file, change, entry) => {
  const { code, output, errors } = await changesWith(file, [change], "--check");
  expect(output).toContain("**breaking** ");
  expect(output).toContain(entry);
  expect(errors).toMatch(
    /^changes: [A-Z][a-z ]+: info.version stayed 1.0.0, but these changes require a major bump/,
  );
  expect(code).toBe(1);
});

test("a breaking change is listed when the major version is new", async () => {
  const file = "generated/features.yaml";
  for (const version of ["1.1.0", "1.0.1"]) {
    expect(await changesWith(file, [shorter, ["version: 1.0.0", `version: ${version}`]])).toMatchObject({
      code: 1,
    });
  }
  expect(await changesWith(file, [shorter, ["version: 1.0.0", "version: 2.0.0"]])).toMatchObject({
    code: 0,
    errors: "",
  });
  expect(await readFile(join(copy.folder, "CHANGELOG.md"), "utf8")).toMatch(
    / 2.0.0, after 1.0.0:\n\n- \*\*breaking\*\* /,
  );
  expect(await changes("--check")).toMatchObject({
    code: 1,
    errors: "changes: CHANGELOG.md does not list the changes to the contracts; run npm run changes\n",
  });
  expect(await changes()).toMatchObject({ code: 0 });
  expect(await changes("--check")).toMatchObject({ code: 0 });
});

test("an addition requires a minor version", async () => {
  const addition: [string, string] = [
    "      properties:\n        result:\n",
    "      properties:\n        since: { type: string, description: Start. }\n        result:\n",
  ];
  const file = "generated/features.yaml";
  expect(await changesWith(file, [addition])).toMatchObject({
    code: 1,
    errors: expect.stringContaining("minor bump"),
  });
  const result = await changesWith(file, [addition, ["version: 1.0.0", "version: 1.1.0"]]);
  expect(result).toMatchObject({ code: 0 });
  expect(result.output).toMatch(
    /Feature storage 1.1.0, after 1.0.0:\n\n- `GET .*new member `since` with status 200/,
  );
  await changes();
});

test("a member of a message is listed by its name, whatever changed in it", async () => {
  const change: [string, string] = ['type: [object, "null"]', 'type: [object, "null", string]'];
  const { output } = await changesWith("openapi/ledger.yaml", [change]);
  expect(output).toMatch(/`PaymentEvent`: changed member `external_metadata`\.\n/);
  await changes();
});

test("a new contract is listed as the first release, and changed texts as one line", async () => {
  const released = join(copy.folder, "openapi/released/features.yaml");
  const contract = await readFile(released, "utf8");
  await rm(released);
  expect((await changes()).output).toMatch(
    /^Feature storage 1.0.0, the first release.\n\nUnchanged: Payment ledger/,
  );
  await writeFile(released, contract);
  const texts = await changesWith("generated/features.yaml", [
    ["description: Name of the feature.", "description: A name."],
    ["description: Always true.", "description: True."],
    ["version: 1.0.0", "version: 1.0.1"],
  ]);
  expect(texts.output).toMatch(
    /^Feature storage 1.0.1, after 1.0.0:\n\n- Descriptions and examples.\n\nUnchanged: /,
  );
  const higher = await changesWith("generated/features.yaml", [["version: 1.0.0", "version: 1.0.1"]]);
  expect(higher.output).toMatch(/^Unchanged: Feature storage 1.0.1, Payment ledger/);
  const lower = await changesWith("generated/features.yaml", [["version: 1.0.0", "version: 0.10.0"]]);
  expect(lower).toMatchObject({ code: 1, errors: "changes: Feature storage: 1.0.0 is released already\n" });
  await changes();
});

test("only the contract section of the changelog is rewritten", async () => {
  const path = join(copy.folder, "CHANGELOG.md");
  const text = "# Changelog\n\nAbove.\n\n## Unreleased\n\n### Contract\n\nOld.\n\n### Services\n\n- Below.\n";
  const original = await readFile(path, "utf8");
  for (const rest of [text, text.slice(0, text.indexOf("### Services"))]) {
    await writeFile(path, rest);
    expect(await changes()).toMatchObject({ code: 0 });
    expect(await readFile(path, "utf8")).toMatch(
      new RegExp(`^${rest.replace("Old.", "Unchanged: Feature storage [^\\n]+\\.")}$`),
    );
  }
  await writeFile(path, "# Changelog\n");
  expect(await changes()).toMatchObject({ code: 1, errors: expect.stringContaining("has no section") });
  await writeFile(path, original);
});

test("a contract that is not YAML is an error", async () => {
  const result = await changesWith("generated/features.yaml", [["maxLength: 256", "maxLength: ["]]);
  expect(result).toMatchObject({
    code: 1,
    errors: expect.stringMatching(/^changes: generated\/features.yaml: .*line/),
  });
});

test("a released contract that was deleted is an error", async () => {
  const [path, movedPath] = ["openapi/features.yaml", "features.yaml"].map((name) =>
    join(copy.folder, name),
  ) as [string, string];
  await rename(path, movedPath);
  expect(await changes()).toMatchObject({
    code: 1,
    errors: "changes: released contracts are missing in openapi/: features.yaml\n",
  });
  await rename(movedPath, path);
});

test("unknown arguments are an error", async () => {
  expect(await changes("--chekc")).toMatchObject({
    code: 2,
    errors: "changes: unknown: --chekc; known: --check, --release, --help\n",
  });
  expect(await changes("--check", "x")).toMatchObject({ code: 2 });
});
