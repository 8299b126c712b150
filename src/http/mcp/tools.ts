import type { Contract, Operation, Parameter, ToolKeyword } from "../../contract/operations.ts";
import { resolved } from "../../contract/validation.ts";
import { isUnicode } from "../../values/json.ts";

/** An operation as a tool for models, which `x-tool` makes of it. */
export type Tool = ReturnType<typeof toolOf>;

type Schema = Record<string, unknown> & { properties?: Record<string, Schema>; required?: string[] };
type Arguments = Record<string, unknown>;

/** The tools of the operations that a service serves. */
export const toolsOf = (contract: Contract, operations: Operation[]): Tool[] =>
  operations.flatMap((operation) => (operation.tool ? toolOf(contract, operation, operation.tool) : []));

function toolOf(contract: Contract, operation: Operation, keyword: ToolKeyword) {
  const { operationId, summary, method, isIdempotent, parameters, body } = operation;
  const { description, parameters: chosen, defaults = {}, page_size: pageSize = "" } = keyword;
  const named = [chosen ?? [], Object.keys(defaults), pageSize || []].flat();
  const unknown = named.find((name) => !parameters.some((one) => one.name === name));
  if (unknown) throw new Error(`${operationId}: x-tool names ${unknown}, which is no parameter`);
  const offered = parameters.filter(
    ({ name, in: place }) => place === "path" || (place === "query" && (chosen?.includes(name) ?? true)),
  );
  const ofParameters = Object.fromEntries(
    offered.map((one) => [one.name, schemaOf(contract, one, defaults[one.name])]),
  );
  const ofBody = body ? compact(resolved(contract, body.schema)) : {};
  const required = [
    ...offered.filter((one) => one.required).map(({ name }) => name),
    ...(ofBody.required ?? []),
  ];
  const readOnlyHint = method === "GET" || keyword.read_only === true;
  return {
    operation,
    defaults,
    /** The parameter with the size of a page, and its largest value that makes a difference. */
    pageSize: { name: pageSize, max: Number(ofParameters[pageSize]?.maximum) },
    /** The tool as clients list it. */
    definition: {
      name: operationId,
      title: summary,
      description: description.replaceAll(/\s+/g, " ").trim(),
      inputSchema: {
        type: "object" as const,
        properties: { ...ofParameters, ...ofBody.properties },
        ...(required.length > 0 && { required }),
        additionalProperties: false,
      },
      annotations: {
        readOnlyHint,
        idempotentHint: readOnlyHint || isIdempotent || method !== "POST",
        destructiveHint: method === "DELETE",
        openWorldHint: false,
      },
    },
  };
}

function schemaOf(contract: Contract, { description, schema }: Parameter, ownDefault: unknown): Schema {
  const { "x-effective-maximum": max, ...full } = resolved(contract, { description, ...schema });
  return compact({
    ...full,
    ...(max !== undefined && { maximum: max }),
    ...(ownDefault !== undefined && { default: ownDefault }),
    ...(description !== undefined && { description }),
  });
}

/** The keywords that help a model. The service enforces all others, too. */
const keywords = ["type", "enum", "format", "minimum", "maximum", "maxItems", "default", "required"];

/** A schema with these keywords and one sentence of its description, so that the list of all tools is short. */
function compact({ description, items, properties, ...others }: Schema): Schema {
  const kept = Object.entries(others).filter(([name, value]) => keywords.includes(name) && value !== "int32");
  const [sentence] = /^.*?\.(?= |$)/.exec(String(description ?? "").replaceAll(/\s+/g, " ")) ?? [];
  return {
    ...Object.fromEntries(kept),
    ...(sentence !== undefined && { description: sentence }),
    ...(items !== undefined && { items: withoutDescription(compact(items as Schema)) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, schema]) => [name, compact(schema)]),
      ),
    }),
  };
}

const withoutDescription = ({ description: _, ...others }: Schema): Schema => others;

/** The request that a call of a tool means. */
export interface ToolRequest {
  method: string;
  /** Path and query. */
  url: string;
  /** JSON. */
  body: string | undefined;
}

/**
 * The request of a call, or the reason why there is none. An argument of no parameter becomes a parameter, too: the service
 * rejects it, and names the one that was meant.
 */
export function requestOf(
  { operation, defaults, definition }: Tool,
  given: Arguments,
): ToolRequest | { fault: string } {
  if (!isUnicode(given)) return { fault: "the arguments contain an unpaired surrogate" };
  const { method, path, parameters, body } = operation;
  const isOffered = (name: string) => Object.hasOwn(definition.inputSchema.properties, name);
  const other = parameters.find(({ name }) => Object.hasOwn(given, name) && !isOffered(name));
  if (other) return { fault: `the tool has no argument ${other.name}` };
  // A model sends null for what it leaves out.
  const present = Object.entries(given).filter(([, value]) => value !== null);
  const all = Object.entries({ ...defaults, ...Object.fromEntries(present) });
  const placeOf = (name: string) =>
    parameters.find((one) => one.name === name)?.in ?? (body ? "body" : "query");
  const { path: inPath = [], body: inBody = [], query = [] } = Object.groupBy(all, ([name]) => placeOf(name));
  const texts = Object.fromEntries(inPath.map(([name, value]) => [name, textOf(value)]));
  const lacking = parameters.find(({ name, in: place }) => place === "path" && !texts[name]);
  if (lacking) return { fault: `the argument ${lacking.name} must be a text that is not empty` };
  const search = new URLSearchParams();
  for (const [name, value] of query) {
    const values = [value].flat().map(textOf);
    if (values.includes(undefined)) return { fault: `the argument ${name} must not contain an object` };
    const isJoined = parameters.some((one) => one.name === name && one.explode === false);
    for (const one of isJoined || values.length === 0 ? [values.join(",")] : values)
      search.append(name, one as string);
  }
  return {
    method,
    url:
      path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(texts[name] as string)) +
      (search.size > 0 ? `?${search}` : ""),
    body: body && JSON.stringify(Object.fromEntries(inBody)),
  };
}

/** The text of a scalar. */
const textOf = (value: unknown): string | undefined =>
  typeof value === "object" ? undefined : String(value);
