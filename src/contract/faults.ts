import type { ErrorObject } from "ajv";
import { describeSchema, type JsonSchema } from "./describe-schema.ts";

/** Maximum number of faults in the response to one request or the reason of one dead letter. */
export const faultsMax = 20;

/** Maximum number of known names in the text of a fault. */
const knownMax = 10;

/** An operation of a JSON Patch (RFC 6902). */
export type PatchOperation =
  | { op: "replace"; path: string; value: unknown }
  | { op: "remove"; path: string }
  | { op: "move"; from: string; path: string };

/** A place in a value that breaks a rule. */
export interface Fault {
  /** A JSON pointer (RFC 6901). */
  pointer: string;
  /** The keyword of the schema with its value: `{ maximum: 500 }`. */
  rule: Record<string, unknown>;
  /** What is expected, to be read after the name of the place: `must be at most 500`. */
  text: string;
  /** The only safe correction. */
  remedy?: PatchOperation[] | undefined;
}

/** A fault in a sentence that names its place. */
export interface PlacedFault extends Omit<Fault, "text"> {
  detail: string;
}

export const detailed = ({ pointer, rule, text, remedy }: Fault, name: string): PlacedFault => ({
  pointer,
  rule,
  detail: `${name} ${text}`,
  ...(remedy && { remedy }),
});

/** An operation that does the same at another place of a larger value. */
export const moveOperation = (operation: PatchOperation, place: string): PatchOperation => ({
  ...operation,
  path: place + operation.path,
  ...("from" in operation && { from: place + operation.from }),
});

export type RemedyOf = (error: ErrorObject) => PatchOperation[] | undefined;

/** The faults that the errors of the validator mean, at most 20, each with its remedy. */
export function faultsOf(errors: ErrorObject[], remedyOf?: RemedyOf): Fault[] {
  const faults = new Map<string, Fault>();
  for (const error of ownErrors(errors)) {
    const isOfName = error.propertyName !== undefined;
    const pointer = pointerOf(error);
    const rule = isOfName ? { propertyNames: ruleOf(error) } : ruleOf(error);
    const remedy = remedyOf?.(error);
    const text = isOfName ? `has a name that ${textOf(error)}` : textOf(error, remedy);
    const key = `${pointer} ${text}`;
    if (faults.has(key)) continue;
    faults.set(key, { pointer, rule, text, ...(remedy && { remedy }) });
    if (faults.size === faultsMax) break;
  }
  return withoutMisspelt([...faults.values()]);
}

/** The faults without those of members that are missing because an unknown one is meant. That is one fault. */
function withoutMisspelt(faults: Fault[]): Fault[] {
  const meant = faults.flatMap(({ rule, remedy = [] }) =>
    "additionalProperties" in rule ? remedy.map(({ path }) => path) : [],
  );
  return faults.filter(({ pointer, rule }) => !("required" in rule && meant.includes(pointer)));
}

/** The faults in words, each after the name of its place. */
export const describeFaults = (faults: Fault[], nameOf: (pointer: string) => string): string[] =>
  faults.map(({ pointer, text }) => `${nameOf(pointer)} ${text}`);

/** The keywords of an alternative that say nothing more than which values it has. */
const ofValues = /^(type|enum|const|pattern|format)$/;

/**
 * The errors without those of alternatives and conditions: what a value of `oneOf` must be is one fault, whichever
 * alternative its sender meant, unless the value has the type of one and breaks another rule of it. The validator reports the
 * errors of the alternatives first.
 */
function ownErrors(errors: ErrorObject[]): ErrorObject[] {
  const own: ErrorObject[] = [];
  for (const error of errors) {
    // The errors of the conditions and of the names say more.
    if (/^(if|propertyNames)$/.test(error.keyword)) continue;
    // So does the bound of an integer, which is that of its format or less.
    if (error.keyword === "format" && error.parentSchema?.maximum !== undefined) continue;
    if (/^(oneOf|anyOf)$/.test(error.keyword)) {
      const first = own.findLastIndex(({ instancePath }) => !isWithin(instancePath, error.instancePath)) + 1;
      const ofAlternatives = own.splice(first);
      const more = ofAlternatives.filter(
        ({ keyword, instancePath }) => instancePath !== error.instancePath || !ofValues.test(keyword),
      );
      own.push(...(more.length > 0 ? more : [error]));
    } else own.push(error);
  }
  return own;
}

const isWithin = (path: string, place: string) => path === place || path.startsWith(`${place}/`);

/** The place of an error: of a member which is missing or unknown, that member. Other names of members can be data. */
function pointerOf({ keyword, instancePath, params }: ErrorObject): string {
  const member = keyword === "required" ? params.missingProperty : params.additionalProperty;
  return member === undefined ? instancePath : `${instancePath}/${escapePointer(member)}`;
}

/** The name that a step of a JSON pointer stands for. */
export const unescapePointer = (step: string): string => step.replaceAll("~1", "/").replaceAll("~0", "~");

/** A name as a step of a JSON pointer. */
export const escapePointer = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** Of alternatives, it is the rule of the one with the type of the value, or the types of all. */
function ruleOf({ keyword, schema, data }: ErrorObject): Record<string, unknown> {
  if (!/^(oneOf|anyOf)$/.test(keyword)) return { [keyword]: keyword === "required" ? true : schema };
  const alternatives = schema as JsonSchema[];
  const { pattern, enum: values } = alternatives.find(({ type }) => type === typeof data) ?? {};
  if (pattern) return { pattern };
  return values ? { enum: values } : { type: [...new Set(alternatives.flatMap(({ type = [] }) => type))] };
}

function textOf(
  { keyword, params, message, schema, parentSchema = {} }: ErrorObject,
  [remedy]: PatchOperation[] = [],
): string {
  const described = describeSchema(parentSchema as JsonSchema);
  switch (keyword) {
    case "required":
      return "is required";
    case "additionalProperties": {
      if (remedy?.op === "move") return `is unknown; is ${remedy.path.split("/").at(-1)} meant?`;
      const known = Object.keys(parentSchema.properties ?? {});
      if (known.length === 0) return "is unknown; none is known here";
      const others = known.length - knownMax;
      const more = others > 0 ? ` and ${others} more` : "";
      return `is unknown; known: ${known.slice(0, knownMax).join(", ")}${more}`;
    }
    case "type":
      return `must be ${describeSchema({ type: schema as string })}`;
    case "minimum":
      return `must be at least ${schema}`;
    case "maximum":
      return `must be at most ${schema}`;
    case "minLength":
      return schema === 1 ? "must not be empty" : `must have at least ${countOf(schema, "character")}`;
    case "maxLength":
      return `must have at most ${countOf(schema, "character")}`;
    case "minItems":
      return schema === 1 ? "must not be empty" : `must have at least ${countOf(schema, "element")}`;
    case "maxItems":
      return `must have at most ${countOf(schema, "element")}`;
    case "pattern":
      return `must be ${parentSchema["x-pattern-description"] ?? "in another form"}`;
    case "enum":
      return `must be ${params.allowedValues.length > 2 ? "one of " : ""}${described}`;
    case "format":
    case "const":
    case "oneOf":
    case "anyOf":
      return `must be ${described}`;
    default:
      return message ?? `breaks the rule ${keyword}`;
  }
}

const countOf = (count: unknown, noun: string) =>
  `${Number(count).toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
