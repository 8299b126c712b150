import { type Contract, follow } from "../../../src/contract/operations.ts";
import { contractCompiler } from "../../../src/contract/validation.ts";

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
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

/** What a reader of values against schemas needs to know. */
export interface Reading {
  contract: Contract;
  compile: ReturnType<typeof contractCompiler>;
}

export const openReading = (contract: Contract): Reading => ({
  contract,
  compile: contractCompiler(contract),
});

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
  const [name, schema] = named(reading, place, node);
  if (visited.has(name) || "const" in schema) return claims;
  visited.add(name);
  const { type, enum: values, properties = {}, required = [], items } = schema;
  const forms = formsOf(schema);
  for (const one of Array.isArray(type) ? type : []) claims.add(`${name}: a value of type ${one}`);
  for (const value of type === "boolean" ? [true, false] : (values ?? [])) {
    claims.add(`${name}: the value ${JSON.stringify(value)}`);
  }
  for (const index of forms.keys()) claims.add(`${name}: form ${index + 1}`);
  for (const member of Object.keys(properties)) {
    claims.add(`${name}: with ${member}`);
    if (!required.includes(member)) claims.add(`${name}: without ${member}`);
  }
  for (const [index, form] of forms.entries()) {
    claimsOf(reading, `${name} (form ${index + 1})`, form, claims, visited);
  }
  for (const [member, one] of Object.entries(properties)) {
    claimsOf(reading, `${name}.${member}`, one, claims, visited);
  }
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
  const [name, schema] = named(reading, place, node);
  const { properties = {}, items } = schema;
  const forms = formsOf(schema);
  for (const type of typesOf(value)) shown.add(`${name}: a value of type ${type}`);
  if (typeof value !== "object") shown.add(`${name}: the value ${JSON.stringify(value)}`);
  if (forms.length > 0) {
    const index = forms.findIndex((form) => reading.compile(form)(value));
    shown.add(`${name}: form ${index + 1}`);
    shownBy(reading, `${name} (form ${index + 1})`, forms[index] ?? {}, value, shown);
  }
  if (Array.isArray(value)) {
    for (const item of value) shownBy(reading, `${name}[]`, items ?? {}, item, shown);
  } else if (typeof value === "object" && value !== null) {
    for (const [member, one] of Object.entries(properties)) {
      const given = (value as Record<string, unknown>)[member];
      shown.add(`${name}: ${given === undefined ? "without" : "with"} ${member}`);
      if (given !== undefined) shownBy(reading, `${name}.${member}`, one, given, shown);
    }
  }
  return shown;
}

const formsOf = ({ oneOf, anyOf }: Schema) => oneOf ?? anyOf ?? [];

function typesOf(value: unknown): string[] {
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["array"];
  return Number.isInteger(value) ? ["integer", "number"] : [typeof value];
}
