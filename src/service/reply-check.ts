import type { ValidateFunction } from "ajv/dist/2020.js";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Contract, type Operation, operationsOf } from "./operations.ts";
import { contractCompiler, describeFaults } from "./validation.ts";

/**
 * Holds every reply of a service against its contract, as it goes out: status, media type, declared headers and body,
 * members that are not declared included. A stray reply is handed to `onStray` and replaced by a 500 that says what is
 * wrong, so that no test can overlook it.
 */
export function checkReplies(
  app: FastifyInstance,
  contract: Contract,
  onStray: (fault: string) => void,
): void {
  const closed = closeObjects(contract) as Contract;
  const compile = contractCompiler(closed);
  const operations = operationsOf(closed);

  const validators = new Map<object, ValidateFunction>();
  const validatorOf = (schema: object) => {
    const validate = validators.get(schema) ?? compile(schema);
    validators.set(schema, validate);
    return validate;
  };

  app.addHook("onSend", async (request, reply, payload) => {
    const operation = operationFor(request, operations);
    if (operation === undefined) return payload;
    const fault = findFault(validatorOf, operation, reply, payload);
    if (fault === undefined) return payload;
    const complaint = `${operation.operationId} answered ${reply.statusCode}: ${fault}`;
    onStray(complaint);
    reply.code(500).type("text/plain").removeHeader("content-length");
    return `${complaint}\n`;
  });
}

/** The operation a route serves; a method that is not declared is checked as any operation of its path. */
function operationFor(request: FastifyRequest, operations: Operation[]): Operation | undefined {
  const ofPath = operations.filter(({ url }) => url === request.routeOptions.url);
  const method = request.method === "HEAD" ? "GET" : request.method;
  return ofPath.find((operation) => operation.method === method) ?? ofPath[0];
}

function findFault(
  validatorOf: (schema: object) => ValidateFunction,
  operation: Operation,
  reply: FastifyReply,
  payload: unknown,
): string | undefined {
  const response = operation.responses[reply.statusCode];
  if (response === undefined) return "the status is not declared";
  const type = String(reply.getHeader("content-type") ?? "").split(";")[0] ?? "";
  const content = response.content?.[type];
  if (response.content === undefined) return payload ? "a body is not declared" : undefined;
  if (content === undefined) return `the media type "${type}" is not declared`;
  const missing = Object.entries(response.headers ?? {})
    .filter(([name, header]) => header.required && !reply.hasHeader(name))
    .map(([name]) => name);
  if (missing.length > 0) return `without the headers ${missing.join(", ")}`;
  if (typeof payload !== "string") return undefined;
  const validate = validatorOf(content.schema);
  const valid = validate(type.endsWith("json") ? JSON.parse(payload) : payload);
  return valid ? undefined : describeFaults(validate.errors ?? [], (path) => `body${path}`).join("; ");
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
