import { METHODS } from "node:http";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { Registry } from "prom-client";
import { type Contract, type Operation, operationsOf } from "../contract/operations.ts";
import { checkResponses } from "../contract/response-check.ts";
import { openAjv } from "../contract/validation.ts";
import type { Logger } from "../process/log.ts";
import { fastifyOpenapiGlue } from "./binder.ts";
import { acceptJsonOnly, bodyMaxBytes, limitArriving } from "./body.ts";
import { closeGracefully, closingError } from "./closing.ts";
import {
  afterPrevious,
  closeStalledConnections,
  hostError,
  readTarget,
  rejectConnect,
  requestCheckMs,
  requestMaxMs,
  respondToMalformed,
  targetError,
} from "./connections.ts";
import { type RenderError, toHttpError, unwrapSecurityError } from "./errors.ts";
import type { Handlers } from "./handlers.ts";
import { HttpError } from "./http-error.ts";
import { requestDurations } from "./metrics.ts";
import { limitInFlight } from "./overload.ts";
import { parametersReader, valueReader } from "./parameters.ts";
import { type Publication, publish } from "./publication.ts";
import { type AnyHandler, routeHandler, sendBody } from "./response.ts";
import { rejectOtherMethods, strictRoute, withoutResponses } from "./route.ts";
import {
  anonymousOperation,
  type Place,
  type Security,
  securityHandlers,
  securityPlaces,
  withoutPlaces,
} from "./security.ts";
import { limitUnsent } from "./unsent.ts";

export interface ServiceParts<Operations> {
  contract: Contract;
  handlers: Handlers<Operations>;
  /**
   * The authentication of each security scheme of the contract. Default: none. The service then runs without
   * authentication and publishes its contract without anything about it.
   */
  security?: Security | undefined;
  renderError: RenderError;
  /** Maps an error that handlers throw to a declared response. Undefined means that the error is unexpected. */
  mapError?: (error: unknown) => HttpError | undefined;
  log: Logger;
  /** The registry for the durations of requests. Default: they are not measured. */
  metrics?: Registry;
  /** The contracts to publish. Default: none. */
  publication?: Publication;
  /** For tests: every response is checked against the contract, and this is called for each violation. */
  onViolation?: (violation: string) => void;
}

/** The operations of a contract, each with its handler. */
interface Plan {
  contract: Contract;
  operations: Operation[];
  handlers: Record<string, AnyHandler>;
  /** The nodes of the written contract that are not published. */
  leftOut: Place[];
}

/**
 * A service that serves its contract; it does not listen yet. Methods, paths and schemas come from the contract alone.
 * Throws if the contract and the handlers do not match.
 */
export async function createService<Operations>(parts: ServiceParts<Operations>): Promise<FastifyInstance> {
  const plan = planService(parts);
  const app = createServer(parts);
  const closing = addHooks(app, plan, parts);
  await bindOperations(app, plan, parts, closing);
  if (parts.publication) publish(app, plan.contract, parts.publication, plan.leftOut);
  return app;
}

/** Reads the contract and matches it with the handlers and the security schemes. */
function planService<Operations>(parts: ServiceParts<Operations>): Plan {
  const { security } = parts;
  const handlers = parts.handlers as Record<string, AnyHandler>;
  const written = operationsOf(parts.contract);
  const leftOut = security ? [] : securityPlaces(parts.contract, written);
  const contract = security ? parts.contract : withoutPlaces(parts.contract, leftOut);
  const operations = security ? written : written.map(anonymousOperation);
  const ids = operations.map(({ operationId }) => operationId);
  const schemes = Object.keys(contract.components?.securitySchemes ?? {});
  const handled = Object.keys(handlers).filter((id) => typeof handlers[id] === "function");
  requireAll("operations without a handler", ids, handled);
  requireAll("handlers without an operation", Object.keys(handlers), ids);
  requireAll("security schemes without a handler", schemes, Object.keys(security ?? {}));
  requireAll("security handlers without a scheme", Object.keys(security ?? {}), schemes);
  return { contract, operations, handlers, leftOut };
}

function requireAll(problem: string, wanted: string[], given: string[]): void {
  const missing = wanted.filter((name) => !given.includes(name));
  if (missing.length > 0) throw new Error(`${problem}: ${missing.join(", ")}`);
}

type ServerParts = Pick<ServiceParts<unknown>, "renderError" | "mapError" | "log">;

/** The server with its limits and its error responses. */
function createServer({ renderError, mapError, log }: ServerParts): FastifyInstance {
  function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const error = unwrapSecurityError(thrown);
    const mapped = mapError?.(error);
    const { status, messages, headers } = mapped ?? toHttpError(error);
    const { method, routeOptions, params } = request;
    const details = { err: error, method, route: routeOptions.url };
    if (mapped) log.warn(details, messages.join("; "));
    else if (status >= 500 && !(error instanceof HttpError)) log.error(details, "unexpected error");
    const { type, body } = renderError(status, messages, { route: routeOptions.url, path: params as object });
    return sendBody(reply.code(status).headers(headers), type, body, log);
  }

  const app = fastify({
    return503OnClosing: false,
    bodyLimit: bodyMaxBytes,
    requestTimeout: requestMaxMs,
    http: {
      requireHostHeader: false,
      optimizeEmptyRequests: true,
      // If the headers timeout were longer than that of the request, Node.js would swap them.
      headersTimeout: requestMaxMs,
      connectionsCheckingInterval: requestCheckMs,
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    rewriteUrl: readTarget,
    clientErrorHandler: respondToMalformed(renderError),
    frameworkErrors: sendError,
  }) as unknown as FastifyInstance;
  app.setErrorHandler(sendError);
  closeStalledConnections(app.server);
  limitUnsent(app.server, log);
  app.server.on("connect", rejectConnect(renderError));
  // An unknown expectation is ignored. The default of Node.js is a 417 with an empty body.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  return app;
}

/** The operation label of requests that belong to none. */
const noOperation = "none";

/** Adds the hooks for all requests. Returns a signal that aborts when closing begins. */
function addHooks<Operations>(
  app: FastifyInstance,
  { contract, operations }: Plan,
  { metrics, onViolation }: ServiceParts<Operations>,
): AbortSignal {
  const closing = closeGracefully(app);
  app.addHook("onRequest", ({ raw }, reply, done) =>
    afterPrevious(raw.socket, reply.raw, () =>
      done(closingError(closing) ?? hostError(raw) ?? targetError(raw.url as string)),
    ),
  );
  if (onViolation) checkResponses(app, contract, operations, onViolation);
  acceptJsonOnly(app);
  const measure = metrics && requestDurations(metrics);
  app.addHook("onRoute", (route) => {
    if (measure) route.onResponse = measure(operationIdOf(route.schema) ?? noOperation);
  });
  app.register(async (unknownPaths) => {
    if (measure) unknownPaths.addHook("onResponse", measure(noOperation));
    unknownPaths.setNotFoundHandler(() => {
      throw new HttpError(404, ["nothing is served at this path"]);
    });
  });
  return closing;
}

const operationIdOf = (schema: unknown) => (schema as { operationId?: string } | undefined)?.operationId;

/** Binds each operation to its handler, and rejects the other methods of its path. */
async function bindOperations<Operations>(
  app: FastifyInstance,
  { contract, operations, handlers }: Plan,
  { security, log }: ServiceParts<Operations>,
  closing: AbortSignal,
): Promise<void> {
  if (security) app.decorateRequest("caller", undefined);
  const ajv = openAjv();
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === "params" || httpPart === "querystring"
      ? parametersReader(ajv, schema as Parameters<typeof parametersReader>[1], httpPart)
      : valueReader(ajv, schema as Record<string, unknown>, httpPart ?? "value"),
  );
  const limitBodies = limitArriving();
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
  app.addHook("onRoute", (route) => {
    const operation = byId.get(operationIdOf(route.schema) ?? "");
    if (operation) strictRoute(route, operation, limitBodies);
  });
  const limited = limitInFlight();
  await app.register(fastifyOpenapiGlue, {
    specification: withoutResponses(contract, operations),
    operationResolver(operationId: string) {
      const operation = byId.get(operationId) as Operation;
      const handler = handlers[operationId] as AnyHandler;
      // Health and metrics are needed most when the service is overloaded.
      const isOfHealth = operation.tags.includes("health");
      return routeHandler(isOfHealth ? handler : limited(handler), operation, log, closing);
    },
    securityHandlers: securityHandlers(security ?? {}),
  });
  for (const method of METHODS) {
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  for (const [url, declared] of Map.groupBy(operations, (operation) => operation.url)) {
    const methods = declared.map(({ method }) => method);
    rejectOtherMethods(app, url, methods);
  }
}
