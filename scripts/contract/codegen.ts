import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import SwaggerParser from "@apidevtools/swagger-parser";
import openapiTS, { astToString, type SchemaObject } from "openapi-typescript";
import ts from "typescript";
import { parse } from "yaml";
import { needsBigInt } from "../../src/contract/int64.ts";
import { type Contract, follow, operationsOf, type Parameter } from "../../src/contract/operations.ts";
import { refuseUnknown, runCommand, say } from "../../src/process/command.ts";
import { contractsIn, redocly, root } from "../../testing/project.ts";
import { renderQueue } from "./queue-page.ts";

const usage = `Usage: npm run codegen [-- --check]

Makes generated/NAME.json (the contract in one piece, whose route schemas the services bind),
generated/NAME.ts (its types) and, where it has an x-state-machine, generated/NAME.state-machine.ts
from every openapi/NAME.yaml, and generated/NAME.asyncapi.yaml
(the contract in one piece) and generated/NAME.html (the page that shows it) from every
openapi/NAME.asyncapi.yaml.

  --check   write nothing; exit 1 when a generated file differs from what would be written
  --help    print this text
`;

const openapiFolder = join(root, "openapi");
const generatedFolder = join(root, "generated");

/** Everything that one contract becomes: text by file name. */
function generate(file: string): Promise<Map<string, string>> {
  const contract = join(openapiFolder, file);
  return file.endsWith(".asyncapi.yaml")
    ? bundleQueueContract(contract, file)
    : generateService(contract, file.replace(/\.yaml$/, ""));
}

const banner = (file: string) => `Made from openapi/${file} by npm run codegen. Do not edit.`;

/** What the contract of a queue refers to in that of a service becomes part of it. */
async function bundleQueueContract(contract: string, file: string): Promise<Map<string, string>> {
  const { code, output, errors } = await redocly(["bundle", contract, "--ext", "yaml"]);
  if (code !== 0) throw new Error(errors);
  return new Map([
    [file, `# ${banner(file)}\n\n${output.trimStart()}`],
    [file.replace(".asyncapi.yaml", ".html"), renderQueue(parse(output))],
  ]);
}

async function generateService(contract: string, name: string): Promise<Map<string, string>> {
  await SwaggerParser.validate(contract, { dereference: { circular: "ignore" } });
  const bundled = (await SwaggerParser.bundle(contract)) as unknown as Contract;
  const json = `${JSON.stringify(bundled, null, 2)}\n`;
  const operations = withDefaults(bundled);
  // The types are those a handler sees: a parameter with a default is always there.
  for (const parameter of operations.flatMap(({ defaulted }) => defaulted)) parameter.required = true;
  const types = await openapiTS(bundled as never, { alphabetize: true, transform: bigIntWhereNeeded });
  return new Map([
    [`${name}.json`, json],
    [`${name}.ts`, `// ${banner(`${name}.yaml`)}\n\n${astToString(types)}${tellDefaults(operations)}`],
    ...stateMachineOf(bundled, name),
  ]);
}

/** The rows of the tables of a state machine, by the names of the tables. */
function stateMachineOf(contract: Contract, name: string): [file: string, text: string][] {
  const machine = contract["x-state-machine"] as Record<string, { rows?: object[] }> | undefined;
  if (machine === undefined) return [];
  const tables = Object.entries(machine).filter(([, { rows }]) => rows !== undefined);
  const rows = Object.fromEntries(tables.map(([table, { rows }]) => [table, rows]));
  const text = `export const stateMachine = ${JSON.stringify(rows, null, 2)} as const;\n`;
  return [[`${name}.state-machine.ts`, `// ${banner(`${name}.yaml`)}\n\n${text}`]];
}

function bigIntWhereNeeded(schema: SchemaObject): ts.TypeNode | undefined {
  if (!needsBigInt(schema as { format?: string })) return undefined;
  const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
  if (!Array.isArray(schema.type)) return bigint;
  return ts.factory.createUnionTypeNode([bigint, ts.factory.createLiteralTypeNode(ts.factory.createNull())]);
}

type WithDefaults = { operationId: string; defaulted: Parameter[] };

/** Of each operation the parameters that have a default. */
const withDefaults = (contract: Contract): WithDefaults[] =>
  operationsOf(contract).map(({ operationId, parameters }) => ({
    operationId,
    defaulted: parameters.filter(({ schema }) => "default" in (follow(contract, schema) as object)),
  }));

/** What handlers always see, a caller may leave out; so a client needs to be told. */
function tellDefaults(operations: WithDefaults[]): string {
  const lines = operations.map(({ operationId, defaulted }) => {
    const names = defaulted.map(({ name }) => JSON.stringify(name));
    return `    ${operationId}: ${names.join(" | ") || "never"};\n`;
  });
  return `/** Parameters with a default: a handler always has them, a caller may leave them out. */\nexport interface defaulted {\n${lines.join("")}}\n`;
}

async function run(check: boolean): Promise<void> {
  const contracts = await contractsIn(openapiFolder);
  const made = new Map((await Promise.all(contracts.map(generate))).flatMap((files) => [...files]));
  await mkdir(generatedFolder, { recursive: true });
  const there = await readdir(generatedFolder);
  const stale: string[] = [];
  for (const name of new Set([...made.keys(), ...there])) {
    const target = join(generatedFolder, name);
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

await runCommand("codegen", usage, async (args) => {
  refuseUnknown(args, ["--check"]);
  await run(args.includes("--check"));
});
