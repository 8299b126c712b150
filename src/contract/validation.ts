import type { ErrorObject, SchemaValidateFunction, ValidateFunction, Vocabulary } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { readInstant } from "../values/instant.ts";
import type { JsonSchema } from "./describe-schema.ts";
import { type Fault, faultsOf } from "./faults.ts";
import { formats } from "./formats.ts";
import { type Contract, follow } from "./operations.ts";
import { openRemedies } from "./remedy.ts";

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/** For each value of `x-excluded-characters`: true if a text has such a character. */
const hasExcluded = {
  NUL: (text: string) => text.includes("\0"),
  "control characters": (text: string) => /\p{Cc}/u.test(text),
};

const hasUniqueItems: SchemaValidateFunction = (unique: boolean, list: unknown[], parentSchema) => {
  const seen = new Set();
  const repeated = unique ? list.findIndex((item) => seen.size === seen.add(item).size) : -1;
  const message = `must not repeat an element; element ${repeated + 1} is repeated`;
  hasUniqueItems.errors = [{ keyword: "x-unique-items", message, params: {}, parentSchema, data: list }];
  return repeated === -1;
};

const keywords: Vocabulary = [
  ...["example", "externalDocs", "xml", "discriminator", "components"],
  // Read by generators, by the reader of parameters (`http/parameters.ts`), and where messages are masked.
  ...["x-enum-varnames", "x-ignore-case", "x-personal-data", "x-pattern-description", "x-effective-maximum"],
  {
    keyword: "int64",
    validate: (_: true, value: unknown) => typeof value === "bigint" && BigInt.asIntN(64, value) === value,
    error: { message: "must be a 64-bit integer" },
  },
  // Generators make wrong types of a const that is no text.
  {
    keyword: "x-const",
    validate: (constant: unknown, value: unknown) => value === constant,
    error: { message: "must be the declared constant" },
  },
  // The form of an instant. Clients that openapi-generator makes for Go reject instants with a pattern.
  {
    keyword: "x-fraction-digits",
    type: "string",
    schemaType: "number",
    validate: (digits: number, text: string) => new RegExp(`:\\d\\d\\.\\d{${digits}}Z$`).test(text),
    error: { message: "must be in UTC with the declared number of fraction digits" },
  },
  // A format allows more: no seconds, an offset of hours only, the name of a time zone.
  {
    keyword: "x-rfc-3339",
    type: "string",
    schemaType: "boolean",
    // A text that is no instant at all has the fault of its format.
    validate: (_: true, text: string) => rfc3339.test(text) || readInstant(text) === undefined,
    error: { message: "must have seconds and a UTC offset of hours and minutes or Z" },
  },
  // In a pattern they are bytes or an invalid escape for generated clients: Ruby loads none of them, PHP rejects `日本`.
  {
    keyword: "x-excluded-characters",
    type: "string",
    metaSchema: { enum: Object.keys(hasExcluded) },
    validate: (name: keyof typeof hasExcluded, text: string) => !hasExcluded[name](text),
    error: { message: ({ schema }) => `must not contain ${schema}` },
  },
  // For texts. Generators read uniqueItems as a set, which loses the order.
  {
    keyword: "x-unique-items",
    type: "array",
    schemaType: "boolean",
    validate: hasUniqueItems,
    errors: true,
  },
];

/**
 * The validator of the services: JSON Schema 2020-12 without coercion, removal or defaults. A schema with an unknown
 * format or keyword does not compile.
 */
export const openAjv = (): Ajv2020 =>
  new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allErrors: true,
    addUsedSchema: false,
    // Codegen validates the contracts. Here it would hold the event loop during the first request.
    validateSchema: false,
    verbose: true,
    formats,
    keywords,
  });

/**
 * The errors of a value, undefined if it is valid. The validator is compiled at its first use, since compiling all of them
 * would slow down the start.
 */
export function lazyValidator(compile: () => ValidateFunction) {
  let validate: ValidateFunction | undefined;
  return (value: unknown): ErrorObject[] | undefined => {
    validate ??= compile();
    return validate(value) ? undefined : (validate.errors ?? []);
  };
}

type Node = Record<string, unknown>;

/** A copy of a document in which `change` has replaced each object, the inner ones first. */
export function mapObjects(node: unknown, change: (object: Node) => Node): unknown {
  if (Array.isArray(node)) return node.map((item) => mapObjects(item, change));
  if (typeof node !== "object" || node === null) return node;
  const entries = Object.entries(node).map(([key, value]) => [key, mapObjects(value, change)]);
  return change(Object.fromEntries(entries));
}

/** A schema, which is not recursive, with what it refers to in the place of each reference. */
export const resolved = (contract: Contract, schema: unknown): JsonSchema =>
  mapObjects(schema, ({ $ref, ...others }) =>
    $ref === undefined ? others : { ...resolved(contract, follow(contract, { $ref })), ...others },
  ) as JsonSchema;

/**
 * A schema in which a list that is too long is one error and its items are not validated, so that the number of errors
 * does not grow with the body.
 */
export const withBoundedErrors = (schema: object) =>
  mapObjects(schema, (node) => {
    const { maxItems, items, "x-unique-items": unique = false, ...others } = node;
    if (typeof maxItems !== "number" || items === undefined) return node;
    const validItems = { items, "x-unique-items": unique };
    return { ...others, maxItems, if: { minItems: maxItems + 1 }, else: validItems };
  }) as object;

/** Compiles schemas of a contract, which can refer to its components. Each schema is compiled once. */
export function contractCompiler({ components = {} }: Contract): (schema: object) => ValidateFunction {
  const ajv = openAjv().addSchema({ components }, "contract", undefined, false);
  const compiled = new Map<object, ValidateFunction>();
  return (schema) => {
    const known = compiled.get(schema);
    if (known) return known;
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"contract#/');
    const validate = ajv.compile(JSON.parse(text));
    compiled.set(schema, validate);
    return validate;
  };
}

/**
 * A validator of a named schema of the contract, which is not recursive. It returns the faults, none if the value is valid.
 */
export function schemaValidator(contract: Contract, name: string): (value: unknown) => Fault[] {
  const ajv = openAjv();
  // Remedies need the schemas of the members, not references to them.
  const errorsIn = lazyValidator(() =>
    ajv.compile(resolved(contract, { $ref: `#/components/schemas/${name}` })),
  );
  const remedyOf = openRemedies(ajv);
  return (value) => faultsOf(errorsIn(value) ?? [], remedyOf);
}
