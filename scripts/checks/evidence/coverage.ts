import { type Contract, follow } from "../../../src/contract/operations.ts";
import { contractCompiler } from "../../../src/contract/validation.ts";

/**
 * The coverage items of a schema: a member is present, or absent if it is optional; each value of an enum; each type, if
 * there are several; each alternative of `oneOf` or `anyOf`. Values that match the schema cover items. An item that no
 * value covers is a part of the contract that nothing exercises.
 */

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  "x-const"?: unknown;
  oneOf?: Schema[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

/** A contract and the compiler of its schemas. */
export interface CompiledContract {
  contract: Contract;
  compile: ReturnType<typeof contractCompiler>;
}

export const compiled = (contract: Contract): CompiledContract => ({
  contract,
  compile: contractCompiler(contract),
});

/** A schema and its name in items: the name of the component, or the place. */
function named({ contract }: CompiledContract, place: string, node: Schema): [name: string, schema: Schema] {
  return [node.$ref?.split("/").at(-1) ?? place, follow(contract, node) as Schema];
}

/** Adds every item of a schema and of its subschemas. */
export function itemsOf(
  contract: CompiledContract,
  place: string,
  node: Schema,
  items = new Set<string>(),
  visited = new Set<string>(),
): Set<string> {
  const [name, schema] = named(contract, place, node);
  if (visited.has(name) || "const" in schema || "x-const" in schema) return items;
  visited.add(name);
  const { type, enum: values, properties = {}, required = [] } = schema;
  const alternatives = alternativesOf(schema);
  for (const one of Array.isArray(type) ? type : []) items.add(`${name}: a value of type ${one}`);
  for (const value of type === "boolean" ? [true, false] : (values ?? [])) {
    items.add(`${name}: the value ${JSON.stringify(value)}`);
  }
  for (const index of alternatives.keys()) items.add(`${name}: alternative ${index + 1}`);
  for (const member of Object.keys(properties)) {
    items.add(`${name}: with ${member}`);
    if (!required.includes(member)) items.add(`${name}: without ${member}`);
  }
  for (const [index, alternative] of alternatives.entries()) {
    itemsOf(contract, `${name} (alternative ${index + 1})`, alternative, items, visited);
  }
  for (const [member, subschema] of Object.entries(properties)) {
    itemsOf(contract, `${name}.${member}`, subschema, items, visited);
  }
  if (schema.items) itemsOf(contract, `${name}[]`, schema.items, items, visited);
  return items;
}

/** Adds every item that a value covers. */
export function itemsCoveredBy(
  contract: CompiledContract,
  place: string,
  node: Schema,
  value: unknown,
  covered = new Set<string>(),
): Set<string> {
  const [name, schema] = named(contract, place, node);
  const { properties = {}, items } = schema;
  const alternatives = alternativesOf(schema);
  for (const type of typesOf(value)) covered.add(`${name}: a value of type ${type}`);
  if (typeof value !== "object") covered.add(`${name}: the value ${JSON.stringify(value)}`);
  if (alternatives.length > 0) {
    const index = alternatives.findIndex((alternative) => contract.compile(alternative)(value));
    covered.add(`${name}: alternative ${index + 1}`);
    const matching = alternatives[index] ?? {};
    itemsCoveredBy(contract, `${name} (alternative ${index + 1})`, matching, value, covered);
  }
  if (Array.isArray(value)) {
    for (const item of value) itemsCoveredBy(contract, `${name}[]`, items ?? {}, item, covered);
  } else if (typeof value === "object" && value !== null) {
    for (const [member, subschema] of Object.entries(properties)) {
      const child = (value as Record<string, unknown>)[member];
      covered.add(`${name}: ${child === undefined ? "without" : "with"} ${member}`);
      if (child !== undefined) itemsCoveredBy(contract, `${name}.${member}`, subschema, child, covered);
    }
  }
  return covered;
}

const alternativesOf = ({ oneOf, anyOf }: Schema) => oneOf ?? anyOf ?? [];

function typesOf(value: unknown): string[] {
  if (value === null) return ["null"];
  if (Array.isArray(value)) return ["array"];
  return Number.isInteger(value) ? ["integer", "number"] : [typeof value];
}
