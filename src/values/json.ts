declare global {
  interface JSON {
    rawJSON(text: string): unknown;
  }
  interface BigInt {
    toJSON(): unknown;
  }
}

// A bigint is written as a JSON number with all its digits. JavaScript has no default.
BigInt.prototype.toJSON = function toJSON() {
  return JSON.rawJSON(String(this));
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
export const isJson = (mediaType: string): boolean => /[/+]json$/.test(mediaType);

/**
 * True if no text in a JSON value has an unpaired surrogate. `JSON.stringify` writes one as an escape, which an even
 * number of backslashes precedes.
 */
export const isUnicode = (value: unknown): boolean =>
  !/(?<!\\)(?:\\\\)*\\ud[89a-f]../.test(JSON.stringify(value));

/** Maximum nesting of JSON from outside, far below the limits of the engines that process it. */
export const nestingMax = 100;

export const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member)));

/** JSON with a line feed at its end, like every body of the services. */
export const toJson = (value: unknown): string => `${JSON.stringify(value)}\n`;
