import type { FastifyInstance, FastifyRequest } from "fastify";
import { isJson, parseJson } from "../values/json.ts";
import { type Contract, type DeclaredResponse, type Operation, operationsOf } from "./operations.ts";
import { contractCompiler, describeFaults } from "./validation.ts";

/** A reply as it goes out or comes in; the names of headers in lower case, the body undefined when it is not at hand. */
export interface SeenReply {
  status: number;
  headers: Record<string, unknown>;
  body: string | undefined;
}

/**
 * Tells how a reply strays from what its operation declares: in status, media type, declared headers or body, members
 * that are not declared included. Undefined when it does not.
 */
export function replyChecker(
  contract: Contract,
): (operationId: string, reply: SeenReply) => string | undefined {
  const closed = closeObjects(contract) as Contract;
  const compile = contractCompiler(closed);
  const responsesOf = new Map(
    operationsOf(closed).map(({ operationId, responses }) => [operationId, responses]),
  );

  function headersFault(response: DeclaredResponse, headers: Record<string, unknown>): string | undefined {
    const declared = Object.entries(response.headers ?? {}).map(
      ([name, header]) => [name, header, headers[name.toLowerCase()]] as const,
    );
    const missing = declared.filter(([, { required }, value]) => required && value === undefined);
    if (missing.length > 0) return `without the headers ${missing.map(([name]) => name).join(", ")}`;
    const odd = declared.find(([, { schema = {} }, value]) => value !== undefined && !isOf(schema, value));
    return odd && `the header ${odd[0]} is not what its schema says`;
  }

  /** A header is text. One that reads as a number is to be declared as one. */
  function isOf(schema: object, value: unknown): boolean {
    const read = parseJson(String(value));
    return compile(schema)(typeof read === "number" ? read : value);
  }

  return (operationId, { status, headers, body }) => {
    const response = responsesOf.get(operationId)?.[status];
    if (response === undefined) return "the status is not declared";
    const faultOfHeaders = headersFault(response, headers);
    if (faultOfHeaders !== undefined) return faultOfHeaders;
    if (response.content === undefined) return body ? "a body is not declared" : undefined;
    const type = mediaTypeOf(headers);
    const content = response.content[type];
    if (content === undefined) return `the media type "${type}" is not declared`;
    if (body === undefined) return undefined;
    const validate = compile(content.schema);
    const valid = validate(isJson(type) ? parseJson(body) : body);
    return valid ? undefined : describeFaults(validate.errors ?? [], (path) => `body${path}`).join("; ");
  };
}

export const mediaTypeOf = (headers: Record<string, unknown>): string =>
  String(headers["content-type"] ?? "").split(";")[0] ?? "";

/**
 * Holds every reply of a service against its contract, as it goes out. A stray reply is handed to `onStray` and replaced
 * by a 500 that says what is wrong, so that no test can overlook it.
 */
export function checkReplies(
  app: FastifyInstance,
  contract: Contract,
  onStray: (fault: string) => void,
): void {
  const operations = operationsOf(contract);
  const faultOf = replyChecker(contract);

  app.addHook("onSend", async (request, reply, payload) => {
    const operationId = operationFor(request, operations)?.operationId;
    if (operationId === undefined) return payload;
    const fault = faultOf(operationId, {
      status: reply.statusCode,
      headers: reply.getHeaders(),
      body: typeof payload === "string" ? payload : undefined,
    });
    if (fault === undefined) return payload;
    const complaint = `${operationId} answered ${reply.statusCode}: ${fault}`;
    onStray(complaint);
    reply.code(500).type("text/plain").removeHeader("content-length");
    return `${complaint}\n`;
  });
}

/** The operation a route serves; a method that is not declared is checked as any operation of its path. */
export function operationFor<One extends Operation>(
  request: FastifyRequest,
  operations: One[],
): One | undefined {
  const ofPath = operations.filter(({ url }) => url === request.routeOptions.url);
  const method = request.method === "HEAD" ? "GET" : request.method;
  return ofPath.find((operation) => operation.method === method) ?? ofPath[0];
}

/** A copy in which an object may have no other members than those its schema names. */
export function closeObjects(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closeObjects);
  if (typeof node !== "object" || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closeObjects(value)]));
  const isOpenObject =
    copy.type === "object" && copy.properties !== undefined && !("additionalProperties" in copy);
  return isOpenObject ? { ...copy, additionalProperties: false } : copy;
}
