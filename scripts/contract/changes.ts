import { existsSync } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { parse } from "yaml";
import { refuseUnknown, runCommand, say, UsageFault } from "../../src/process/command.ts";
import { contractsIn, redocly, root } from "../../testing/project.ts";

const usage = `Usage: npm run changes [-- --check | --release]

Compares the contracts with those that were last released (openapi/released/), and writes what changed into the
section "Contract" of what is unreleased in CHANGELOG.md. Exit code: 1 when a change asks for a higher version than
its contract has: a breaking one for a new major version, an addition for a minor one, any other for a patch.

  --check     write nothing; exit 1 also when CHANGELOG.md tells something else
  --release   the contracts as they are become the released ones, under the date of today
  --help      print this text
`;

const changelog = join(root, "CHANGELOG.md");
const folder = join(root, "openapi");
const releasedFolder = join(folder, "released");

/** What the comparer reports; the part that is read here. */
interface Report {
  changes: {
    path: string;
    kind: "added" | "removed" | "modified";
    impact: "major" | "minor" | "patch";
    property?: string;
    verdicts: { message: string }[];
  }[];
}

interface Comparison {
  /** The contract by its title and version. */
  name: string;
  /** The released version; undefined when there is none. */
  before: string | undefined;
  report: Report;
  /** Why the version will not do, when it will not. */
  fault: string | undefined;
}

async function compare(file: string): Promise<Comparison> {
  const [now, released] = [join(folder, file), join(releasedFolder, file)];
  const { title, version } = await infoOf(now);
  const name = `${title} ${version}`;
  if (!existsSync(released)) return { name, before: undefined, report: { changes: [] }, fault: undefined };
  const before = await infoOf(released);
  const options = ["--format", "json", "--fail-on", "none", "--check-version"];
  const { output, errors } = await redocly(["diff", released, now, ...options]);
  if (output === "") throw new Error(errors);
  const report = JSON.parse(output) as Report;
  report.changes = report.changes.filter(({ path }) => path !== "#/info");
  const isLower = version.localeCompare(before.version, "en", { numeric: true }) < 0;
  const fault = isLower ? `${before.version} is released already` : /info\.version.*/.exec(errors)?.[0];
  return { name, before: before.version, report, fault: fault && `${title}: ${fault}` };
}

async function infoOf(path: string): Promise<{ title: string; version: string }> {
  try {
    return parse(await readFile(path, "utf8")).info;
  } catch (error) {
    throw new Error(`${relative(root, path)}: ${(error as Error).message}`);
  }
}

/** The changelog's section for what changed, in Markdown, breaking changes first. */
function tell(comparisons: Comparison[]): string {
  const unchanged = ({ before, report }: Comparison) => before !== undefined && report.changes.length === 0;
  const blocks = comparisons
    .filter((comparison) => !unchanged(comparison))
    .flatMap(({ name, before, report }) =>
      before === undefined
        ? `${name}, the first release.`
        : [
            `${name}, before ${before}:`,
            report.changes
              .toSorted((a, b) => impacts.indexOf(a.impact) - impacts.indexOf(b.impact))
              .map(line)
              .filter((told, index, all) => all.indexOf(told) === index)
              .join("\n"),
          ],
    );
  const same = comparisons.filter(unchanged).map(({ name }) => name);
  if (same.length > 0) blocks.push(`Unchanged: ${same.join(", ")}.`);
  return blocks.map((block) => `${block}\n\n`).join("");
}

const impacts = ["major", "minor", "patch"];
const texts = ["description", "summary", "title", "example", "examples"];
const noise = ["content", "schema", "properties", "discriminator", "mapping"];

function line({ path, kind, impact, property, verdicts }: Report["changes"][number]): string {
  if (impact === "patch" && texts.includes(property ?? "")) return "- Texts and examples.";
  const steps = path
    .slice(2)
    .split("/")
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));
  const [address, method, ...rest] = steps[0] === "paths" ? steps.slice(1) : ["", "", ...steps];
  const place = rest.filter((step) => !noise.includes(step)).join(".");
  const where = [method?.toUpperCase(), address, place].filter(Boolean).join(" ");
  const what = verdicts.map(({ message }) => message).join(" ") || `${property ? `${property} ` : ""}${kind}`;
  return `- ${impact === "major" ? "**breaking** " : ""}${where}: ${what}`;
}

const heading = "## Unreleased\n\n### Contract\n\n";

/** What stands before the section "Contract" of what is unreleased, in it and after it. */
function cut(text: string): [before: string, section: string, after: string] {
  const start = text.indexOf(heading);
  if (start === -1) throw new Error('CHANGELOG.md has no section "Contract" under "Unreleased"');
  const rest = text.slice(start + heading.length);
  const length = rest.search(/^##/m);
  const end = length === -1 ? rest.length : length;
  return [text.slice(0, start), rest.slice(0, end), rest.slice(end)];
}

async function run(mode: "write" | "check" | "release"): Promise<void> {
  const files = await contractsIn(folder);
  const gone = (await contractsIn(releasedFolder)).filter((file) => !files.includes(file));
  if (gone.length > 0) throw new Error(`released, and no longer in openapi/: ${gone.join(", ")}`);
  const comparisons = await Promise.all(files.map(compare));
  const faults = comparisons.flatMap(({ fault }) => fault ?? []);
  const section = tell(comparisons);
  say(section.trimEnd());
  if (faults.length > 0) throw new AggregateError(faults.map((fault) => new Error(fault)));

  const text = await readFile(changelog, "utf8");
  const [before, told, after] = cut(text);
  if (mode === "check") {
    if (told !== section)
      throw new Error("CHANGELOG.md tells something else of the contracts; run npm run changes");
  } else if (mode === "write") {
    await writeFile(changelog, before + heading + section + after);
  } else {
    for (const file of files) await copyFile(join(folder, file), join(releasedFolder, file));
    const today = new Date().toISOString().slice(0, 10);
    const same = tell(await Promise.all(files.map(compare)));
    const dated = heading.replace("Unreleased", today);
    await writeFile(changelog, before + heading + same + dated + section + after);
    say(`released ${comparisons.map(({ name }) => name).join(", ")}`);
  }
}

const modes = { "--check": "check", "--release": "release" } as const;

await runCommand("changes", usage, async (args) => {
  refuseUnknown(args, Object.keys(modes));
  const [mode, ...more] = args as (keyof typeof modes)[];
  if (more.length > 0) throw new UsageFault("takes one of --check and --release");
  await run(mode === undefined ? "write" : modes[mode]);
});
