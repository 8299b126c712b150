import { readInstant } from "../../service/instant.ts";

/**
 * Readers of one member of the details. Producers write numbers as text and text as numbers, as the contract's message
 * schema allows; undefined when there is none, or one the reader cannot use.
 */

export function textOf<Details>(details: Details, name: keyof Details): string | undefined {
  const value = details[name];
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** Pence. */
export function penceOf<Details>(details: Details, name: keyof Details): number | undefined {
  const value = details[name];
  const pence = typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(pence) ? (pence as number) : undefined;
}

export function booleanOf<Details>(details: Details, name: keyof Details): boolean | undefined {
  const value = details[name];
  if (typeof value === "boolean") return value;
  return value === "true" ? true : value === "false" ? false : undefined;
}

/** UTC, six fraction digits. */
export function instantOf<Details>(details: Details, name: keyof Details): string | undefined {
  const value = details[name];
  return typeof value === "string" ? readInstant(value) : undefined;
}
