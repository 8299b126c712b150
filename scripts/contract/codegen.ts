import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import SwaggerParser from "@apidevtools/swagger-parser";
import openapiTS, { astToString, type SchemaObject } from "openapi-typescript";
import ts from "typescript";
import { parse, stringify } from "yaml";
import { needsBigInt } from "../../src/contract/int64.ts";
import {
  type Contract,
  follow,
  operationsOf,
  type Parameter,
  queryKey,
} from "../../src/contract/operations.ts";
import { openAjv } from "../../src/contract/validation.ts";
import { rejectUnknown, runCommand, say } from "../../src/process/command.ts";
import { contractsIn, redocly, root } from "../../testing/project.ts";
import { bundleConsoles } from "../console/bundle.ts";
import { clientOperations } from "./client-operations.ts";
import { completeContract, type Problems } from "./complete.ts";
import { describeSchemas } from "./database-schema.ts";
import { readEventTypes } from "./event-types.ts";
import { renderQueue } from "./queue-page.ts";

const usage = `Usage: npm run codegen [-- --check]

Generates from every openapi/NAME.yaml:
  generated/NAME.yaml               the complete contract, with the common responses of each operation
  generated/NAME.json               the same as JSON, for the routes of the services
  generated/NAME.ts                 its TypeScript types
  generated/NAME.defaults.ts        the default values of parameters
  generated/NAME.maxima.ts          the values of x-effective-maximum of parameters, if it has any
  generated/NAME.problems.ts        the kinds of problems
  generated/NAME.operations.ts      what the client needs of its operations
  generated/NAME.state-machine.ts   the tables of its x-state-machine, if it has one
  generated/NAME.event-types.ts     the types of its x-event-types with their states, if it has them
from all of them together:
  generated/problem-errors.ts       the errors of the client by kind of problem
and from every openapi/NAME.asyncapi.yaml:
  generated/NAME.asyncapi.yaml      the contract in one file
  generated/NAME.html               the contract as a page
  generated/NAME.md                 the same as Markdown
and from src/console and the client:
  generated/NAME.console.js         the console of a service, for browsers
  generated/sign-in.js              the code with which its readers sign in
and from the migrations of both services:
  src/ledger/tables/schema.sql and src/features/store/postgres/schema.sql, the schemas to be read

  --check   write nothing; exit with 1 if a generated file is not up to date
  --help    print this text
`;

const openapiFolder = join(root, "openapi");
const generatedFolder = join(root, "generated");

/** Generates the files of a contract: their texts by file name. */
function generate(file: string): Promise<Map<string, string>> {
  const contract = join(openapiFolder, file);
  return file.endsWith(".asyncapi.yaml")
    ? bundleQueueContract(contract, file)
    : generateService(contract, file.replace(/\.yaml$/, ""));
}

const banner = (file: string) => `Generated from openapi/${file} by npm run codegen. Do not edit.`;

/** Bundles the contract of a queue with the schemas of the service contract that it refers to. */
async function bundleQueueContract(contract: string, file: string): Promise<Map<string, string>> {
  const { code, output, errors } = await redocly(["bundle", contract, "--ext", "yaml"]);
  if (code !== 0) throw new Error(errors);
  const bundled = parse(output, keepDescription);
  for (const [name, schema] of Object.entries<Schema>(bundled.components.schemas)) addTitles(schema, name);
  const { html, markdown } = renderQueue(bundled);
  return new Map([
    [file, `# ${banner(file)}\n\n${stringify(bundled, yamlStyle)}`],
    [file.replace(".asyncapi.yaml", ".html"), html],
    [file.replace(".asyncapi.yaml", ".md"), markdown],
  ]);
}

/** AsyncAPI ignores what is beside a reference; OpenAPI 3.1 does not. */
function keepDescription(_key: unknown, value: unknown): unknown {
  const { $ref, description } = (value ?? {}) as { $ref?: string; description?: string };
  return $ref && description ? { description, allOf: [{ $ref }] } : value;
}

interface Schema {
  title?: string;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  oneOf?: Schema[];
  allOf?: { $ref: string }[];
}

/** Adds titles to a schema and those in it. Generators of models name a model by them, and others AnonymousSchema_1. */
function addTitles(schema: Schema, name: string): void {
  const { enum: values, properties = {}, oneOf = [], allOf: [first] = [] } = schema;
  if (values || schema.properties || first) schema.title ??= first?.$ref.split("/").at(-1) ?? name;
  for (const alternative of oneOf) addTitles(alternative, `${name}Text`);
  for (const [member, one] of Object.entries(properties))
    addTitles(
      one,
      member.replaceAll(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase()),
    );
}

/** Parsers of YAML 1.1 read a timestamp without quotes as a date. */
const yamlStyle = { version: "1.1", lineWidth: 0, singleQuote: true } as const;

async function generateService(path: string, name: string): Promise<Map<string, string>> {
  const { yaml, contract } = completeContract(await readFile(path, "utf8"));
  // The services read no other files.
  const [foreign] = /"\$ref":"[^#][^"]*"/.exec(JSON.stringify(contract)) ?? [];
  if (foreign) throw new Error(`${name}.yaml has a reference to another file: ${foreign}`);
  // Validation replaces the references in the value that it gets.
  await SwaggerParser.validate(structuredClone(contract) as never, { dereference: { circular: "ignore" } });
  validateSchemas(contract);
  requireExplainedKeywords(contract);
  const json = `${JSON.stringify(contract, null, 2)}\n`;
  const defaults = ofParameters(contract, (parameter) => defaultOf(contract, parameter));
  const all = ofParameters(contract, ({ schema }) => schema["x-effective-maximum"]);
  const maxima = Object.fromEntries(Object.entries(all).filter(([, own]) => Object.keys(own).length > 0));
  // In the types of handlers, a parameter with a default is always present.
  for (const { parameters } of operationsOf(contract)) {
    for (const parameter of parameters)
      if (defaultOf(contract, parameter) !== undefined) parameter.required = true;
  }
  const types = await openapiTS(withQueriesAsPaths(contract) as never, {
    alphabetize: true,
    transform: bigIntWhereNeeded,
  });
  const [machine, eventTypes] = [stateMachineOf(contract), readEventTypes(contract)];
  const maximaComment = "/** The largest values of parameters that make a difference, by operation. */\n";
  const defaultsComment = "/** Default values of parameters, by operation. */\n";
  const typeOfOperation = 'import type { ClientOperation } from "../src/client/operation.ts";\n\n';
  const modules = {
    "": astToString(types),
    ".defaults": `${defaultsComment}export const defaults = ${inCode(defaults)} as const;\n`,
    ...(Object.keys(maxima).length > 0 && {
      ".maxima": `${maximaComment}export const effectiveMaxima = ${inCode(maxima)} as const;\n`,
    }),
    ".problems": `export const problems = ${inCode(problemsOf(contract))} as const;\n`,
    ".operations": `${typeOfOperation}export const operations: ClientOperation[] = ${inCode(clientOperations(contract))};\n`,
    ...(machine && { ".state-machine": `export const stateMachine = ${inCode(machine)} as const;\n` }),
    ...(eventTypes && { ".event-types": `export const eventTypes = ${inCode(eventTypes)} as const;\n` }),
  };
  return new Map([
    [`${name}.yaml`, `# ${banner(`${name}.yaml`)}\n\n${yaml}`],
    [`${name}.json`, json],
    ...Object.entries(modules).map(([suffix, text]): [string, string] => [
      `${name}${suffix}.ts`,
      `// ${banner(`${name}.yaml`)}\n\n${text}`,
    ]),
  ]);
}

/** OpenAPI 3.1 has no place for an operation with the method QUERY, so for its types it gets a path of its own. */
function withQueriesAsPaths(contract: Contract): Contract {
  const queries = Object.entries(contract.paths).flatMap(([path, { [queryKey]: operation }]) =>
    operation === undefined ? [] : [[`${path}#query`, { post: operation }] as const],
  );
  return { ...contract, paths: { ...contract.paths, ...Object.fromEntries(queries) } };
}

const inCode = (value: unknown) => JSON.stringify(value, null, 2);

/** Validates each schema as JSON Schema 2020-12, since the services compile schemas without that. */
function validateSchemas(contract: Contract): void {
  const ajv = openAjv();
  const validate = (place: string, schema: unknown) => {
    if (!ajv.validateSchema(schema as object)) throw new Error(`${place}: ${ajv.errorsText(ajv.errors)}`);
  };
  for (const [name, schema] of Object.entries(contract.components?.schemas ?? {}))
    validate(`components/schemas/${name}`, schema);
  for (const { operationId, parameters, body, responses } of operationsOf(contract)) {
    for (const { name, schema } of parameters) {
      validate(`${operationId}: ${name}`, schema);
      requireDescribedPatterns(contract, `${operationId}: ${name}`, schema);
    }
    if (body) {
      validate(`${operationId}: body`, body.schema);
      requireDescribedPatterns(contract, `${operationId}: body`, body.schema);
    }
    for (const [status, { content = {} }] of Object.entries(responses))
      for (const { schema } of Object.values(content)) validate(`${operationId}: ${status}`, schema);
  }
}

/** Throws if `x-keywords` does not list exactly the keywords that begin with `x-` below the sections of the contract. */
function requireExplainedKeywords(contract: Contract): void {
  const { description: _, ...tables } = (contract["x-keywords"] ?? {}) as Record<
    string,
    { rows: { keyword: string }[] }
  >;
  const listed = Object.values(tables).flatMap(({ rows }) => rows.map(({ keyword }) => keyword.slice(1, -1)));
  const used = new Set(["paths", "components"].flatMap((section) => keywordsIn(contract[section])));
  const odd = new Set(listed).symmetricDifference(used);
  if (odd.size > 0) throw new Error(`x-keywords must list what is used, but for ${[...odd].join(", ")}`);
}

function keywordsIn(node: unknown): string[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([name, value]) =>
    name === "examples" || name === "example"
      ? []
      : [...(name.startsWith("x-") ? [name] : []), ...keywordsIn(value)],
  );
}

/** Throws if a pattern of a request has no description. The error for a broken pattern shows it. */
function requireDescribedPatterns(contract: Contract, place: string, node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  const schema = follow(contract, node) as Record<string, unknown>;
  if (typeof schema.pattern === "string" && !("x-pattern-description" in schema))
    throw new Error(`${place} has a pattern without x-pattern-description: ${schema.pattern}`);
  for (const member of Object.values(schema)) requireDescribedPatterns(contract, place, member);
}

/** The kinds of problems, without their texts for people. */
function problemsOf(contract: Contract) {
  const kinds = Object.entries((contract["x-problems"] ?? {}) as Problems);
  return Object.fromEntries(kinds.map(([name, { status, title }]) => [name, { status, title }]));
}

/** A class for each kind of problem in the contracts, for the client. */
function problemErrors(generated: Map<string, string>): string {
  const contracts = [...generated].flatMap(([name, text]) =>
    name.endsWith(".json") ? JSON.parse(text) : [],
  );
  const kinds = Object.assign({}, ...contracts.map(problemsOf)) as ReturnType<typeof problemsOf>;
  const classes = Object.entries(kinds).map(([kind, { status, title }]) => ({
    kind,
    status,
    title,
    name: errorName(kind),
  }));
  return `// ${banner("*.yaml")}

import { ResponseError } from "../src/client/response-error.ts";

${classes
  .map(
    ({ kind, status, title, name }) => `/** ${title} (\`/problems/${kind}\`, status ${status}). */
export class ${name} extends ResponseError {
  override readonly name: string = "${name}";
}
`,
  )
  .join("\n")}
/** The classes by kind of problem. */
export const problemErrors: Record<string, typeof ResponseError> = {
${classes.map(({ kind, name }) => `  "${kind}": ${name},\n`).join("")}};
`;
}

const errorName = (kind: string) =>
  `${kind.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())}Error`;

/** The rows of each table of the state machine, if the contract has one. */
function stateMachineOf(contract: Contract): Record<string, unknown> | undefined {
  const machine = contract["x-state-machine"] as Record<string, { rows?: object[] }> | undefined;
  const tables = Object.entries(machine ?? {}).filter(([, { rows }]) => rows !== undefined);
  return machine && Object.fromEntries(tables.map(([table, { rows }]) => [table, rows]));
}

function bigIntWhereNeeded(schema: SchemaObject): ts.TypeNode | undefined {
  if (!needsBigInt(schema as { format?: string })) return undefined;
  const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
  if (!Array.isArray(schema.type)) return bigint;
  return ts.factory.createUnionTypeNode([bigint, ts.factory.createLiteralTypeNode(ts.factory.createNull())]);
}

/** The default of a parameter. It can stand beside a reference. */
const defaultOf = (contract: Contract, { schema }: Parameter): unknown =>
  schema.default ?? (follow(contract, schema) as { default?: unknown }).default;

/** A value of the parameters of each operation, by name. */
const ofParameters = (contract: Contract, valueIn: (parameter: Parameter) => unknown) =>
  Object.fromEntries(
    operationsOf(contract).map(({ operationId, parameters }) => [
      operationId,
      Object.fromEntries(
        parameters
          .map((parameter) => [parameter.name, valueIn(parameter)])
          .filter(([, value]) => value !== undefined),
      ),
    ]),
  );

/** The texts of files in `generated/` by path. */
const inGenerated = (texts: Iterable<[string, string]>) =>
  new Map([...texts].map(([name, text]) => [`generated/${name}`, text]));

/** Writes the texts that differ from the files at their paths, which it returns. With `check` nothing is written. */
async function update(texts: Map<string, string>, check: boolean): Promise<string[]> {
  const stale: string[] = [];
  for (const [path, text] of texts) {
    const target = join(root, path);
    if (text === (await readFile(target, "utf8").catch(() => undefined))) continue;
    stale.push(path);
    if (!check) await writeFile(target, text);
  }
  return stale;
}

async function run(check: boolean): Promise<void> {
  const contracts = await contractsIn(openapiFolder);
  await mkdir(generatedFolder, { recursive: true });
  const [schemas, ...files] = await Promise.all([describeSchemas(), ...contracts.map(generate)]);
  const generated = new Map(files.flatMap((one) => [...one]));
  generated.set("problem-errors.ts", problemErrors(generated));
  const texts = inGenerated(generated);
  const stale = await update(new Map([...texts, ...schemas]), check);
  // The consoles contain the client, which contains what has just been written.
  const consoles = inGenerated(await bundleConsoles());
  stale.push(...(await update(consoles, check)));
  const leftOver = (await readdir(generatedFolder))
    .map((name) => `generated/${name}`)
    .filter((path) => !texts.has(path) && !consoles.has(path));
  if (!check) for (const path of leftOver) await rm(join(root, path));
  const names = [...stale, ...leftOver].join(", ");
  if (names === "")
    say(`the generated files of ${contracts.length} contracts and ${schemas.size} schemas are up to date`);
  else if (!check) say(`wrote or removed ${names}`);
  else throw new Error(`not up to date: ${names}; run npm run codegen`);
}

await runCommand("codegen", usage, async (args) => {
  rejectUnknown(args, ["--check"]);
  await run(args.includes("--check"));
});
