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
const changelog = () => readFile(join(copy.folder, "CHANGELOG.md"), "utf8");

type Replacement = [from: string, to: string];

/** Runs the script with texts of a file replaced, then restores the file. */
async function changesWith(file: string, replacements: Replacement[], ...args: string[]) {
  const path = join(copy.folder, file);
  const original = await readFile(path, "utf8");
  const changed = replacements.reduce((text, [from, to]) => text.replace(from, to), original);
  expect(changed).not.toBe(original);
  await writeFile(path, changed);
  const result = await changes(...args);
  await writeFile(path, original);
  return result;
}

const [ledger, features] = ["generated/ledger.yaml", "generated/features.yaml"];
const events = "openapi/payment-events.asyncapi.yaml";
const version = (number: string): Replacement => ["version: 1.0.0", `version: ${number}`];
const shorter: Replacement = ["maxLength: 256", "maxLength: 255"];
const invalid: Replacement = ["maxLength: 256", "maxLength: ["];
const result = "      properties:\n        result:\n";
const since = "        since: { type: string, description: Start. }\n        result:\n";
const addition: Replacement = [result, result.replace("        result:\n", since)];
const texts: Replacement[] = [
  ["description: Name of the feature.", "description: A name."],
  ["description: Always true.", "description: True."],
];
const wider: Replacement = ['type: [object, "null"]', 'type: [object, "null", string]'];
const removal: Replacement = ['        "404":\n          $ref: "#/components/responses/NotFound"\n', ""];
const stricter: Replacement = ["components/schemas/EventMessage", "components/schemas/Event"];
const renamedSending: Replacement = ["  publishToTopic:\n", "  publishElsewhere:\n"];
const serviceId = "        service_id: { type: string, maxLength: 255, description: The service. }\n";
const notSent: Replacement = [serviceId, ""];
const longerSent: Replacement = [serviceId, serviceId.replace("255", "256")];
const notIdentified: Replacement = ["      required: [message-id]\n", ""];
const noFilter: Replacement = ["                email:\n", "                mail:\n"];
const needs = (bump: string) =>
  new RegExp(`^changes: [\\w ]+: info.version stayed 1.0.0, but .* ${bump} bump`);

test("a contract without changes is listed as unchanged", async () => {
  expect(await changes("--check")).toMatchObject({ code: 0, errors: "" });
  expect(await changelog()).toMatch(
    /## Unreleased\n\n### Contract\n\nUnchanged: Feature storage \S+, Payment ledger \S+, .*\.\n\n## \d+\.\d+\.\d+ \(\d{4}-/,
  );
});

const breaking = /\*\*breaking\*\* .*(status 404|required|maxLength)/;
const unlisted = /^changes: CHANGELOG.md does not list the changes to the contracts; run npm run changes\n$/;
const noOperation = /\*\*breaking\*\* .*Operation `publishToTopic` was removed/;
const noMember = /\*\*breaking\*\* .*`service_id` was removed/;
const noId = /\*\*breaking\*\* .*no longer required: `message-id`/;
const noEmail = /\*\*breaking\*\* `QUERY \/v1\/transaction\/`: .*Property `email` was renamed/;
const aLength = /\*\*breaking\*\* .*`maxLength` of `service_id` changed/;
const aMember = /`PaymentEvent`: changed member `external_metadata`\.\n/;
test.each<[string, string, Replacement[], output: RegExp, errors: RegExp]>([
  ["a removed response", ledger, [removal], breaking, needs("major")],
  ["a new required member of a message", events, [stricter], breaking, needs("major")],
  ["an operation that sends no longer", events, [renamedSending], noOperation, needs("major")],
  ["a member that is sent no longer", "openapi/ledger.yaml", [notSent], noMember, needs("major")],
  ["a longer text that is sent", "openapi/ledger.yaml", [longerSent], aLength, needs("major")],
  ["a header that is optional now", events, [notIdentified], noId, needs("major")],
  ["a filter that a QUERY has no longer", ledger, [noFilter], noEmail, needs("major")],
  ["a shorter maximum length", features, [shorter], breaking, needs("major")],
  ["a breaking change in a minor version", features, [shorter, version("1.1.0")], breaking, /major/],
  ["a new member", features, [addition], /new member `since`/, needs("minor")],
  ["a member with another type", "openapi/ledger.yaml", [wider], aMember, needs("patch")],
  ["a version below the released one", features, [version("0.10.0")], /^Unchanged/, /released already\n$/],
  ["a contract that is no YAML", features, [invalid], /^$/, /^changes: generated\/features.yaml: .*line/],
  // Only the changelog is not right.
  ["a higher version", features, [version("1.0.1")], /^Unchanged: Feature storage 1.0.1, Pay/, unlisted],
])("%s fails", async (_name, file, replacements, output, errors) => {
  const failed = await changesWith(file, replacements, "--check");
  expect([failed.code, failed.output]).toEqual([1, expect.stringMatching(output)]);
  expect(failed.errors).toMatch(errors);
});

test.each<[change: string, number: string, Replacement[], output: string]>([
  ["a breaking change", "2.0.0", [shorter], "- \\*\\*breaking\\*\\* "],
  ["an addition", "1.1.0", [addition], "- `GET .*new member `since` with status 200"],
  ["texts", "1.0.1", texts, "- Descriptions and examples.\n\nUnchanged: "],
])("%s is listed with a new version", async (_change, number, replacements, output) => {
  const listed = await changesWith(features, [...replacements, version(number)]);
  expect([listed.code, listed.errors]).toEqual([0, ""]);
  expect(listed.output).toMatch(new RegExp(`^Feature storage ${number}, after 1.0.0:\n\n${output}`));
  expect(await changelog()).toContain(`### Contract\n\n${listed.output}`);
  // The version of the file is the released one again.
  const errors = expect.stringMatching(unlisted);
  expect(await changes("--check")).toMatchObject({ code: 1, errors });
  expect(await changes()).toMatchObject({ code: 0 });
  expect(await changes("--check")).toMatchObject({ code: 0 });
});

test("a new contract is listed as the first release; one that was deleted is an error", async () => {
  const moved = join(copy.folder, "features.yaml");
  const [path, released] = ["openapi", "openapi/released"].map((name) =>
    join(copy.folder, name, "features.yaml"),
  ) as [string, string];
  await rename(released, moved);
  const first = /^Feature storage 1.0.0, the first release.\n\nUnchanged: Payment ledger/;
  expect((await changes("--check")).output).toMatch(first);
  await rename(moved, released);
  await rename(path, moved);
  const errors = "changes: released contracts are missing in openapi/: features.yaml\n";
  expect(await changes()).toMatchObject({ code: 1, errors });
  await rename(moved, path);
});

test("only the contract section of the changelog is rewritten", async () => {
  const path = join(copy.folder, "CHANGELOG.md");
  const text = "# Changelog\n\nAbove.\n\n## Unreleased\n\n### Contract\n\nOld.\n\n### Services\n\n- Below.\n";
  const original = await changelog();
  for (const rest of [text, text.slice(0, text.indexOf("### Services"))]) {
    await writeFile(path, rest);
    expect(await changes()).toMatchObject({ code: 0 });
    const written = rest.replace("Old.", "Unchanged: Feature storage [^\\n]+\\.");
    expect(await changelog()).toMatch(new RegExp(`^${written}$`));
  }
  await writeFile(path, "# Changelog\n");
  expect(await changes()).toMatchObject({ code: 1, errors: expect.stringContaining("has no section") });
  await writeFile(path, original);
});

test("unknown arguments are an error", async () => {
  const errors = "changes: unknown: --chekc; known: --check, --release, --help\n";
  expect(await changes("--chekc")).toMatchObject({ code: 2, errors });
  expect(await changes("--check", "x")).toMatchObject({ code: 2 });
});
