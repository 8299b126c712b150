import type { Ajv2020 } from "ajv/dist/2020.js";
import { detailed, type Fault, faultsOf, type PatchOperation, unescapePointer } from "../contract/faults.ts";
import { needsBigInt } from "../contract/int64.ts";
import { openCheck, openRemedies, remedyOfName } from "../contract/remedy.ts";
import { lazyValidator, withBoundedErrors } from "../contract/validation.ts";
import { isObject, isUnicode } from "../values/json.ts";
import { bodyFault, type ErrorDetail, parameterFault, type RequestFault } from "./failure.ts";
import { HttpError } from "./http-error.ts";
import { openMending } from "./mending.ts";
import { convert, isBlank, type Schema } from "./parameter-text.ts";

type Outcome = { value: unknown } | { error: HttpError };
const invalid = (details: ErrorDetail[]): Outcome => ({ error: new HttpError(400, details) });

const kinds = { params: "path parameter", querystring: "query parameter", headers: "header" } as const;
export type ParametersPart = keyof typeof kinds;

/**
 * A reader of path, query or header parameters. It converts text to the declared type, strictly: `1e3` is not an integer,
 * `yes` is not a boolean. It accepts what clients send: `0` and `1` as booleans, a list as `NAME[]`, and an instant as
 * `instantOf` reads it. With `x-ignore-case` it converts a text to the declared value that differs only in letter case.
 * Returns a 400 that lists every fault, with its remedy. A 64-bit integer is exact; a path with an integer beyond 64 bits gets 404.
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
  const isValid = openCheck(ajv);
  const mend = openMending(isValid, schema.properties, properties);
  const faultOf = (
    { pointer, rule, text, remedy }: Fault,
    given: Record<string, unknown>,
    mended: (name: string) => PatchOperation[] | undefined,
  ): RequestFault => {
    const [, step = "", ...within] = pointer.split("/");
    const name = unescapePointer(step);
    const best = mended(name) ?? remedy;
    const isRepeated =
      Object.hasOwn(schema.properties, name) && Array.isArray(given[name]) && !lists.includes(name);
    const place = [name, ...within].join("/");
    const detail = `${kinds[part]} ${place} ${isRepeated ? "must be given once" : text}`;
    return {
      [part === "headers" ? "header" : "parameter"]: name,
      rule,
      detail,
      ...(best && { remedy: best }),
    };
  };
  const scopes = Object.keys(properties).filter((name) => schema.properties[name]?.isScope);
  return (sent) => {
    const named = withListNames(sent, lists);
    const open = scopes.filter((name) => Object.hasOwn(named, name) && isBlank(named[name]));
    if (open.length > 0) return invalid(open.map(emptyScope));
    const given = blankIsAbsent ? withoutBlanks(named, optional) : named;
    const value = toConvert.length > 0 ? { ...given } : given;
    for (const [name, property] of toConvert) {
      if (Object.hasOwn(given, name)) value[name] = convert(given[name], property);
    }
    const errors = errorsIn(value);
    if (!errors) {
      for (const [name, property] of toConvert)
        if ("default" in property && !Object.hasOwn(value, name)) value[name] = property.default;
      return { value };
    }
    const isTooLarge = errors.every(({ keyword, data }) => keyword === "int64" && typeof data === "bigint");
    if (part === "params" && isTooLarge) return { error: new HttpError(404, ["Not Found"]) };
    // An unknown parameter is never removed: without a filter a search would find more than its caller meant.
    const faults = faultsOf(errors, (error) => remedyOfName(error, isValid));
    const mended = oncePerName((name) => (Object.hasOwn(named, name) ? mend(name, named[name]) : undefined));
    return invalid(faults.map((fault) => faultOf(fault, named, mended)));
  };
}

/** The elements of a list have faults of their own, and one remedy. */
function oncePerName<Result>(compute: (name: string) => Result): (name: string) => Result {
  const known = new Map<string, Result>();
  return (name) => {
    const result = known.has(name) ? (known.get(name) as Result) : compute(name);
    known.set(name, result);
    return result;
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

/** A list of nobody must not become everybody, as it would if it counted as not given. */
const emptyScope = (name: string) =>
  parameterFault(name, { required: true }, `Field [${name}] cannot be empty`);

/**
 * A reader of a body, without conversion. An optional member that is null counts as absent. Returns a 400 that lists every
 * error.
 */
export function bodyReader(
  ajv: Ajv2020,
  schema: Schema,
  remedyOf = openRemedies(ajv),
): (given: unknown) => Outcome {
  const errorsIn = lazyValidator(() => ajv.compile(withBoundedErrors(schema)));
  return (given) => {
    if (!isUnicode(given))
      return invalid([bodyFault({ charset: "utf-8" }, "body contains an unpaired surrogate")]);
    deleteNulls(given, schema);
    const errors = errorsIn(given);
    if (!errors) return { value: given };
    return invalid(faultsOf(errors, remedyOf).map((fault) => detailed(fault, `body${fault.pointer}`)));
  };
}

/**
 * A reader of a body whose members are query parameters. Each has the declared type already. As in a query, an optional text
 * that is blank counts as absent, a default applies, and a letter case or the form of an instant is corrected.
 */
export function membersReader(ajv: Ajv2020, schema: ParametersSchema): (given: unknown) => Outcome {
  const declared = Object.entries(schema.properties).map(
    ([name, { commaSeparated: _, isScope: _scope, ...property }]) => [name, property] as const,
  );
  const properties = Object.fromEntries(declared);
  // Without a filter a search would find more than its caller meant.
  const read = bodyReader(ajv, { ...schema, properties }, openRemedies(ajv, { removesUnknown: false }));
  return (given) => {
    if (!isObject(given)) return read(given);
    const value = { ...given };
    for (const [name, property] of declared) {
      const member = value[name];
      const isText = property.type === "string" && typeof member === "string";
      if (isText && isBlank(member)) delete value[name];
      else if (isText || (property.type === "array" && Array.isArray(member)))
        value[name] = convert(member, property);
    }
    const outcome = read(value);
    if ("error" in outcome) return outcome;
    for (const [name, property] of declared)
      if ("default" in property && !Object.hasOwn(value, name)) value[name] = property.default;
    return { value };
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

/** JSON Schema has no bigint: a 64-bit integer is validated by the keyword `int64` (`contract/validation.ts`). */
function forValidation({ commaSeparated: _, isScope: _scope, ...schema }: Schema): Schema {
  if (schema.items) return { ...schema, items: forValidation(schema.items) };
  return schema.type === "integer" && needsBigInt(schema) ? { int64: true } : schema;
}
