import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { isDay, readInstant } from "../values/instant.ts";
import type { Contract } from "./operations.ts";

/** Faults told to a caller at the most, of one request or message. */
const faultsMax = 20;

/**
 * The one way the services validate: JSON Schema 2020-12, nothing coerced, nothing dropped, nothing filled in, an
 * unknown format or keyword is an error when the schema is compiled.
 */
export function openAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allErrors: true,
    addUsedSchema: false,
    verbose: true,
  });
  ajv.addVocabulary(["example", "externalDocs", "xml", "discriminator", "components"]);
  ajv.addFormat("date-time", (text) => readInstant(text) !== undefined);
  ajv.addFormat("date", isDay);
  ajv.addFormat("uri", (text) => URL.canParse(text));
  ajv.addFormat("int32", { type: "number", validate: (value) => value === (value | 0) });
  ajv.addFormat("int64", true);
  ajv.addKeyword({
    keyword: "int64",
    validate: (_: true, value: unknown) => typeof value === "bigint" && BigInt.asIntN(64, value) === value,
    error: { message: "must be a 64-bit integer" },
  });
  return ajv;
}

/** A validator that is compiled when it is first needed, which is cheaper than all of them at the start. */
export function whenNeeded(compile: () => ValidateFunction): () => ValidateFunction {
  let compiled: ValidateFunction | undefined;
  return () => {
    compiled ??= compile();
    return compiled;
  };
}

/**
 * The same, but that a list that is too long is one fault, and its items are not looked at: each could be several, and
 * there are as many as a body holds.
 */
export function sparingItems(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(sparingItems);
  if (typeof node !== "object" || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, sparingItems(value)]));
  const { maxItems, items, uniqueItems = false, ...others } = copy;
  if (typeof maxItems !== "number" || items === undefined) return copy;
  return { ...others, maxItems, if: { minItems: maxItems + 1 }, else: { items, uniqueItems } };
}

/** A compiler of schemas that stand in a contract, whose references are into the contract's components; once each. */
export function contractCompiler({ components = {} }: Contract): (schema: object) => ValidateFunction {
  const ajv = openAjv().addSchema({ components }, "contract", undefined, false);
  const compiled = new Map<object, ValidateFunction>();
  return (schema) => {
    const known = compiled.get(schema);
    if (known) return known;
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"contract#/');
    const validate = ajv.compile(JSON.parse(text));
    compiled.set(schema, validate);
    return validate;
  };
}

/** A validator of one of the contract's named schemas: the faults it finds, none when the value conforms. */
export function schemaValidator(contract: Contract, schema: string): (value: unknown) => string[] {
  const validator = whenNeeded(() => contractCompiler(contract)({ $ref: `#/components/schemas/${schema}` }));
  return (value) => {
    const validate = validator();
    return validate(value) ? [] : describeFaults(validate.errors ?? [], nameMember);
  };
}

const nameMember = (path: string) => path.slice(1) || "the whole";

/** What is right for a format, in words. */
const formats: Record<string, string> = {
  "date-time": "an instant with a zone, such as 2024-03-05T09:14:22Z",
  date: "a day of the calendar, such as 2024-03-05",
  uri: "a URI",
  int32: "a 32-bit integer",
};

/** One line for each fault, which says where it is and what would be right. */
export function describeFaults(errors: ErrorObject[], nameOf: (instancePath: string) => string): string[] {
  // That no form fits says less than what is wrong with each of them; so does that a condition is not met.
  const lines = errors
    .filter(({ keyword }) => keyword !== "anyOf" && keyword !== "if")
    .map((error) => describeFault(error, nameOf));
  return [...new Set(lines)].slice(0, faultsMax);
}

function describeFault(error: ErrorObject, nameOf: (instancePath: string) => string): string {
  const { keyword, params, instancePath, message } = error;
  switch (keyword) {
    case "required":
      return `${nameOf(`${instancePath}/${params.missingProperty}`)} is required`;
    case "additionalProperties":
      return `${nameOf(`${instancePath}/${JSON.stringify(params.additionalProperty)}`)} is not known; known: ${
        Object.keys(error.parentSchema?.properties ?? {}).join(", ") || "none"
      }`;
    case "enum":
      return `${nameOf(instancePath)} must be one of ${params.allowedValues.join(", ")}`;
    case "format":
      return `${nameOf(instancePath)} must be ${formats[params.format] ?? params.format}`;
    case "const":
      return `${nameOf(instancePath)} must be ${JSON.stringify(params.allowedValue)}`;
    default:
      return `${nameOf(instancePath)} ${message}`;
  }
}
