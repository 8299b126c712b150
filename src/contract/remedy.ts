import type { ErrorObject } from "ajv";
import type { Ajv2020, ValidateFunction } from "ajv/dist/2020.js";
import { nearest } from "../values/nearest.ts";
import type { JsonSchema } from "./describe-schema.ts";
import { escapePointer, type PatchOperation, type RemedyOf } from "./faults.ts";
import { meaningsOf } from "./meanings.ts";

/** Further names are not compared. */
const namesMax = 50;

/** Whether a value conforms to a schema. */
export type Check = (schema: object, value: unknown) => boolean;

/**
 * Finds the remedies of errors. A value gets one if exactly one of its meanings (`meanings.ts`) conforms to the schema, a name
 * if exactly one known name resembles it. Another unknown name is removed, unless the object is a filter.
 */
export function openRemedies(ajv: Ajv2020, { removesUnknown = true } = {}): RemedyOf {
  const isValid = openCheck(ajv);
  return (error) => {
    const { instancePath: path, data, parentSchema = {}, propertyName } = error;
    if (propertyName !== undefined) return undefined;
    if (isOfName(error)) return remedyOfName(error, isValid) ?? (removesUnknown ? removal(error) : undefined);
    const mended = onlyMeaning(data, parentSchema, isValid);
    return mended && [{ op: "replace", path, ...mended }];
  };
}

/** True for the error of a member that is missing or unknown. */
const isOfName = ({ keyword }: ErrorObject) => keyword === "required" || keyword === "additionalProperties";

/** The remedy of a member that is missing or unknown because its name is misspelt. */
export function remedyOfName(error: ErrorObject, isValid: Check): PatchOperation[] | undefined {
  if (!isOfName(error)) return undefined;
  const { keyword, instancePath: path, params, data, parentSchema = {} } = error;
  const { properties = {} } = parentSchema as JsonSchema;
  const members = data as Record<string, unknown>;
  const move = (from: string, to: string): PatchOperation[] => [
    { op: "move", from: `${path}/${escapePointer(from)}`, path: `${path}/${escapePointer(to)}` },
  ];
  if (keyword === "required") {
    // Where other members are not allowed, the unknown member has the remedy.
    if (parentSchema.additionalProperties === false) return undefined;
    const name: string = params.missingProperty;
    const misspelt = nearest(name, unknownNames(members, properties));
    const schema = properties[name];
    return misspelt && schema && isValid(schema, members[misspelt]) ? move(misspelt, name) : undefined;
  }
  const name: string = params.additionalProperty;
  const known = Object.keys(properties);
  const meant = nearest(name, known);
  if (meant === undefined || Object.hasOwn(members, meant)) return undefined;
  const isUnclear = unknownNames(members, properties).some(
    (other) => other !== name && nearest(other, known) === meant,
  );
  return isUnclear ? undefined : move(name, meant);
}

/** The unknown names of each object, since each of its thousands of names can be an error. */
const unknownOf = new WeakMap<object, { properties: object; names: string[] }>();

/** The first names that are unknown. */
function unknownNames(members: object, properties: object): string[] {
  const found = unknownOf.get(members);
  if (found?.properties === properties) return found.names;
  const unknown = Object.keys(members).filter((name) => !Object.hasOwn(properties, name));
  const names = unknown.slice(0, namesMax);
  unknownOf.set(members, { properties, names });
  return names;
}

/** The remedy of an unknown member that resembles no known one. Libraries of JSON Patch refuse the path `/__proto__`. */
function removal({ keyword, instancePath, params, parentSchema }: ErrorObject): PatchOperation[] | undefined {
  const name: string | undefined = params.additionalProperty;
  if (keyword !== "additionalProperties" || name === undefined || name === "__proto__") return undefined;
  if (nearest(name, Object.keys(parentSchema?.properties ?? {})) !== undefined) return undefined;
  return [{ op: "remove", path: `${instancePath}/${escapePointer(name)}` }];
}

/** A check of a value by a part of a schema, which is compiled at its first use. */
export function openCheck(ajv: Ajv2020): Check {
  const compiled = new WeakMap<object, ValidateFunction>();
  return (schema, value) => {
    const validate = compiled.get(schema) ?? ajv.compile(schema);
    compiled.set(schema, validate);
    return validate(value) as boolean;
  };
}

/** The only meaning of a value that conforms to a schema. Of several ways to read a value, the nearest decides. */
export function onlyMeaning(
  value: unknown,
  schema: JsonSchema,
  isValid: Check,
): { value: unknown } | undefined {
  for (const candidates of meaningsOf(value, schema)) {
    const valid = new Map<string, unknown>();
    for (const candidate of candidates)
      if (candidate !== undefined && isValid(schema, candidate))
        valid.set(JSON.stringify(candidate), candidate);
    if (valid.size === 1) return { value: valid.values().next().value };
    if (valid.size > 1) return undefined;
  }
  return undefined;
}
