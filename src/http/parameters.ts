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

const kinds = { params: "path parameter", querystring: "query parameter", headers: "header" } as const;

/**
 * A reader of path, query or header parameters. It converts text to the declared type, strictly: `1e3` is not an integer,
 * `1` is not a boolean. With `x-ignore-case` it converts a text to the declared value that differs only in letter case. The
 * offset of an instant gets its colon, and spaces around the time go. Returns a 400 that lists every error. A 64-bit integer
 * is exact; a path with an integer beyond 64 bits gets 404.
 */
export function parametersReader(
  ajv: Ajv2020,
  { blankIsAbsent = false, ...schema }: ParametersSchema,
  part: keyof typeof kinds,
): (given: Record<string, unknown>) => Outcome {
  const properties = mapValues(schema.properties, forValidation);
  const validator = lazyValidator(() => ajv.compile({ ...schema, properties }));
  const toConvert = Object.entries(schema.properties).filter(([, property]) => isConverted(property));
  const optional = new Set(Object.keys(properties).filter((name) => !schema.required?.includes(name)));
  return (sent) => {
    const given = blankIsAbsent ? withoutBlanks(sent, optional) : sent;
    const value = toConvert.length > 0 ? { ...given } : given;
    for (const [name, property] of toConvert) {
      if (Object.hasOwn(given, name)) value[name] = convert(given[name], property);
      else if ("default" in property) value[name] = property.default;
    }
    const validate = validator();
    if (validate(value)) return { value };
    const errors = validate.errors ?? [];
    if (part === "params" && errors.every(({ keyword, data }) => keyword === "int64" && isBigInt(data))) {
      return { error: new HttpError(404, ["Not Found"]) };
    }
    const messages = describeErrors(errors, (path) => `${kinds[part]} ${path.slice(1)}`);
    return { error: new HttpError(400, messages) };
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
  const isBlank = (name: string) => optional.has(name) && blank.test(String(given[name]));
  const blanks = Object.keys(given).filter(isBlank);
  if (blanks.length === 0) return given;
  const rest = { ...given };
  for (const name of blanks) delete rest[name];
  return rest;
}

const blank = /^[\s,]*$/;

/**
 * A reader of a body, without conversion. An optional member that is null counts as absent. Returns a 400 that lists every
 * error.
 */
export function bodyReader(ajv: Ajv2020, schema: Schema): (given: unknown) => Outcome {
  const validator = lazyValidator(() => ajv.compile(withBoundedErrors(schema) as object));
  return (given) => {
    if (!isUnicode(given)) return { error: new HttpError(400, ["body contains an unpaired surrogate"]) };
    deleteNulls(given, schema);
    const validate = validator();
    if (validate(given)) return { value: given };
    return {
      error: new HttpError(
        400,
        describeErrors(validate.errors ?? [], (path) => `body${path}`),
      ),
    };
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

const isBigInt = (value: unknown) => typeof value === "bigint";
const integer = /^-?\d+$/;

function convert(given: unknown, schema: Schema): unknown {
  if (schema.type === "array") {
    const texts = Array.isArray(given) ? given : [given];
    const items = schema.commaSeparated ? texts.flatMap(splitList) : texts;
    return items.map((text) => convert(text, schema.items ?? {}));
  }
  if (typeof given !== "string") return given;
  if (schema.type === "boolean" && /^(true|false)$/i.test(given)) return given.toLowerCase() === "true";
  if (schema.type === "integer" && integer.test(given))
    return needsBigInt(schema) ? BigInt(given) : Number(given);
  if (schema["x-ignore-case"])
    return schema.enum?.find((value) => value.toLowerCase() === given.toLowerCase()) ?? given;
  if (schema.format === "date-time") return withUsualOffset(given);
  return given;
}

/** The text of an instant as RFC 3339. Generated clients send `+0000` in Python, and in Rust spaces around the time. */
const withUsualOffset = (text: string): string =>
  text.replace(/^([\d-]{10}) ([\d:.]+) ?([+-][\d:]+)$/, "$1T$2$3").replace(/(T.*[+-]\d{2})(\d{2})$/, "$1:$2");

/** The items of a list. A comma too many has no effect. */
const splitList = (text: string): string[] => text.split(",").filter((item) => item.trim() !== "");

/** JSON Schema has no bigint: a 64-bit integer is validated by the keyword `int64` (`contract/validation.ts`). */
function forValidation({ commaSeparated: _, ...schema }: Schema): Schema {
  if (schema.items) return { ...schema, items: forValidation(schema.items) };
  return schema.type === "integer" && needsBigInt(schema) ? { int64: true } : schema;
}

const mapValues = <From, To>(record: Record<string, From>, map: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
