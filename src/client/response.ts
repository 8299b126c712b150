import type { ClientContent } from "./operation.ts";

/**
 * The body of a successful response: parsed JSON, text, or undefined if the contract declares no content. An integer is
 * a bigint if the contract needs one or if it is not a safe integer. Throws a SyntaxError if the body is not JSON.
 */
export function readBody({ type, bigints }: ClientContent, text: string): unknown {
  if (type === "none") return undefined;
  if (type === "text") return text;
  return bigints.reduce(withBigInts, parseExactly(text));
}

/** Converts the numbers at a place to bigints. */
function withBigInts(value: unknown, [step, ...rest]: string[]): unknown {
  if (step === undefined) return typeof value === "number" ? BigInt(value) : value;
  if (step === "*") return Array.isArray(value) ? value.map((item) => withBigInts(item, rest)) : value;
  if (typeof value !== "object" || value === null || !(step in value)) return value;
  return { ...value, [step]: withBigInts((value as Record<string, unknown>)[step], rest) };
}

/** The texts and numbers of a JSON document. An unfinished text ends with the document. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d[\d.eE+-]*/gs;

/**
 * Parses JSON. An integer that is not safe becomes a bigint, from its digits. Node.js 20 and browsers before 2025 do not
 * show a reviver the digits, so they are made a text first, with a mark that no document can know.
 */
function parseExactly(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const mark = `bigint ${Math.random()} `;
  const marked = text.replace(tokens, (token) =>
    /^-?[1-9]\d{15,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token,
  );
  return JSON.parse(marked, (_key, value) =>
    typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}
