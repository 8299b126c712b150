/**
 * JSON whose numbers keep all their digits. A JavaScript number is a double with about 16 digits. A number that a double
 * cannot represent exactly, or would write without its last zeros (`10.0`), becomes raw JSON (`JSON.rawJSON`), which is
 * written as it was read.
 */

declare global {
  interface JSON {
    isRawJSON(value: unknown): value is RawNumber;
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
  }
}

/** A number as its JSON text. */
export interface RawNumber {
  readonly rawJSON: string;
}

export const isRawNumber = (value: unknown): value is RawNumber => JSON.isRawJSON(value);

/**
 * Matches a number in an object or array that may need raw JSON: with 16 characters or more, with an exponent, or so small
 * that JavaScript writes it with an exponent, or with a zero at the end of its fraction. A fraction of a second in a text,
 * such as `"08:00:00.120Z"`, is not a number.
 */
const longNumber = /[\s:[,]-?\d(?:[\d.]{15}|[\d.]*[eE]|\.0{6}|\d*\.\d*0(?=[\s,\]}]))/;

/**
 * Parses an object or array with exact numbers. `plain` is the result of `JSON.parse`, if the caller has it. Throws if the
 * text is not JSON.
 */
export const parseExactly = (text: string, plain?: unknown): unknown =>
  longNumber.test(text) ? JSON.parse(text, keepDigits) : (plain ?? JSON.parse(text));

const keepDigits = (_key: string, value: unknown, { source = "" }: { source?: string }): unknown =>
  typeof value === "number" && !isExact(value, source)
    ? JSON.rawJSON(source.replace(negativeZero, ""))
    : value;

/** The minus sign of a zero. The database does not keep it. */
const negativeZero = /^-(?=0\.0+$)/;

/** A number that JavaScript writes with an exponent counts as inexact, since numbers are also shown as text. */
function isExact(value: number, source: string): boolean {
  if (source.endsWith("0") && source.includes(".")) return false;
  // A safe integer is exact.
  if (Number.isSafeInteger(value) && value !== 0 && source.length < 16) return true;
  const text = String(value);
  if (text.includes("e")) return false;
  return text === source || (source.length <= comparedMax && decimalOf(source) === decimalOf(text));
}

/** No double is written with more characters. */
const comparedMax = 400;

const numberForm = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/;

/** A normal form of a number: its digits without leading and trailing zeros, and the power of ten. */
function decimalOf(text: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] = numberForm.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** The number, if it is a safe integer; `100.0` is one. */
export function integerOf(value: unknown): number | undefined {
  const number = isRawNumber(value) && /^-?\d+(\.0+)?$/.test(value.rawJSON) ? Number(value.rawJSON) : value;
  return Number.isSafeInteger(number) ? (number as number) : undefined;
}

/** True if an exactly parsed value contains a number with more than `max` digits without an exponent. */
export const hasLongerNumber = (max: number, value: unknown): boolean =>
  isRawNumber(value)
    ? writtenDigits(value.rawJSON) > max
    : typeof value === "object" &&
      value !== null &&
      Object.values(value).some((member) => hasLongerNumber(max, member));

function writtenDigits(text: string): number {
  const [, , whole = "", fraction = "", exponent = "0"] = numberForm.exec(text) ?? [];
  return Math.max(whole.length + Number(exponent), 1) + Math.max(fraction.length - Number(exponent), 0);
}
