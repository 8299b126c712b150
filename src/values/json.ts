declare global {
  interface JSON {
    rawJSON(text: string): unknown;
  }
  interface BigInt {
    toJSON(): unknown;
  }
}

// A 64-bit integer is a JSON number with all its digits; the language leaves this choice to the program.
BigInt.prototype.toJSON = function toJSON() {
  return JSON.rawJSON(String(this));
};

/** What a text says; undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a body of this media type is one JSON value. */
export const isJson = (mediaType: string): boolean => /[/+]json$/.test(mediaType);

/**
 * Whether every text in a JSON value is Unicode: none holds half of a surrogate pair, which in JSON text stands as an
 * escape that an even number of backslashes precedes.
 */
export const isUnicode = (value: unknown): boolean =>
  !/(?<!\\)(?:\\\\)*\\ud[89a-f]../.test(JSON.stringify(value));

/** Deeper than anybody goes, and far from where the engines that read and write JSON give up. */
export const nestingMax = 100;

export const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member)));

/** JSON text, ended by a line feed as every body of the services is. */
export const toJson = (value: unknown): string => `${JSON.stringify(value)}\n`;
