import { formats } from "./formats.ts";

/** A JSON Schema, with the keywords that descriptions and remedies read. */
export interface JsonSchema extends Record<string, unknown> {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  pattern?: string;
  "x-pattern-description"?: string;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  oneOf?: JsonSchema[];
  anyOf?: JsonSchema[];
}

const nouns: Record<string, string | string[]> = {
  string: "a text",
  integer: "an integer",
  number: "a number",
  boolean: ["true", "false"],
  array: "a list",
  object: "an object",
  null: "null",
};

/** What a value of a schema is, for people: `an integer or a text of up to 15 digits`. */
export const describeSchema = (schema: JsonSchema): string => listOf(alternativesOf(schema));

function alternativesOf(schema: JsonSchema): string[] {
  const { type = [], enum: values, oneOf, anyOf, format } = schema;
  const schemas = oneOf ?? anyOf;
  if (schemas) return schemas.flatMap(alternativesOf);
  if (values) return values.map(quoted);
  if ("const" in schema) return [quoted(schema.const)];
  const described = schema["x-pattern-description"] ?? (format && formats[format]?.mustBe);
  return described ? [described] : [type].flat().flatMap((name) => nouns[name] ?? name);
}

/** A value in a sentence. Texts are quoted where they could be read as something else. */
const quoted = (value: unknown) =>
  typeof value === "string" && /^[\w-]+$/.test(value) && !/^(true|false|null|undefined|\d.*)$/.test(value)
    ? value
    : JSON.stringify(value);

/** A list in a sentence: `a, b or c`. Repeated parts are left out. */
function listOf(parts: string[]): string {
  const distinct = [...new Set(parts)];
  const last = distinct.pop() ?? "";
  return distinct.length > 0 ? `${distinct.join(", ")} or ${last}` : last;
}
