import type {
  FastifyInstance,
  onRequestHookHandler,
  preParsingHookHandler,
  preValidationHookHandler,
  RouteOptions,
} from "fastify";
import type { Contract, Operation } from "../contract/operations.ts";
import { takeQueryTokens } from "./access/security.ts";
import { ignoreBody } from "./body.ts";
import { HttpError } from "./http-error.ts";

/**
 * The contract for the binder, without its responses. The kernel sends what handlers return; the framework's serializers
 * would drop undeclared members, and compiling them takes time at the start.
 */
export function withoutResponses(contract: Contract, operations: Operation[]): Contract {
  const paths: Contract["paths"] = {};
  for (const { path, method } of operations) {
    const operation = contract.paths[path]?.[method.toLowerCase()] as object;
    const responses = { default: { description: "See the contract." } };
    paths[path] = { ...paths[path], [method.toLowerCase()]: { ...operation, responses } };
  }
  return { ...contract, paths };
}

type ParametersSchema = { properties: Record<string, object> };

/** The hooks of a route for the beginning of its requests. */
export const hooksOf = ({ onRequest = [] }: RouteOptions): onRequestHookHandler[] => [onRequest].flat();

/** Changes a route of the binder: it rejects undeclared parameters and a missing body, and authenticates first. */
export function strictRoute(
  route: RouteOptions,
  contract: Contract,
  operation: Operation,
  limitArriving: preParsingHookHandler,
): void {
  const { parameters, body, method, hasTextBody } = operation;
  const {
    params,
    querystring,
    headers,
    body: bodySchema,
    ...schema
  } = route.schema as Record<string, ParametersSchema | undefined>;
  for (const { name, explode, schema, "x-scope": isScope } of parameters) {
    const property = querystring?.properties[name];
    if (!querystring || !property) continue;
    // The binder drops `explode`, and a default beside a reference.
    querystring.properties[name] = {
      ...property,
      ...("default" in schema && { default: schema.default }),
      ...(explode === false && { commaSeparated: true }),
      ...(isScope && { isScope }),
    };
  }
  route.schema = {
    ...schema,
    params: withoutOthers(params),
    querystring: { ...withoutOthers(querystring), blankIsAbsent: method === "GET" },
    ...(headers && { headers: withLowerCaseNames(headers) }),
    ...(bodySchema && !hasTextBody && { body: bodySchema }),
  };
  route.config = { ...route.config, hasTextBody };
  // The binder authenticates after validation, whose errors would reveal the contract to anyone.
  const authenticate = route.preHandler ?? [];
  const ignoresBody = body === undefined && method !== "GET";
  route.onRequest = [
    hooksOf(route),
    takeQueryTokens(contract, operation) ?? [],
    authenticate,
    ignoresBody ? ignoreBody : [],
  ].flat() as onRequestHookHandler[];
  delete route.preHandler;
  if (body) route.preParsing = limitArriving;
  if (body?.required) route.preValidation = requireBody;
}

const withoutOthers = (schema: ParametersSchema = { properties: {} }) => ({
  type: "object",
  ...schema,
  additionalProperties: false,
});

/**
 * The framework does this only for its own validator. A required header that is missing is not an error here: the handler
 * returns the status that its operation declares for it, such as 428.
 */
const withLowerCaseNames = ({ properties }: ParametersSchema) => ({
  type: "object",
  properties: Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name.toLowerCase(), schema]),
  ),
});

const requireBody: preValidationHookHandler = (request, _reply, done) =>
  done(request.body === undefined ? new HttpError(400, ["a body is required"]) : undefined);

/**
 * Responds 405 to every other method of a path, before anything else of the request is read, and 204 to OPTIONS, by which
 * HAProxy checks a server and browsers send preflights. `settings` has the settings with which other methods are served.
 */
export function rejectOtherMethods(
  app: FastifyInstance,
  url: string,
  declared: string[],
  settings: Record<string, string | undefined> = {},
): void {
  const allowed = declared.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : method));
  const allow = allowed.join(", ");
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    exposeHeadRoute: false,
    onRequest(request, reply, done) {
      if (app.cors?.isPreflight(request)) return void app.cors.sendPreflight(reply, allow);
      if (request.method === "OPTIONS")
        return void reply.code(204).header("allow", `${allow}, OPTIONS`).send();
      const setting = settings[request.method];
      const messages = [
        `${request.method} is not allowed here; allowed: ${allow}`,
        ...(setting === undefined ? [] : [`the service accepts it with the setting ${setting}`]),
      ];
      done(new HttpError(405, messages, { allow }));
    },
    handler: () => undefined,
  });
}
