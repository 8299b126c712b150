import { existsSync } from "node:fs";
import { copyFile, mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseDocument } from "yaml";
import { toOpenApi32 } from "../../src/contract/openapi-3-2.ts";
import { rejectUnknown, runCommand, say, UsageError } from "../../src/process/command.ts";
import { contractsIn, redocly, root } from "../../testing/project.ts";
import { type Change, type Document, describeChanges } from "./describe-changes.ts";

const usage = `Usage: npm run changes [-- --check | --release]

Compares the contracts with the released ones (openapi/released/) and lists the changes for callers in CHANGELOG.md,
under "Unreleased", "Contract". Run npm run codegen first. Exits with 1 if a version number is too low: a breaking
change needs a new major version, an addition a minor version, any other change a patch version.

  --check     write nothing; exit with 1 if CHANGELOG.md does not list the changes
  --release   copy the contracts to openapi/released/ and name the section after the version in package.json and today
  --help      print this text
`;

const changelog = join(root, "CHANGELOG.md");
const folder = join(root, "openapi");
const generatedFolder = join(root, "generated");
const releasedFolder = join(folder, "released");

interface Comparison {
  /** The contract by its title and version. */
  name: string;
  /** The released version; undefined when there is none. */
  before: string | undefined;
  /** The changes for callers, as lines of Markdown. */
  lines: string[];
  /** The reason why the version number is wrong; undefined when it is right. */
  fault: string | undefined;
}

/**
 * The contract that is compared and released: of a service the published form, and of the queue the written one, whose
 * references lead to the released contract beside it. Between two bundles Redocly names no member that has changed.
 */
const currentPath = (file: string) => join(file.endsWith(".asyncapi.yaml") ? folder : generatedFolder, file);

async function compare(file: string): Promise<Comparison> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "changes-"));
  const current = await openContract(currentPath(file), join(folder.path, "current.yaml"));
  const now = current.contract;
  const { title, version } = now.info;
  const name = `${title} ${version}`;
  const path = join(releasedFolder, file);
  if (!existsSync(path)) return { name, before: undefined, lines: [], fault: undefined };
  const released = await openContract(path, join(folder.path, "released.yaml"));
  const before = released.contract;
  const options = ["--format", "json", "--fail-on", "none", "--check-version"];
  const { output, errors } = await redocly(["diff", released.path, current.path, ...options]);
  if (output === "") throw new Error(errors);
  const changes = (JSON.parse(output) as { changes: Change[] }).changes.filter(
    ({ path }) => path !== "#/info",
  );
  const isLower = version.localeCompare(before.info.version, "en", { numeric: true }) < 0;
  const fault = isLower ? `${before.info.version} is released already` : /info\.version.*/.exec(errors)?.[0];
  return {
    name,
    before: before.info.version,
    lines: describeChanges(changes, before, now),
    fault: fault && `${title}: ${fault}`,
  };
}

/**
 * A contract, and the file of it that is compared. That of a service is written there in OpenAPI 3.2, where Redocly knows
 * what is sent and what has the method QUERY.
 */
async function openContract(path: string, compared: string): Promise<{ path: string; contract: Document }> {
  try {
    const document = parseDocument(await readFile(path, "utf8"));
    if (path.endsWith(".asyncapi.yaml")) return { path, contract: document.toJS() };
    const [error] = document.errors;
    if (error) throw error;
    toOpenApi32(document);
    await writeFile(compared, document.toString());
    return { path: compared, contract: document.toJS() };
  } catch (error) {
    throw new Error(`${relative(root, path)}: ${(error as Error).message}`);
  }
}

/** The contract section of the changelog, in Markdown. */
function sectionOf(comparisons: Comparison[]): string {
  const unchanged = ({ before, lines }: Comparison) => before !== undefined && lines.length === 0;
  const blocks = comparisons
    .filter((comparison) => !unchanged(comparison))
    .flatMap(({ name, before, lines }) =>
      before === undefined ? `${name}, the first release.` : [`${name}, after ${before}:`, lines.join("\n")],
    );
  const unchangedNames = comparisons.filter(unchanged).map(({ name }) => name);
  if (unchangedNames.length > 0) blocks.push(`Unchanged: ${unchangedNames.join(", ")}.`);
  return blocks.map((block) => `${block}\n\n`).join("");
}

const heading = "## Unreleased\n\n### Contract\n\n";

/** Splits the changelog into the text before, in and after the section of the unreleased contracts. */
function splitChangelog(text: string): [before: string, section: string, after: string] {
  const start = text.indexOf(heading);
  if (start === -1) throw new Error('CHANGELOG.md has no section "Contract" under "Unreleased"');
  const rest = text.slice(start + heading.length);
  const length = rest.search(/^##/m);
  const end = length === -1 ? rest.length : length;
  return [text.slice(0, start), rest.slice(0, end), rest.slice(end)];
}

async function run(mode: string | undefined): Promise<void> {
  const files = await contractsIn(folder);
  const missing = (await contractsIn(releasedFolder)).filter((file) => !files.includes(file));
  if (missing.length > 0)
    throw new Error(`released contracts are missing in openapi/: ${missing.join(", ")}`);
  const comparisons = await Promise.all(files.map(compare));
  const faults = comparisons.flatMap(({ fault }) => fault ?? []);
  const section = sectionOf(comparisons);
  say(section.trimEnd());
  if (faults.length > 0) throw new AggregateError(faults.map((fault) => new Error(fault)));

  const text = await readFile(changelog, "utf8");
  const [before, written, after] = splitChangelog(text);
  if (mode === "--check") {
    if (written !== section)
      throw new Error("CHANGELOG.md does not list the changes to the contracts; run npm run changes");
  } else if (mode === undefined) {
    await writeFile(changelog, before + heading + section + after);
  } else {
    for (const file of files) await copyFile(currentPath(file), join(releasedFolder, file));
    const today = new Date().toISOString().slice(0, 10);
    const nextSection = sectionOf(await Promise.all(files.map(compare)));
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const releasedHeading = heading.replace("Unreleased", `${version} (${today})`);
    await writeFile(changelog, before + heading + nextSection + releasedHeading + section + after);
    say(`released ${comparisons.map(({ name }) => name).join(", ")}`);
  }
}

await runCommand("changes", usage, async (args) => {
  rejectUnknown(args, ["--check", "--release"]);
  if (args.length > 1) throw new UsageError("at most one of --check and --release");
  await run(args[0]);
});
