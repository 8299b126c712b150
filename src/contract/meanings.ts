import { isDay, readInstant } from "../values/instant.ts";
import { parseJson } from "../values/json.ts";
import { nearest } from "../values/nearest.ts";
import type { JsonSchema } from "./describe-schema.ts";

/** Values that a sender may have meant by a wrong one, in the order of how near they are to it. */
export function* meaningsOf(value: unknown, schema: JsonSchema): Generator<unknown[]> {
  if (Array.isArray(value)) {
    const distinct = [...new Set(value)];
    yield [distinct];
    if (distinct.length === 1) yield distinct;
    return;
  }
  if (typeof value === "string") yield [plainOf(value)];
  if (typeof value === "number" || typeof value === "boolean") yield [String(value)];
  for (const alternative of schema.oneOf ?? schema.anyOf ?? [schema]) yield* meaningsAs(value, alternative);
}

/** A text without the spaces and quotation marks around it. */
const plainOf = (text: string): string => text.trim().replace(/^(["'])(.*)\1$/s, "$2");

/** The meanings that a value can have as one of this type and format. */
function* meaningsAs(
  value: unknown,
  { type, format, enum: values, ...bounds }: JsonSchema,
): Generator<unknown[]> {
  if (type === "array") yield listsOf(value);
  if (type === "boolean" && (value === 0 || value === 1)) yield [value === 1];
  if (!/^(string|number)$/.test(typeof value)) return;
  const text = plainOf(String(value));
  if (type === "boolean") yield [truths.get(text.toLowerCase())];
  if (type === "integer" || type === "number") {
    const number = numberOf(text);
    yield [number];
    yield [withinMaximum(number, bounds)];
  }
  if (format === "date-time") yield [instantOf(text)];
  if (format === "date") yield [dayOf(text)];
  if (format === "time-zone") {
    yield [zoneOf(text)];
    zones ??= Intl.supportedValuesOf("timeZone");
    yield [nearest(text, zones)];
  }
  if (values)
    yield [
      nearest(
        text,
        values.filter((one) => typeof one === "string"),
      ),
    ];
  else if (type === "string" && !format) yield [text.toLowerCase(), text.toUpperCase()];
}

/** Read at the first use, which takes a millisecond. */
let zones: string[] | undefined;

/** The lists that one value can stand for. A text with commas can be one element or several. */
function listsOf(value: unknown): unknown[] {
  if (typeof value !== "string") return [[value]];
  if (/^\s*\[/.test(value)) return [parseJson(value)];
  return [[value], value.split(/\s*,\s*/)];
}

const truths = new Map([
  ...["true", "yes", "on"].map((word) => [word, true] as const),
  ...["false", "no", "off"].map((word) => [word, false] as const),
]);

/** Numbers of up to 15 digits are exact. */
const numberLengthMax = 15;

/** The number that a text is. The comma of `4,250` can be that of thousands or of decimals. */
function numberOf(text: string): number | undefined {
  const isNumber = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) && text.length <= numberLengthMax;
  return isNumber ? Number(text) : undefined;
}

/** A maximum from here on is that of the type. */
const int32Max = 2 ** 31 - 1;

/**
 * The maximum, if the schema has a default and a maximum of its own: then it is the size of a page, and others follow. Anywhere
 * else another number is another meaning.
 */
function withinMaximum(value: number | undefined, bounds: JsonSchema): number | undefined {
  const { maximum = int32Max } = bounds as { maximum?: number };
  const isTooLarge = value !== undefined && value > maximum;
  return isTooLarge && "default" in bounds && maximum < int32Max ? maximum : undefined;
}

/** The usual name of a time zone. */
function zoneOf(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

const looseInstant =
  /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})[t\s]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(?:(z|utc|gmt)|([+-]|(?<=\s))(\d{2}):?(\d{2})?)$/i;

/** An instant in the form of RFC 3339. Without an offset it could be in any time zone. */
function instantOf(text: string): string | undefined {
  // The seconds or milliseconds of a computer.
  if (/^(\d{10}|\d{13})$/.test(text)) return new Date(Number(text.padEnd(13, "0"))).toISOString();
  // The form of HTTP and of e-mails.
  if (/^[a-z]{3}, \d{1,2} [a-z]{3} \d{4} .*(gmt|utc|[+-]\d{4})$/i.test(text)) return isoOf(Date.parse(text));
  const [found, year, month, day, hour, minute, second = "00", fraction, utc, sign, hours, minutes = "00"] =
    looseInstant.exec(text) ?? [];
  if (!found) return undefined;
  const offset = utc ? "Z" : `${sign || "+"}${hours}:${minutes}`;
  const time = `${hour?.padStart(2, "0")}:${minute}:${second}${fraction ? `.${fraction}` : ""}`;
  const instant = `${year}-${month?.padStart(2, "0")}-${day?.padStart(2, "0")}T${time}${offset}`;
  return readInstant(instant) && instant;
}

const isoOf = (time: number) => (Number.isNaN(time) ? undefined : new Date(time).toISOString());

/** A calendar day in the form of RFC 3339. Which of `05/03/2024` is the month, nobody can know. */
function dayOf(text: string): string | undefined {
  const [, year, month, day] =
    /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:T00:00(?::00(?:\.0+)?)?Z)?$/i.exec(text) ??
    /^(\d{4})(\d{2})(\d{2})$/.exec(text) ??
    [];
  const found = `${year}-${month?.padStart(2, "0")}-${day?.padStart(2, "0")}`;
  return isDay(found) ? found : undefined;
}
