/**
 * JSON whose numbers keep all their digits. JavaScript's numbers are doubles, which hold about sixteen. A number that a
 * double does not hold exactly becomes raw JSON (`JSON.rawJSON`), which is written as it was read.
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

/** A number by its digits, as they stood in the text. */
export interface RawNumber {
  readonly rawJSON: string;
}

export const isRawNumber = (value: unknown): value is RawNumber => JSON.isRawJSON(value);

/**
 * The numbers in an object or an array that a double may not hold, of 16 characters and more or with an exponent; and
 * those it writes with an exponent, since they are so small.
 */
const longNumber = /[\s:[,]-?\d(?:[\d.]{15}|[\d.]*[eE]|\.0{6})/;

/**
 * The object or array that a JSON text holds, with exact numbers. `plain` is what `JSON.parse` makes of the text, where
 * that is known. Throws when the text is not JSON.
 */
export const parseExactly = (text: string, plain?: unknown): unknown =>
  longNumber.test(text) ? JSON.parse(text, keepDigits) : (plain ?? JSON.parse(text));

const keepDigits = (_key: string, value: unknown, { source = "" }: { source?: string }): unknown =>
  typeof value === "number" && !isExact(value, source) ? JSON.rawJSON(source) : value;

/** A number whose text would need an exponent counts as inexact, since readers show numbers as text, too. */
function isExact(value: number, source: string): boolean {
  // A double holds every integer that is this small.
  if (Number.isSafeInteger(value) && value !== 0 && source.length < 16) return true;
  const text = String(value);
  if (text.includes("e")) return false;
  return text === source || (source.length <= comparedMax && decimalOf(source) === decimalOf(text));
}

/** Longer than any double is written. */
const comparedMax = 400;

const numberForm = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/;

/** The same text for the same number: its digits without zeros at the ends, and the power of ten they are multiplied by. */
function decimalOf(text: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] = numberForm.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Whether a number in an exactly parsed value has more than `max` digits when it is written without an exponent. */
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
