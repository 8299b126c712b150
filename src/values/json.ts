declare global {
  interface JSON {
    rawJSON(text: string): unknown;
  }
  interface BigInt {
    toJSON(): unknown;
  }
}

// A bigint is written as a JSON number with all its digits. JavaScript has no default. It writes a number faster than raw
// JSON.
BigInt.prototype.toJSON = function toJSON() {
  const number = Number(this);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(this));
};

/** Parses JSON. Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True if a body of this media type is a single JSON value. */
export const isJson = (mediaType: string): boolean =>
  mediaType.endsWith("/json") || mediaType.endsWith("+json");

/**
 * True if no text in a JSON value has an unpaired surrogate. `JSON.stringify` writes one as an escape, which an even
 * number of backslashes precedes.
 */
export const isUnicode = (value: unknown): boolean =>
  !/(?<!\\)(?:\\\\)*\\ud[89a-f]../.test(JSON.stringify(value));

/** Maximum nesting of JSON from outside, far below the limits of the engines that process it. */
export const nestingMax = 100;

/**
 * The bound that a JSON text exceeds; undefined if it is within them. The text is not parsed, since that takes long for a
 * text that exceeds them. It may be no JSON.
 */
export function exceededBound(text: string, membersMax: number): ExceededBound | undefined {
  let depth = 0;
  let members = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) {
      index = endOfText(text, index);
      continue;
    }
    const opens = code === openingBracket || code === openingBrace;
    if (opens) depth += 1;
    else if (code === closingBracket || code === closingBrace) depth -= 1;
    if (opens || code === comma) members += 1;
    if (depth > nestingMax)
      return { rule: { nestingMax }, text: `is nested more than ${nestingMax} levels deep` };
    if (members > membersMax)
      return {
        rule: { membersMax },
        text: `has more than ${membersMax.toLocaleString("en")} members and elements`,
      };
  }
  return undefined;
}

/** A bound that a text exceeds: its name with its value, and words for people. */
export interface ExceededBound {
  rule: Record<string, number>;
  text: string;
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openingBracket, closingBracket, openingBrace, closingBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The index of the quote that ends the text that begins at an index. */
function endOfText(text: string, start: number): number {
  for (let end = start + 1; ; end += 1) {
    end = text.indexOf('"', end);
    if (end === -1) return text.length;
    let first = end;
    while (text.charCodeAt(first - 1) === backslash) first -= 1;
    // An odd number of backslashes before it escapes a quote.
    if ((end - first) % 2 === 0) return end;
  }
}

/**
 * The texts of the elements of a JSON array, up to `max` + 1 of them; undefined if the text is no array. An element may be no
 * JSON.
 */
export function elementsOf(array: string, max: number): string[] | undefined {
  const text = array.trim();
  if (text.charCodeAt(0) !== openingBracket) return undefined;
  const elements: string[] = [];
  let start = 1;
  let depth = 0;
  for (let index = 0; index < text.length && elements.length <= max; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote) index = endOfText(text, index);
    else if (code === openingBracket || code === openingBrace) depth += 1;
    else if (code === closingBracket || code === closingBrace) depth -= 1;
    const isEnd = depth === 0;
    if (!isEnd && !(depth === 1 && code === comma)) continue;
    const element = text.slice(start, index);
    // Only an empty array has an element without a text.
    if (!isEnd || elements.length > 0 || element.trim() !== "") elements.push(element);
    start = index + 1;
    if (isEnd) return start === text.length ? elements : undefined;
  }
  return elements.length > max ? elements : undefined;
}

/** JSON with a line feed at its end, like every body of the services. */
export const toJson = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** True for a JSON object, which is no list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
