import type { Ajv2020 } from "ajv/dist/2020.js";
import { needsBigInt } from "../contract/int64.ts";
import { describeErrors, lazyValidator, withBoundedErrors } from "../contract/validation.ts";
import { isUnicode } from "../values/json.ts";
import { HttpError } from "./http-error.ts";

type Schema = Record<string, unknown> & {
  type?: unknown;
  items?: Schema;
  format?: string;
  enum?: string[];
  properties?: Record<string, Schema>;
  required?: string[];
};
type Outcome = { value: unknown } | { error: HttpError };
const invalid = (messages: string[]): Outcome => ({ error: new HttpError(400, messages) });

const kinds = { params: "path parameter", querystring: "query parameter", headers: "header" } as const;
export type ParametersPart = keyof typeof kinds;

/**
 * A reader of path, query or header parameters. It converts text to the declared type, strictly: `1e3` is not an integer,
 * `yes` is not a boolean. It accepts what clients send: `0` and `1` as booleans, a list as `NAME[]`, and an instant as
 * `instantOf` reads it. With `x-ignore-case` it converts a text to the declared value that differs only in letter case.
 * Returns a 400 that lists every error. A 64-bit integer is exact; a path with an integer beyond 64 bits gets 404.
 */
export function parametersReader(
  ajv: Ajv2020,
  { blankIsAbsent = false, ...schema }: ParametersSchema,
  part: ParametersPart,
): (given: Record<string, unknown>) => Outcome {
  const declared = Object.entries(schema.properties);
  const properties = Object.fromEntries(declared.map(([name, property]) => [name, forValidation(property)]));
  const errorsIn = lazyValidator(() => ajv.compile({ ...schema, properties }));
  const toConvert = declared.filter(([, property]) => isConverted(property));
  const lists = Object.keys(properties).filter((name) => schema.properties[name]?.type === "array");
  const optional = new Set(Object.keys(properties).filter((name) => !schema.required?.includes(name)));
  const scopes = Object.keys(properties).filter((name) => schema.properties[name]?.isScope);
  return (sent) => {
    const named = withListNames(sent, lists);
    const open = scopes.filter((name) => Object.hasOwn(named, name) && isBlank(named[name]));
    if (open.length > 0) return invalid(open.map(emptyScope));
    const given = blankIsAbsent ? withoutBlanks(named, optional) : named;
    const value = toConvert.length > 0 ? { ...given } : given;
    for (const [name, property] of toConvert) {
      if (Object.hasOwn(given, name)) value[name] = convert(given[name], property);
      else if ("default" in property) value[name] = property.default;
    }
    const errors = errorsIn(value);
    if (!errors) return { value };
    const isTooLarge = errors.every(({ keyword, data }) => keyword === "int64" && typeof data === "bigint");
    if (part === "params" && isTooLarge) return { error: new HttpError(404, ["Not Found"]) };
    return invalid(describeErrors(errors, (path) => `${kinds[part]} ${path.slice(1)}`));
  };
}

export interface ParametersSchema {
  properties: Record<string, Schema>;
  required?: string[];
  /** Whether an optional parameter without a value, or with spaces or commas only, counts as not given. */
  blankIsAbsent?: boolean;
}

/** The parameters without the optional ones that are blank. Consumers send filters that a person left empty. */
function withoutBlanks(given: Record<string, unknown>, optional: Set<string>): Record<string, unknown> {
  const blanks = Object.keys(given).filter((name) => optional.has(name) && isBlank(given[name]));
  if (blanks.length === 0) return given;
  const rest = { ...given };
  for (const name of blanks) delete rest[name];
  return rest;
}

/** The parameters with `NAME[]` as a part of the list `NAME`. */
function withListNames(given: Record<string, unknown>, lists: string[]): Record<string, unknown> {
  const named = lists.filter((name) => Object.hasOwn(given, `${name}[]`));
  if (named.length === 0) return given;
  const all = { ...given };
  for (const name of named) {
    all[name] = [given[name] ?? [], given[`${name}[]`]].flat();
    delete all[`${name}[]`];
  }
  return all;
}

/** Only blanks of ASCII: any other character can be a name. */
const isBlank = (value: unknown) => /^[ \t\r\n\v\f,]*$/.test(String(value));

/** A list of nobody must not become everybody, as it would if it counted as not given. */
const emptyScope = (name: string) => `Field [${name}] cannot be empty`;

/**
 * A reader of a body, without conversion. An optional member that is null counts as absent. Returns a 400 that lists every
 * error.
 */
export function bodyReader(ajv: Ajv2020, schema: Schema): (given: unknown) => Outcome {
  const errorsIn = lazyValidator(() => ajv.compile(withBoundedErrors(schema)));
  return (given) => {
    if (!isUnicode(given)) return invalid(["body contains an unpaired surrogate"]);
    deleteNulls(given, schema);
    const errors = errorsIn(given);
    if (!errors) return { value: given };
    return invalid(describeErrors(errors, (path) => `body${path}`));
  };
}

/** Deletes the optional members that are null. Generated clients send null for an absent member. */
function deleteNulls(value: unknown, { properties = {}, required = [], items }: Schema): void {
  if (Array.isArray(value) && items) for (const item of value) deleteNulls(item, items);
  if (typeof value !== "object" || value === null) return;
  const members = value as Record<string, unknown>;
  for (const [name, schema] of Object.entries(properties)) {
    if (!Object.hasOwn(members, name)) continue;
    if (members[name] === null && !required.includes(name)) delete members[name];
    else deleteNulls(members[name], schema);
  }
}

const isConverted = (schema: Schema) =>
  schema.type !== "string" ||
  "default" in schema ||
  "x-ignore-case" in schema ||
  schema.format === "date-time";

const integer = /^-?\d+$/;

function convert(given: unknown, schema: Schema): unknown {
  if (schema.type === "array") {
    const texts = Array.isArray(given) ? given : [given];
    const items = schema.commaSeparated ? texts.flatMap(splitList) : texts;
    return items.map((text) => convert(text, schema.items ?? {}));
  }
  if (typeof given !== "string") return given;
  if (schema.type === "boolean" && /^(true|false|0|1)$/i.test(given)) return /^(true|1)$/i.test(given);
  if (schema.type === "integer" && integer.test(given))
    return needsBigInt(schema) ? BigInt(given) : Number(given);
  if (schema["x-ignore-case"])
    return schema.enum?.find((value) => value.toLowerCase() === given.toLowerCase()) ?? given;
  return schema.format === "date-time" ? instantOf(given) : given;
}

/**
 * An instant of a query in the form of the contract. Generated clients write an offset without a colon (Python), a space
 * instead of the `T` or before the offset, and ` UTC` (Ruby).
 */
const instantOf = (given: string): string =>
  given
    .replace(/^(\d{4}-\d{2}-\d{2}) /, "$1T")
    .replace(/ UTC$/, "Z")
    .replace(/ ([+-]\d{2}:?\d{2}|Z)$/, "$1")
    .replace(/(T.*[+-]\d{2})(\d{2})$/, "$1:$2");

/** The items of a list. A comma too many has no effect. */
const splitList = (text: string): string[] => text.split(",").filter((item) => !isBlank(item));

/** JSON Schema has no bigint: a 64-bit integer is validated by the keyword `int64` (`contract/validation.ts`). */
function forValidation({ commaSeparated: _, isScope: _scope, ...schema }: Schema): Schema {
  if (schema.items) return { ...schema, items: forValidation(schema.items) };
  return schema.type === "integer" && needsBigInt(schema) ? { int64: true } : schema;
}
