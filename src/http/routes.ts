import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  preValidationHookHandler,
  RouteOptions,
} from "fastify";
import type { Contract, Operation, Parameter } from "../contract/operations.ts";
import { Refusal } from "./http-error.ts";
import { parametersSchema } from "./parameters.ts";

/**
 * What is left to bind. Replies are written from what handlers answer, with nothing dropped or mended on the way, so
 * the binder need not look at their schemas.
 */
export function withoutReplies(contract: Contract, operations: Operation[]): Contract {
  const paths: Contract["paths"] = {};
  for (const { path, method } of operations) {
    const operation = contract.paths[path]?.[method.toLowerCase()] as object;
    const responses = { default: { description: "as the contract says" } };
    paths[path] = { ...paths[path], [method.toLowerCase()]: { ...operation, responses } };
  }
  return { ...contract, paths };
}

/** What the binder and the framework leave open for a route is closed here. */
export function hardenRoute(
  route: RouteOptions,
  operation: Operation,
  resolve: (schema: unknown) => unknown,
): void {
  const schemaOf = (place: Parameter["in"]) =>
    parametersSchema(
      operation.parameters.filter((parameter) => parameter.in === place),
      resolve,
    );
  const headers = operation.parameters
    .filter((parameter) => parameter.in === "header")
    .map((parameter) => ({ ...parameter, name: parameter.name.toLowerCase() }));
  route.schema = {
    ...route.schema,
    params: schemaOf("path"),
    querystring: schemaOf("query"),
    ...(headers.length > 0 && {
      headers: { ...parametersSchema(headers, resolve), additionalProperties: true },
    }),
  };
  // The binder looks at credentials after validation, which would tell a stranger about the contract.
  const credentials = route.preHandler ?? [];
  const bodyToIgnore = operation.body === undefined && operation.method !== "GET";
  route.onRequest = [credentials, bodyToIgnore ? ignoreBody : []].flat() as onRequestHookHandler[];
  delete route.preHandler;
  if (operation.body?.required) route.preValidation = refuseMissingBody;
}

const refuseMissingBody: preValidationHookHandler = (request, _reply, done) =>
  done(request.body === undefined ? new Refusal(400, ["a body is required"]) : undefined);

/** An operation without a body takes any that comes along: unread, untyped, unparsed. */
function ignoreBody(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  delete request.headers["content-type"];
  delete request.headers["content-length"];
  delete request.headers["transfer-encoding"];
  done();
}

/** Answers every other method of a path, before anything of the request is read. */
export function refuseOtherMethods(app: FastifyInstance, url: string, declared: string[]): void {
  const allowed = declared.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : method));
  const allow = allowed.join(", ");
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    exposeHeadRoute: false,
    onRequest: (request, _reply, done) =>
      done(new Refusal(405, [`${request.method} is not allowed here; allowed: ${allow}`], { allow })),
    handler: () => undefined,
  });
}
