import { integerOf, isRawNumber } from "../../values/exact-json.ts";
import { readInstant } from "../../values/instant.ts";
import { redacted } from "../tables/redaction.ts";

/**
 * Readers of one member of the details. The schema of messages allows numbers as text and text as numbers. A reader returns
 * undefined if the member is missing or has another type.
 */

export const textOf = <Details>(details: Details, name: keyof Details): string | undefined =>
  scalarText(details[name]);

/** The text by which searches find a row. None finds an erased value. */
export function searchedText<Details>(details: Details, name: keyof Details): string | null {
  const text = textOf(details, name) ?? null;
  return text === redacted ? null : text;
}

/** A text, number or boolean as text; undefined for anything else. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (isRawNumber(value)) return value.rawJSON;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** Pence. */
export function penceOf<Details>(details: Details, name: keyof Details): number | undefined {
  const value = details[name];
  return integerOf(typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : value);
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
