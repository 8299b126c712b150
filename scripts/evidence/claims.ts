import { type Contract, follow } from "../../src/service/operations.ts";
import { contractCompiler } from "../../src/service/validation.ts";

/**
 * What a schema leaves open, as claims that some value can show: that a member is sent, or left out where it may be;
 * each value of an enum; each type, where there are several; each of several forms. A claim that no value ever shows
 * is a part of the contract that nobody has seen at work.
 */

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

/** What a reader of values against schemas needs to know. */
export interface Reading {
  contract: Contract;
  /** The first of several forms that a value has. */
  formOf: (forms: Schema[], value: unknown) => number;
}

export function openReading(contract: Contract): Reading {
  const compile = contractCompiler(contract);
  const validators = new Map<Schema, (value: unknown) => boolean>();
  const fits = (form: Schema, value: unknown) => {
    const validate = validators.get(form) ?? compile(form);
    validators.set(form, validate);
    return validate(value);
  };
  return { contract, formOf: (forms, value) => forms.findIndex((form) => fits(form, value)) };
}

/** A schema by the name its claims have: that of the component, or of the place. */
function named({ contract }: Reading, place: string, node: Schema): [name: string, schema: Schema] {
  return [node.$ref?.split("/").at(-1) ?? place, follow(contract, node) as Schema];
}

/** Every claim of a schema and of those it is made of. */
export function claimsOf(
  reading: Reading,
  place: string,
  node: Schema,
  claims = new Set<string>(),
  visited = new Set<string>(),
): Set<string> {
  const [name, { type, const: constant, enum: values, oneOf = [], properties = {}, required = [], items }] =
    named(reading, place, node);
  if (visited.has(name)) return claims;
  visited.add(name);
  const types = Array.isArray(type) ? type : [];
  for (const one of types) claims.add(`${name}: a value of type ${one}`);
  for (const value of type === "boolean" && constant === undefined ? [true, false] : (values ?? [])) {
    claims.add(`${name}: the value ${JSON.stringify(value)}`);
  }
  for (const index of oneOf.keys()) claims.add(`${name}: form ${index + 1}`);
  for (const member of Object.keys(properties)) {
    claims.add(`${name}: with ${member}`);
    if (!required.includes(member)) claims.add(`${name}: without ${member}`);
  }
  for (const [index, form] of oneOf.entries()) {
    claimsOf(reading, `${name} (form ${index + 1})`, form, claims, visited);
  }
  for (const [member, schema] of Object.entries(properties))
    claimsOf(reading, `${name}.${member}`, schema, claims, visited);
  if (items) claimsOf(reading, `${name}[]`, items, claims, visited);
  return claims;
}

/** Every claim that a value shows. */
export function shownBy(
  reading: Reading,
  place: string,
  node: Schema,
  value: unknown,
  shown = new Set<string>(),
): Set<string> {
  const [name, { oneOf, properties = {}, items }] = named(reading, place, node);
  for (const type of typesOf(value)) shown.add(`${name}: a value of type ${type}`);
  if (typeof value !== "object") shown.add(`${name}: the value ${JSON.stringify(value)}`);
  if (oneOf) {
    const index = reading.formOf(oneOf, value);
    shown.add(`${name}: form ${index + 1}`);
    shownBy(reading, `${name} (form ${index + 1})`, oneOf[index] ?? {}, value, shown);
  }
  if (Array.isArray(value)) {
    for (const item of value) shownBy(reading, `${name}[]`, items ?? {}, item, shown);
  } else if (typeof value === "object" && value !== null) {
    for (const [member, schema] of Object.entries(properties)) {
      const given = (value as Record<string, unknown>)[member];
      shown.add(`${name}: ${given === undefined ? "without" : "with"} ${member}`);
      if (given !== undefined) shownBy(reading, `${name}.${member}`, schema, given, shown);
    }
  }
  return shown;
}

function typesOf(value: unknown): string[] {
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["array"];
  return Number.isInteger(value) ? ["integer", "number"] : [typeof value];
}
