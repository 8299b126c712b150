import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import SwaggerParser from "@apidevtools/swagger-parser";
import openapiTS, { astToString, type SchemaObject } from "openapi-typescript";
import ts from "typescript";
import { runCommand, say, UsageFault } from "../src/service/command.ts";
import { needsBigInt } from "../src/service/int64.ts";

const usage = `Usage: npm run codegen [-- --check]

Makes generated/NAME.json (the contract in one piece, whose route schemas the services bind)
and generated/NAME.ts (its types) from every openapi/NAME.yaml.

  --check   write nothing; exit 1 when a generated file differs from what would be written
  --help    print this text
`;

const openapiFolder = new URL("../openapi/", import.meta.url);
const generatedFolder = new URL("../generated/", import.meta.url);

/** Everything that one contract becomes: text by file name. Pure but for reading the contract. */
export async function generate(contract: URL, name: string): Promise<Map<string, string>> {
  await SwaggerParser.validate(fileURLToPath(contract), { dereference: { circular: "ignore" } });
  const bundled = await SwaggerParser.bundle(fileURLToPath(contract));
  const types = await openapiTS(readAsServer(structuredClone(bundled)) as never, {
    alphabetize: true,
    transform: bigIntWhereNeeded,
  });
  return new Map([
    [`${name}.json`, `${JSON.stringify(bundled, null, 2)}\n`],
    [
      `${name}.ts`,
      `// Made from openapi/${name}.yaml by npm run codegen. Do not edit.\n\n${astToString(types)}`,
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

const hasDefault = (schema: unknown) => typeof schema === "object" && schema !== null && "default" in schema;

async function run(check: boolean): Promise<void> {
  const contracts = (await readdir(openapiFolder)).filter((file) => file.endsWith(".yaml")).sort();
  await mkdir(generatedFolder, { recursive: true });
  const stale: string[] = [];
  for (const file of contracts) {
    for (const [name, text] of await generate(new URL(file, openapiFolder), file.replace(/\.yaml$/, ""))) {
      const target = new URL(name, generatedFolder);
      if (text === (await readFile(target, "utf8").catch(() => undefined))) continue;
      stale.push(`generated/${name}`);
      if (!check) await writeFile(target, text);
    }
  }
  if (stale.length === 0) say(`${contracts.length} contracts, everything generated is up to date`);
  else if (!check) say(`wrote ${stale.join(", ")}`);
  else throw new Error(`differs from the contract: ${stale.join(", ")}; run npm run codegen`);
}

if (import.meta.main) {
  await runCommand("codegen", usage, async (args) => {
    const unknown = args.filter((arg) => arg !== "--check");
    if (unknown.length > 0) throw new UsageFault(`unknown: ${unknown.join(" ")}; known: --check, --help`);
    await run(args.includes("--check"));
  });
}
