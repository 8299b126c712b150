import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import SwaggerParser from "@apidevtools/swagger-parser";
import openapiTS, { astToString, type SchemaObject } from "openapi-typescript";
import ts from "typescript";
import { parse } from "yaml";
import { runCommand, say, UsageFault } from "../src/service/command.ts";
import { needsBigInt } from "../src/service/int64.ts";
import { type Contract, follow, operationsOf } from "../src/service/operations.ts";
import { renderQueue } from "./queue-page.ts";

const usage = `Usage: npm run codegen [-- --check]

Makes generated/NAME.json (the contract in one piece, whose route schemas the services bind)
and generated/NAME.ts (its types) from every openapi/NAME.yaml, and generated/NAME.asyncapi.yaml
(the contract in one piece) and generated/NAME.html (the page that shows it) from every
openapi/NAME.asyncapi.yaml.

  --check   write nothing; exit 1 when a generated file differs from what would be written
  --help    print this text
`;

const openapiFolder = new URL("../openapi/", import.meta.url);
const redocly = fileURLToPath(import.meta.resolve("@redocly/cli/bin/cli.js"));
const generatedFolder = new URL("../generated/", import.meta.url);

/** Everything that one contract becomes: text by file name. Pure but for reading the contract. */
function generate(file: string): Promise<Map<string, string>> {
  const contract = fileURLToPath(new URL(file, openapiFolder));
  return file.endsWith(".asyncapi.yaml")
    ? bundleQueueContract(contract, file)
    : generateService(contract, file.replace(/\.yaml$/, ""));
}

/** What the contract of a queue refers to in that of a service becomes part of it. */
async function bundleQueueContract(contract: string, file: string): Promise<Map<string, string>> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [redocly, "bundle", contract, "--ext", "yaml"],
    {
      cwd: fileURLToPath(new URL("../", import.meta.url)),
    },
  );
  return new Map([
    [
      file,
      `# Made from openapi/${file} by npm run codegen. Do not edit.

${stdout.trimStart()}`,
    ],
    [file.replace(".asyncapi.yaml", ".html"), renderQueue(parse(stdout))],
  ]);
}

async function generateService(contract: string, name: string): Promise<Map<string, string>> {
  await SwaggerParser.validate(contract, { dereference: { circular: "ignore" } });
  const bundled = await SwaggerParser.bundle(contract);
  const types = await openapiTS(readAsServer(structuredClone(bundled)) as never, {
    alphabetize: true,
    transform: bigIntWhereNeeded,
  });
  return new Map([
    [`${name}.json`, `${JSON.stringify(bundled, null, 2)}\n`],
    [
      `${name}.ts`,
      `// Made from openapi/${name}.yaml by npm run codegen. Do not edit.\n\n${astToString(types)}${defaulted(bundled as unknown as Contract)}`,
    ],
  ]);
}

function bigIntWhereNeeded(schema: SchemaObject): ts.TypeNode | undefined {
  if (!needsBigInt(schema as { format?: string })) return undefined;
  const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
  if (!Array.isArray(schema.type)) return bigint;
  return ts.factory.createUnionTypeNode([bigint, ts.factory.createLiteralTypeNode(ts.factory.createNull())]);
}

/** The types are those a handler sees: a parameter with a default is always there. */
function readAsServer(node: unknown): unknown {
  if (typeof node === "object" && node !== null) {
    if ("in" in node && "schema" in node && hasDefault(node.schema)) Object.assign(node, { required: true });
    for (const child of Object.values(node)) readAsServer(child);
  }
  return node;
}

/** The types are those a handler sees, so a caller needs to be told what can be left out. */
function defaulted(contract: Contract): string {
  const lines = operationsOf(contract).map(({ operationId, parameters }) => {
    const names = parameters.filter(({ schema }) => hasDefault(follow(contract, schema)));
    return `    ${operationId}: ${names.map(({ name }) => JSON.stringify(name)).join(" | ") || "never"};\n`;
  });
  return `/** Parameters with a default: a handler always has them, a caller may leave them out. */\nexport interface defaulted {\n${lines.join("")}}\n`;
}

const hasDefault = (schema: unknown) => typeof schema === "object" && schema !== null && "default" in schema;

async function run(check: boolean): Promise<void> {
  const contracts = (await readdir(openapiFolder)).filter((file) => file.endsWith(".yaml")).sort();
  const made = new Map((await Promise.all(contracts.map(generate))).flatMap((files) => [...files]));
  await mkdir(generatedFolder, { recursive: true });
  const there = await readdir(generatedFolder);
  const stale: string[] = [];
  for (const name of new Set([...made.keys(), ...there])) {
    const target = new URL(name, generatedFolder);
    const text = made.get(name);
    if (text === (await readFile(target, "utf8").catch(() => undefined))) continue;
    stale.push(`generated/${name}`);
    if (check) continue;
    if (text === undefined) await rm(target);
    else await writeFile(target, text);
  }
  if (stale.length === 0) say(`${contracts.length} contracts, everything generated is up to date`);
  else if (!check) say(`wrote or removed ${stale.join(", ")}`);
  else throw new Error(`differs from the contract: ${stale.join(", ")}; run npm run codegen`);
}

if (import.meta.main) {
  await runCommand("codegen", usage, async (args) => {
    const unknown = args.filter((arg) => arg !== "--check");
    if (unknown.length > 0) throw new UsageFault(`unknown: ${unknown.join(" ")}; known: --check, --help`);
    await run(args.includes("--check"));
  });
}
