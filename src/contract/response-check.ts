import type { ValidateFunction } from "ajv/dist/2020.js";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isJson, parseJson } from "../values/json.ts";
import { describeFaults, faultsOf } from "./faults.ts";
import {
  type Contract,
  type DeclaredResponse,
  generalResponses,
  type Operation,
  operationsOf,
} from "./operations.ts";
import { contractCompiler, mapObjects } from "./validation.ts";

/** A response to check: header names in lower case, the body undefined if it is a stream. */
export interface ReceivedResponse {
  status: number;
  headers: Record<string, unknown>;
  body: string | undefined;
}

/**
 * Checks responses against the contract: status, media type, declared headers and body, without undeclared members.
 * The checker returns the violation, or undefined.
 */
export function responseChecker(contract: Contract) {
  const closed = closeObjects(contract);
  const compile = contractCompiler(closed);
  const responsesOf = new Map(
    operationsOf(closed).map(({ operationId, responses }) => [operationId, responses]),
  );

  const general = generalResponses(closed);

  function headersViolation(response: DeclaredResponse, headers: Record<string, unknown>) {
    const declared = Object.entries(response.headers ?? {}).map(
      ([name, header]) => [name, header, headers[name.toLowerCase()]] as const,
    );
    const missing = declared.filter(([, { required }, value]) => required && value === undefined);
    if (missing.length > 0) return `missing the headers ${missing.map(([name]) => name).join(", ")}`;
    const odd = declared.find(([, { schema = {} }, value]) => value !== undefined && !matches(schema, value));
    return odd && `the header ${odd[0]} does not match its schema`;
  }

  /** A header value that is a JSON number is checked as a number. */
  function matches(schema: object, value: unknown): boolean {
    const parsed = parseJson(String(value));
    return compile(schema)(typeof parsed === "number" ? parsed : value);
  }

  return (operationId: string, { status, headers, body }: ReceivedResponse): string | undefined => {
    const response = responsesOf.get(operationId)?.[status] ?? general[status];
    if (response === undefined) return "the status is not declared";
    const violation = headersViolation(response, headers);
    if (violation !== undefined) return violation;
    if (response.content === undefined) return body ? "a body is not declared" : undefined;
    const type = mediaTypeOf(headers);
    const content = response.content[type];
    if (content === undefined) return `the media type "${type}" is not declared`;
    if (body === undefined) return undefined;
    return bodyViolation(compile(content.schema), isJson(type) ? parseJson(body) : body);
  };
}

/** How a body, or another part of a message, violates its schema. Undefined if it conforms. */
export function bodyViolation(validate: ValidateFunction, body: unknown, part = "body"): string | undefined {
  if (validate(body)) return undefined;
  return describeFaults(faultsOf(validate.errors ?? []), (pointer) => part + pointer).join("; ");
}

export const mediaTypeOf = (headers: Record<string, unknown>): string =>
  String(headers["content-type"] ?? "").split(";")[0] ?? "";

/**
 * Checks every response of a service. A violation is passed to `onViolation` and replaces the response by a 500, so that
 * no test can miss it.
 */
export function checkResponses(
  app: FastifyInstance,
  contract: Contract,
  operations: Operation[],
  onViolation: (violation: string) => void,
): void {
  const violationOf = responseChecker(contract);
  app.addHook("onSend", async (request, reply, payload) => {
    const operationId = operationFor(request, operations)?.operationId;
    // The response to OPTIONS belongs to no operation.
    if (operationId === undefined || request.method === "OPTIONS") return payload;
    const violation = violationOf(operationId, {
      status: reply.statusCode,
      headers: reply.getHeaders(),
      body: typeof payload === "string" ? payload : undefined,
    });
    if (violation === undefined) return payload;
    const message = `${operationId} returned ${reply.statusCode}: ${violation}`;
    onViolation(message);
    reply.code(500).type("text/plain").removeHeader("content-length");
    return `${message}\n`;
  });
}

/** The operation of a route. A method that is not declared counts as an operation of the same path. */
export function operationFor<One extends Operation>(request: FastifyRequest, operations: One[]) {
  const ofPath = operations.filter(({ url }) => url === request.routeOptions.url);
  const method = request.method === "HEAD" ? "GET" : request.method;
  return ofPath.find((operation) => operation.method === method) ?? ofPath[0];
}

/** A copy of a contract in which objects have no undeclared members. */
export const closeObjects = (contract: Contract) =>
  mapObjects(contract, (node) => {
    const isOpen =
      node.type === "object" && node.properties !== undefined && !("additionalProperties" in node);
    return isOpen ? { ...node, additionalProperties: false } : node;
  }) as Contract;
