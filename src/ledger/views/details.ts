import type { Bytes } from "../../values/bytes.ts";
import { parseExactly } from "../../values/exact-json.ts";
import { readInstant } from "../../values/instant.ts";
import { MemberNames, type Members } from "../../values/json-members.ts";
import type { JsonOutput } from "../../values/json-output.ts";
import { type Writer, writer } from "../../values/json-writer.ts";
import { booleanOf, penceOf, scalarText } from "../projection/details.ts";
import type { Details } from "../tables/event.ts";
import { viewDay, viewMilliseconds } from "./date.ts";

/**
 * Details are not parsed for a response: their members are copied. Each function here takes the name of a member and returns
 * its writer or reader, by the rules of `projection/details.ts`: the schema of messages allows numbers as text and text as
 * numbers. A writer writes nothing, and a reader returns undefined, if the member is missing or has another type.
 */
type MemberWriter<Value> = Writer<Members, Value, boolean>;

/** The names of all members that are shown. */
export const detailNames = new MemberNames();

const [quote, zero, nine] = [0x22, 0x30, 0x39];
/** The first characters of `null`, an array and an object. */
const notScalar = Array.from("n[{", (character) => character.charCodeAt(0));

/** A member of any type that is not null. */
export function member<Value>(name: keyof Details): MemberWriter<Value> {
  const number = detailNames.add(name);
  return writer((details, out) => {
    const start = details.start(number);
    if (start === 0 || details.bytes.buffer[start] === notScalar[0]) return false;
    out.copy(details.bytes, start, details.end(number));
    return true;
  });
}

/** A text, number or boolean as text. */
export function text(name: keyof Details): MemberWriter<string> {
  const number = detailNames.add(name);
  return writer((details, out) => {
    const start = details.start(number);
    if (start === 0) return false;
    const first = details.bytes.buffer[start] as number;
    const isText = first === quote;
    if (!isText && notScalar.includes(first)) return false;
    if (!isText) out.ascii('"');
    out.copy(details.bytes, start, details.end(number));
    if (!isText) out.ascii('"');
    return true;
  });
}

/** Reads a text, number or boolean as text. */
export function plainText(name: keyof Details): (details: Members) => string | undefined {
  const read = reader(name);
  return (details) => scalarText(read(details));
}

/** Reads a member of any type, with exact numbers. */
export function reader(name: keyof Details): (details: Members) => unknown {
  const number = detailNames.add(name);
  return (details) => {
    const json = details.textOf(number);
    if (json === undefined) return undefined;
    if (json.startsWith('"')) return json.includes("\\") ? JSON.parse(json) : json.slice(1, -1);
    return (parseExactly(`[${json}]`) as [unknown])[0];
  };
}

/** Pence. */
export function pence(name: keyof Details): MemberWriter<number> {
  const number = detailNames.add(name);
  const read = plainPence(name);
  return writer((details, out) => {
    const [start, end] = [details.start(number), details.end(number)];
    if (start === 0) return false;
    if (!isShortInteger(details.bytes, start, end)) return writeIfAny(read(details), out);
    out.copy(details.bytes, start, end);
    return true;
  });
}

/** Reads pence as a number. */
export function plainPence(name: keyof Details): (details: Members) => number | undefined {
  const read = reader(name);
  return (details) => penceOf({ value: read(details) }, "value");
}

/** True for a positive integer that is safe, since it has few digits. */
function isShortInteger({ buffer }: Bytes, start: number, end: number): boolean {
  if (end - start > 15 || buffer[start] === zero) return false;
  for (let index = start; index < end; index += 1) {
    const byte = buffer[index] as number;
    if (byte < zero || byte > nine) return false;
  }
  return true;
}

/** Reads a boolean, which can be a text. */
export function plainBoolean(name: keyof Details): (details: Members) => boolean | undefined {
  const read = reader(name);
  return (details) => booleanOf({ value: read(details) }, "value");
}

export function boolean(name: keyof Details): MemberWriter<boolean> {
  const number = detailNames.add(name);
  const read = plainBoolean(name);
  return writer((details, out) => {
    const start = details.start(number);
    if (start === 0) return false;
    if (details.bytes.buffer[start] === quote) return writeIfAny(read(details), out);
    if (!booleans.includes(details.bytes.buffer[start] as number)) return false;
    out.copy(details.bytes, start, details.end(number));
    return true;
  });
}
/** The first characters of `true` and `false`. */
const booleans = Array.from("tf", (character) => character.charCodeAt(0));

/** An instant of a producer in UTC, to the millisecond. */
export function milliseconds(name: keyof Details): MemberWriter<string> {
  const read = reader(name);
  return writer((details, out) => {
    const given = read(details);
    const instant = typeof given === "string" ? readInstant(given) : undefined;
    return writeIfAny(instant && viewMilliseconds(instant), out);
  });
}

/** The day of an instant of a producer, at its own UTC offset. */
export function day(name: keyof Details): MemberWriter<string> {
  const read = reader(name);
  return writer((details, out) => {
    const given = read(details);
    const isInstant =
      typeof given === "string" && (commonInstant.test(given) || readInstant(given) !== undefined);
    if (isInstant) out.ascii(`"${viewDay(given)}"`);
    return isInstant;
  });
}

/** Most instants, which need not be read to be known as instants. The last days of months need it. */
const commonInstant =
  /^[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/;

function writeIfAny(value: unknown, out: JsonOutput): boolean {
  if (value === undefined) return false;
  out.json(value);
  return true;
}
