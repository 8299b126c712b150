import { type Contract, follow, type Parameter } from "../../src/contract/operations.ts";

/** An operation as a contract has it. */
export interface WrittenOperation {
  operationId?: string;
  /** The operationId of the same operation with the method QUERY. */
  "x-query"?: string;
  "x-entity-tag"?: true;
  "x-position"?: PositionKind;
  tags?: string[];
  security?: object[];
  summary?: string;
  parameters?: object[];
  requestBody?: object;
  responses?: Record<string, { $ref?: string; headers?: Record<string, object> }>;
}

/** `known_at`: the operation can be read as of a position. `at_least`: it reads the present. */
export type PositionKind = "known_at" | "at_least";

/** The parameters of an operation with `x-position`. */
export const positionParameters = (kind: PositionKind | undefined): { $ref: string }[] => [
  ...(kind === "known_at" ? [{ $ref: "#/components/parameters/KnownAt" }] : []),
  ...(kind ? [{ $ref: "#/components/parameters/AtLeast" }] : []),
];

type WrittenParameter = Parameter & { description?: string; deprecated?: boolean; example?: unknown };

/**
 * The operation with the method QUERY (RFC 10008) that means the same as another one. The query parameters of a GET, but for
 * those that are deprecated, become members of its body; the body of a POST stays as it is. A response has no `Link`, since an
 * address cannot have a body.
 */
export function queryOf(contract: Contract, operation: WrittenOperation): WrittenOperation & object {
  const { operationId, "x-query": id, "x-entity-tag": hasTag, tags, security, summary } = operation;
  const { "x-position": position } = operation;
  const parameters = [...(operation.parameters ?? []), ...positionParameters(position)].map(
    (parameter) => [parameter, follow(contract, parameter) as WrittenParameter] as const,
  );
  const inQuery = parameters.flatMap(([, one]) => (one.in === "query" && !one.deprecated ? one : []));
  const { "200": success, ...others } = operation.responses ?? {};
  const { Link: _, ...headers } = success?.headers ?? {};
  return {
    operationId: id as string,
    ...{ "x-query-of": operationId },
    ...(hasTag && { "x-entity-tag": hasTag }),
    ...(position && { "x-position": position }),
    ...(tags && { tags }),
    ...(security && { security }),
    ...(summary && { summary }),
    ...{ description: `The same as \`${operationId}\`, as a request that is safe to repeat and has a body.` },
    parameters: parameters.filter(([, one]) => one.in !== "query").map(([written]) => written),
    requestBody: operation.requestBody ?? bodyOf(inQuery),
    responses: { "200": { ...success, headers }, ...others },
  };
}

function bodyOf(parameters: WrittenParameter[]): object {
  // With a default a generated type would require the member.
  const properties = parameters.map(({ name, description, schema: { default: _, ...schema } }) => [
    name,
    { ...schema, description },
  ]);
  const required = parameters.flatMap((parameter) => (parameter.required ? parameter.name : []));
  const schema = {
    description: "The query parameters. A list is an array.",
    type: "object",
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
  const [first] = parameters;
  const isList = (first?.schema as { type?: string } | undefined)?.type === "array";
  const value = first && { [first.name]: isList ? [first.example].flat() : first.example };
  return {
    required: true,
    content: { "application/json": { schema, examples: { one: { value } } } },
  };
}
