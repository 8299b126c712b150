/** The part of an OpenAPI document that the services read. */
export interface Contract {
  openapi: string;
  info: { title: string; version: string; summary?: string; description?: string };
  servers?: { url: string }[];
  paths: Record<string, Record<string, unknown>>;
  security?: Operation["security"];
  components?: { securitySchemes?: Record<string, SecurityScheme>; [kind: string]: unknown };
  [member: string]: unknown;
}

/** A security scheme (OpenAPI 3.1, section 4.8.27). */
export interface SecurityScheme {
  type: string;
  /** Of the type `http`. */
  scheme?: string;
  /** The place and the name of the credentials, of the type `apiKey`. */
  in?: string;
  name?: string;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  description?: string;
  required?: boolean;
  explode?: boolean;
  /** True if the parameter restricts the rows that a caller can see. */
  "x-scope"?: boolean;
  schema: Record<string, unknown>;
}

/** The extension `x-tool` of an operation, which makes it a tool for models. */
export interface ToolKeyword {
  /** What the tool is for, and when to use it. */
  description: string;
  /** The query parameters that the tool has. Default: all. */
  parameters?: string[];
  /** Values of parameters that a call leaves out, in the place of those of the contract. */
  defaults?: Record<string, unknown>;
  /** The parameter with the number of entries on a page, which the service lowers if a page is too large for a model. */
  page_size?: string;
  /** True for an operation that changes nothing, whatever its method. */
  read_only?: boolean;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  /** Where the path in the contract has it. */
  key: string;
  method: string;
  /** The operation that means the same, if the method is QUERY. */
  queryOf?: string | undefined;
  /** The path in the contract, for example `/v1/event/{eventId}`. */
  path: string;
  /** The path for the router, for example `/v1/event/:eventId`. */
  url: string;
  parameters: Parameter[];
  /** The JSON body, if the operation has one. */
  body: { required: boolean; schema: object } | undefined;
  /** True if the contract declares by `x-idempotent` that the request can be repeated, whatever its method. */
  isIdempotent: boolean;
  /** The setting with which a service serves the operation (`x-optional`). Undefined if every service must serve it. */
  enabledBy?: string | undefined;
  /** True if the contract declares by `x-body-as-text` that the handler reads the body itself. */
  hasTextBody: boolean;
  tool: ToolKeyword | undefined;
  /** Alternatives, each with the required scopes by security scheme. */
  security: Record<string, string[]>[];
  /** Response objects by status. */
  responses: Record<string, DeclaredResponse>;
}

export interface DeclaredResponse {
  description?: string;
  content?: Record<string, { schema: object; examples?: Record<string, unknown> }>;
  headers?: Record<string, { required?: boolean; schema?: object; example?: string }>;
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
/** Where a path has its operation with the method QUERY (RFC 10008), which OpenAPI 3.1 does not know. */
export const queryKey = "x-query";

/**
 * The operations of a contract, with references to parameters, bodies, responses and headers resolved. Throws an error
 * that names the place of anything that the binder would bind wrongly without an error.
 */
export function operationsOf(contract: Contract): Operation[] {
  return Object.entries(contract.paths).flatMap(([path, item]) => {
    if ("parameters" in item) {
      throw new Error(`${path}: declare parameters in operations; parameters of a path are not merged`);
    }
    const oddName = [...path.matchAll(/\{([^}]*)\}/g)].find(([, name]) => !/^\w+$/.test(name ?? ""));
    if (oddName) throw new Error(`${path}: ${oddName[0]} can contain only letters, digits and underscores`);
    return Object.keys(item)
      .filter((key) => methods.includes(key) || key === queryKey)
      .map((key) => readOperation(contract, path, key, item[key] as RawOperation));
  });
}

type RawBody = { required?: boolean; content: { "application/json": { schema: object } } };

interface RawOperation
  extends Partial<Pick<Operation, "operationId" | "summary" | "description" | "tags" | "security">> {
  parameters?: unknown[];
  requestBody?: unknown;
  "x-idempotent"?: boolean;
  "x-optional"?: string;
  "x-body-as-text"?: boolean;
  "x-query-of"?: string;
  "x-tool"?: ToolKeyword;
  responses: Record<string, unknown>;
}

function readOperation(contract: Contract, path: string, key: string, raw: RawOperation): Operation {
  if (!raw.operationId) throw new Error(`${key} ${path}: has no operationId`);
  const body = follow(contract, raw.requestBody) as RawBody | undefined;
  return {
    operationId: raw.operationId,
    summary: raw.summary ?? "",
    description: raw.description ?? "",
    tags: raw.tags ?? [],
    key,
    method: key === queryKey ? "QUERY" : key.toUpperCase(),
    queryOf: raw["x-query-of"],
    path,
    url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
    parameters: (raw.parameters ?? []).map((parameter) => follow(contract, parameter) as Parameter),
    body: body && { required: body.required ?? false, schema: body.content["application/json"].schema },
    isIdempotent: raw["x-idempotent"] ?? false,
    enabledBy: raw["x-optional"],
    hasTextBody: raw["x-body-as-text"] ?? false,
    tool: raw["x-tool"],
    security: raw.security ?? contract.security ?? [],
    responses: readResponses(contract, raw.responses),
  };
}

/** The responses by status that a service gives whatever the operation is (`x-general-responses`). */
export const generalResponses = (contract: Contract): Record<string, DeclaredResponse> =>
  readResponses(contract, (contract["x-general-responses"] ?? {}) as Record<string, unknown>);

const readResponses = (contract: Contract, responses: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, readResponse(contract, response)]),
  );

function readResponse(contract: Contract, raw: unknown): DeclaredResponse {
  const response = follow(contract, raw) as DeclaredResponse;
  if (response.headers === undefined) return response;
  const headers = Object.entries(response.headers).map(([name, header]) => [name, follow(contract, header)]);
  return { ...response, headers: Object.fromEntries(headers) };
}

/** Resolves a `$ref` into the same document. Other nodes are returned as they are. */
export function follow(contract: Contract, node: unknown): unknown {
  const pointer = (node as { $ref?: string } | undefined)?.$ref;
  if (pointer === undefined) return node;
  const target = pointer
    .slice(2)
    .split("/")
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((place, step) => (place as Record<string, unknown> | undefined)?.[step], contract);
  if (target === undefined) throw new Error(`${pointer} does not exist`);
  return follow(contract, target);
}
