import { isObject } from "../../../../../values/json.ts";
import { invalidValue, missing, SqsError, unknownAttribute } from "./sqs-error.ts";

/** The members of a request, as a client has sent them. */
export type Input = Record<string, unknown>;

const wrongType = (name: string, type: string) =>
  new SqsError("SerializationException", `The parameter ${name} must be ${type}.`);

export function optionalText(input: Input, name: string): string | undefined {
  const value = input[name] ?? undefined;
  if (value !== undefined && typeof value !== "string") throw wrongType(name, "a text");
  return value;
}

/** An empty text counts as missing. */
export function requiredText(input: Input, name: string): string {
  const text = optionalText(input, name);
  if (!text) throw missing(name);
  return text;
}

export function optionalNumber(input: Input, name: string, min: number, max: number): number | undefined {
  const value = input[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== "number") throw wrongType(name, "a number");
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalidValue(name, value, `Must be between ${min} and ${max}`);
}

function list<Item>(input: Input, name: string, type: string, isItem: (item: unknown) => item is Item) {
  const value = input[name] ?? [];
  if (!Array.isArray(value) || !value.every(isItem)) throw wrongType(name, `a list of ${type}`);
  return value;
}

export const texts = (input: Input, name: string) =>
  list(input, name, "texts", (item) => typeof item === "string");

export const objects = (input: Input, name: string) => list(input, name, "structures", isObject);

/** The entries of an object, whose values meet this condition. */
export function entriesOf<Value>(
  input: Input,
  name: string,
  isValue: (value: unknown) => value is Value,
): [name: string, value: Value][] {
  const value = input[name] ?? {};
  if (!isObject(value) || !Object.values(value).every(isValue)) throw wrongType(name, "a map");
  return Object.entries(value) as [string, Value][];
}

/**
 * The names of attributes that a request wants, where "All" stands for the known ones. Throws an `SqsError` unless each is
 * known, or one of `others`.
 */
export function wantedNames(names: string[], known: string[], others: string[]): string[] {
  const unknown = names.find((name) => !["All", ...known, ...others].includes(name));
  if (unknown !== undefined) throw unknownAttribute(unknown);
  return names.includes("All") ? known : names;
}

/** The values with these names. */
export const valuesOf = (names: string[], values: Record<string, string | undefined>) =>
  Object.fromEntries(names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])));
