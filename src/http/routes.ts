import type { FastifyInstance, onRequestHookHandler, RouteOptions } from "fastify";
import type { Contract, Operation } from "../contract/operations.ts";
import type { ServedContract } from "../contract/served-contract.ts";
import { openAjv } from "../contract/validation.ts";
import { sendPreflight } from "./access/cors.ts";
import type { Recording } from "./access/recording.ts";
import { takeQueryTokens } from "./access/security.ts";
import { fastifyOpenapiGlue } from "./binder.ts";
import { ignoreBody, limitArriving, requireBody } from "./body.ts";
import { HttpError } from "./http-error.ts";
import { METHODS } from "./node-http.ts";
import {
  bodyReader,
  membersReader,
  type ParametersPart,
  type ParametersSchema,
  parametersReader,
} from "./parameters.ts";
import { json } from "./response.ts";
import { type AnyHandler, type RouteContext, routeHandler } from "./route-handler.ts";

/** Adds a route for each operation, and rejects the other methods of its path. */
export async function addRoutes(
  app: FastifyInstance,
  { contract, operations, notServed }: ServedContract,
  handlers: Record<string, AnyHandler>,
  securityHandlers: object,
  context: RouteContext,
): Promise<void> {
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
  const ajv = openAjv();
  app.setValidatorCompiler(({ schema, httpPart }) => {
    const { isOfParameters, ...own } = schema as QuerySchema;
    if (isOfParameters) return membersReader(ajv, own);
    return httpPart === "body"
      ? bodyReader(ajv, own as Record<string, unknown>)
      : parametersReader(ajv, own, httpPart as ParametersPart);
  });
  const limitBodies = limitArriving();
  const queries: RouteOptions[] = [];
  app.addHook("onRoute", (route) => {
    const operation = operationOf(route, operations);
    if (!operation) return;
    const query = operations.find(({ queryOf }) => queryOf === operation.operationId);
    if (query && route.method === operation.method) {
      const handler = routeHandler(handlers[operation.operationId] as AnyHandler, query, context);
      queries.push(queryRoute(route, operation, query, handler));
    }
    completeRoute(route, contract, operation, limitBodies);
    recordAccesses(route, context.recording?.(operation));
  });
  await app.register(fastifyOpenapiGlue, {
    specification: withoutResponses(contract, operations),
    operationResolver: (id: string) =>
      routeHandler(handlers[id] as AnyHandler, byId.get(id) as Operation, context),
    securityHandlers,
  });
  for (const route of queries) app.route(route);
  for (const method of METHODS) {
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  for (const [url, declared] of Map.groupBy(operations, (operation) => operation.url)) {
    const others = notServed.filter((operation) => operation.url === url);
    const methods = declared.map(({ method }) => method);
    rejectOtherMethods(app, url, methods, others);
  }
}

/**
 * The contract for the binder, without its responses. The kernel sends what handlers return; the framework's serializers
 * would drop undeclared members, and compiling them takes time at the start.
 */
function withoutResponses(contract: Contract, operations: Operation[]): Contract {
  const paths: Contract["paths"] = {};
  for (const { path, key, queryOf } of operations) {
    if (queryOf !== undefined) continue;
    const operation = contract.paths[path]?.[key] as object;
    const responses = { default: { description: "See the contract." } };
    paths[path] = { ...paths[path], [key]: { ...operation, responses } };
  }
  return { ...contract, paths };
}

/** The hooks of a route for the beginning of its requests. */
export const hooksOf = ({ onRequest = [] }: RouteOptions): onRequestHookHandler[] => [onRequest].flat();

/** The operation of a route of the binder; undefined for any other route. */
export const operationOf = ({ schema }: RouteOptions, operations: Operation[]): Operation | undefined =>
  operations.find(
    ({ operationId }) => operationId === (schema as Partial<Operation> | undefined)?.operationId,
  );

/** Changes a route of the binder: it rejects undeclared parameters and a missing body, and authenticates first. */
function completeRoute(
  route: RouteOptions,
  contract: Contract,
  operation: Operation,
  limitBodies: ReturnType<typeof limitArriving>,
): void {
  const { body, method, hasTextBody } = operation;
  route.schema = strictSchema(route.schema as BoundSchema, operation);
  route.config = { ...route.config, hasTextBody };
  route.onRequest = [
    hooksOf(route),
    takeQueryTokens(contract, operation) ?? [],
    // The binder authenticates after validation, whose errors would reveal the contract to anyone.
    route.preHandler ?? [],
    body === undefined && method !== "GET" ? ignoreBody : [],
  ].flat() as onRequestHookHandler[];
  delete route.preHandler;
  if (body) route.preParsing = limitBodies;
  if (body?.required) route.preValidation = requireBody;
}

/** Each response of a route is sent when its record is durable. */
function recordAccesses(route: RouteOptions, recording: Recording | undefined): void {
  if (!recording) return;
  // Before the hook of HEAD, which drops the body.
  route.onSend = [recording.onSend, route.onSend ?? []].flat();
  if (recording.preHandler) route.preHandler = recording.preHandler;
}

/**
 * The route for the method QUERY beside a route of the binder, which does not know the method. If that route has no body, the
 * query parameters are the members of this one's.
 */
function queryRoute(
  { onRequest: _begin, ...route }: RouteOptions,
  operation: Operation,
  query: Operation,
  handler: ReturnType<typeof routeHandler>,
): RouteOptions {
  const { querystring, body, ...schema } = structuredClone(route.schema as BoundSchema);
  const own = { ...schema, operationId: query.operationId };
  if (body) return { ...route, method: "QUERY", schema: { ...own, body }, handler };
  const { properties: declared } = (query.body as { schema: ParametersSchema }).schema;
  const { properties, ...all } = completeQuery(querystring, operation);
  const members = Object.entries(properties).filter(([name]) => Object.hasOwn(declared, name));
  const ofParameters = { ...all, properties: Object.fromEntries(members), isOfParameters: true };
  return {
    ...route,
    method: "QUERY",
    schema: { ...own, body: ofParameters },
    handler(request, reply) {
      request.query = request.body;
      handler(request, reply);
    },
  };
}

/** The schema of a body whose members are query parameters. */
interface QuerySchema extends ParametersSchema {
  isOfParameters?: boolean;
}

/** The schemas of a route, as the binder makes them. */
type BoundSchema = Record<string, ParametersSchema | undefined>;

/** The schema of the query parameters, with what the binder drops: `explode`, and a default beside a reference. */
function completeQuery(querystring: ParametersSchema | undefined, { parameters }: Operation) {
  for (const { name, explode, schema, "x-scope": isScope } of parameters) {
    const property = querystring?.properties[name];
    if (!querystring || !property) continue;
    querystring.properties[name] = {
      ...property,
      ...("default" in schema && { default: schema.default }),
      ...(explode === false && { commaSeparated: true }),
      ...(isScope && { isScope }),
    };
  }
  return withoutOthers(querystring);
}

function strictSchema(
  { params, querystring, headers, body, ...others }: BoundSchema,
  operation: Operation,
): object {
  const { method, hasTextBody } = operation;
  return {
    ...others,
    params: withoutOthers(params),
    querystring: { ...completeQuery(querystring, operation), blankIsAbsent: method === "GET" },
    ...(headers && { headers: withLowerCaseNames(headers) }),
    ...(body && !hasTextBody && { body }),
  };
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

/**
 * Responds 405 to every other method of a path, before anything else of the request is read, and 204 to OPTIONS, by which
 * HAProxy checks a server and browsers send preflights. `notServed` has optional operations of the path, which a setting enables.
 */
export function rejectOtherMethods(
  app: FastifyInstance,
  url: string,
  declared: string[],
  notServed: Operation[] = [],
): void {
  const allowed = declared.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : method));
  const allow = allowed.join(", ");
  const headers = { allow: `${allow}, OPTIONS`, ...(allowed.includes("QUERY") && { "accept-query": json }) };
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    exposeHeadRoute: false,
    onRequest(request, reply, done) {
      if (app.cors?.isPreflight(request)) return void sendPreflight(reply, allow);
      if (request.method === "OPTIONS") return void reply.code(204).headers(headers).send();
      const messages = [`${request.method} is not allowed here; allowed: ${allow}`];
      const optional = notServed.find(({ method }) => method === request.method);
      if (optional) messages.push(`the service accepts it with the setting ${optional.enabledBy}`);
      done(new HttpError(405, messages, { allow }));
    },
    handler: () => undefined,
  });
}
