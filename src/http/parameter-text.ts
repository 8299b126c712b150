import type { JsonSchema } from "../contract/describe-schema.ts";
import { needsBigInt } from "../contract/int64.ts";

/** The schema of a parameter or a body. */
export interface Schema extends JsonSchema {
  items?: Schema;
  enum?: string[];
  properties?: Record<string, Schema>;
  required?: string[];
}

const integer = /^-?\d+$/;

/** A text of a parameter as a value of the declared type, or as it is if it has none. */
export function convert(given: unknown, schema: Schema): unknown {
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
export const splitList = (text: string): string[] => text.split(",").filter((item) => !isBlank(item));

/** Only blanks of ASCII: any other character can be a name. */
export const isBlank = (value: unknown) => /^[ \t\r\n\v\f,]*$/.test(String(value));
