import type { Ajv2020 } from "ajv/dist/2020.js";
import { needsBigInt } from "../contract/int64.ts";
import type { Parameter } from "../contract/operations.ts";
import { describeFaults, sparingItems, whenNeeded } from "../contract/validation.ts";
import { isDeeperThan, isUnicode, nestingMax } from "../values/json.ts";
import { Refusal } from "./http-error.ts";

type Schema = Record<string, unknown> & { type?: unknown; items?: Schema; format?: string };
type Outcome = { value: unknown } | { error: Refusal };

const kinds = { params: "path parameter", querystring: "query parameter" } as const;

/** The schema of all path or all query parameters of an operation: what is not declared is refused. */
export function parametersSchema(parameters: Parameter[], resolve: (schema: unknown) => unknown): object {
  return {
    type: "object",
    additionalProperties: false,
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(
      parameters.map(({ name, schema, explode }) => [
        name,
        { ...inlined(schema, resolve), ...(explode === false && { commaSeparated: true }) },
      ]),
    ),
  };
}

function inlined(schema: unknown, resolve: (schema: unknown) => unknown): Schema {
  const own = resolve(schema) as Schema;
  return own.items ? { ...own, items: inlined(own.items, resolve) } : own;
}

/**
 * A reader of path or query parameters: the text a client sent becomes what the schema declares, by strict rules
 * (`007`, `1e3` and `TRUE` are no numbers and no booleans), or the request is refused with every fault named.
 * 64-bit integers are exact; a number beyond 64 bits in a path names nothing, so it is not found.
 */
export function parametersReader(
  ajv: Ajv2020,
  schema: { properties: Record<string, Schema> },
  part: keyof typeof kinds,
): (sent: Record<string, unknown>) => Outcome {
  const properties = mapValues(schema.properties, forValidation);
  const validator = whenNeeded(() => ajv.compile({ ...schema, properties }));
  const toRead = Object.entries(schema.properties).filter(
    ([, property]) => property.type !== "string" || "default" in property,
  );
  return (sent) => {
    const value = toRead.length > 0 ? { ...sent } : sent;
    for (const [name, property] of toRead) {
      if (Object.hasOwn(sent, name)) value[name] = readValue(sent[name], property);
      else if ("default" in property) value[name] = property.default;
    }
    const validate = validator();
    if (validate(value)) return { value };
    const errors = validate.errors ?? [];
    if (part === "params" && errors.every(({ keyword, data }) => keyword === "int64" && isBigInt(data))) {
      return { error: new Refusal(404, ["Not Found"]) };
    }
    const faults = describeFaults(errors, (path) => `${kinds[part]} ${path.slice(1)}`);
    return { error: new Refusal(400, faults) };
  };
}

/** A reader of a body or of headers, which are taken as they are, or the request is refused with every fault named. */
export function valueReader(ajv: Ajv2020, schema: object, part: string): (sent: unknown) => Outcome {
  const validator = whenNeeded(() => ajv.compile(sparingItems(schema) as object));
  const nameOf = (path: string) => (part === "headers" ? `header ${path.slice(1)}` : part + path);
  return (sent) => {
    if (part === "body" && isDeeperThan(nestingMax, sent)) {
      return { error: new Refusal(400, [`body is nested more than ${nestingMax} deep`]) };
    }
    if (part === "body" && !isUnicode(sent)) {
      return { error: new Refusal(400, ["body holds half of a surrogate pair, which is no Unicode text"]) };
    }
    const validate = validator();
    if (validate(sent)) return { value: sent };
    return {
      error: new Refusal(400, describeFaults(validate.errors ?? [], nameOf)),
    };
  };
}

const isBigInt = (value: unknown) => typeof value === "bigint";
const integer = /^(0|-?[1-9]\d*)$/;

function readValue(sent: unknown, schema: Schema): unknown {
  if (schema.type === "array") {
    const texts = Array.isArray(sent) ? sent : schema.commaSeparated ? String(sent).split(",") : [sent];
    return texts.map((text) => readValue(text, schema.items ?? {}));
  }
  if (typeof sent !== "string") return sent;
  if (schema.type === "boolean" && (sent === "true" || sent === "false")) return sent === "true";
  if (schema.type === "integer" && integer.test(sent))
    return needsBigInt(schema) ? BigInt(sent) : Number(sent);
  return sent;
}

/** JSON Schema knows no bigint, so a 64-bit integer is checked by a keyword of our own. */
function forValidation({ commaSeparated: _, ...schema }: Schema): Schema {
  if (schema.items) return { ...schema, items: forValidation(schema.items) };
  return schema.type === "integer" && needsBigInt(schema) ? { int64: true } : schema;
}

const mapValues = <From, To>(record: Record<string, From>, map: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
