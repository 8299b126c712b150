import { METHODS } from "node:http";
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  type onRequestHookHandler,
  type onResponseHookHandler,
} from "fastify";
import type { Registry } from "prom-client";
import { anonymousOperation, type Place, placesLeftOut, withoutPlaces } from "../contract/left-out.ts";
import { type Contract, type Operation, operationsOf } from "../contract/operations.ts";
import { checkResponses } from "../contract/response-check.ts";
import { openAjv } from "../contract/validation.ts";
import { type Logger, logsDebug } from "../process/log.ts";
import { type Cors, openCors } from "./access/cors.ts";
import { browserHeaders, noStore, openPageCheck } from "./access/foreign-pages.ts";
import { type Authenticate, authenticationOf, type Security, securityHandlers } from "./access/security.ts";
import { fastifyOpenapiGlue } from "./binder.ts";
import { acceptJsonOnly, bodyMaxBytes, limitArriving } from "./body.ts";
import { type Publication, publish } from "./documents/documents.ts";
import { openDoubledSlashes } from "./doubled-slashes.ts";
import { type RenderError, toHttpError, unwrapSecurityError } from "./errors.ts";
import type { Handlers } from "./handlers.ts";
import { HttpError } from "./http-error.ts";
import { closeGracefully, closingError } from "./limits/closing.ts";
import {
  afterResponse,
  hostError,
  keepAliveMs,
  readTarget,
  rejectConnect,
  requestCheckMs,
  requestMaxMs,
  respondToMalformed,
  targetError,
  unsentBefore,
} from "./limits/connections.ts";
import { limitInFlight } from "./limits/overload.ts";
import { limitUnsent } from "./limits/unsent.ts";
import { processMetrics, requestDurations } from "./metrics.ts";
import { type Outages, watchOutages } from "./outages.ts";
import { bodyReader, type ParametersSchema, parametersReader } from "./parameters.ts";
import { requestIdHeader, requestIdOf } from "./request-id.ts";
import { type AnyHandler, routeHandler, sendBody } from "./response.ts";
import { hooksOf, rejectOtherMethods, strictRoute, withoutResponses } from "./route.ts";

/** What the settings of a process decide for each of its services. */
export interface HttpParts {
  /**
   * The authentication of the security schemes of the contract. Default: none. The service then runs without
   * authentication and publishes its contract without anything about it.
   */
  security?: Security | undefined;
  /** The claim of tokens that has the scopes, for the console. Default: `scope`. */
  scopeClaim?: string | undefined;
  /** The URL under which callers reach the service, for links. Default: the URL of each request. */
  publicUrl?: string | undefined;
  /** Addresses, networks and their names whose headers `X-Forwarded-Proto` and `-Host` apply. Default: none. */
  trustedProxies?: string[] | undefined;
  /** The origins of pages that can use the service in browsers, `*` for all. Default: its own only. */
  corsOrigins?: string[] | undefined;
  /**
   * The hosts by which callers can reach the service, besides `localhost` and the address of their connection. Default: any.
   */
  allowedHosts?: string[] | undefined;
  /** Milliseconds for which an idle connection stays open. Default: `keepAliveMs`. */
  keepAliveTimeoutMs?: number | undefined;
}

export interface ServiceParts<Operations> extends HttpParts {
  contract: Contract;
  /** An operation that is optional in the contract is served only if it has a handler. */
  handlers: Handlers<Operations>;
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
  byId: Map<string | undefined, Operation>;
  /** Optional operations without a handler. */
  notServed: Operation[];
  handlers: Record<string, AnyHandler>;
  /** By security scheme. */
  authentication: Record<string, Authenticate>;
  /** The nodes of the written contract that are not published. */
  leftOut: Place[];
}

/**
 * A service that serves its contract; it does not listen yet. Methods, paths and schemas come from the contract alone.
 * Throws if the contract and the handlers do not match.
 */
export async function createService<Operations>(parts: ServiceParts<Operations>): Promise<FastifyInstance> {
  const plan = planService(parts);
  const outages = watchOutages(parts.log);
  const cors = openCors(parts.corsOrigins ?? [], plan.operations);
  const app = createServer({ ...parts, outages, cors });
  const closing = addHooks(app, plan, parts);
  await bindOperations(app, plan, { ...parts, outages }, closing);
  if (parts.publication) publish(app, plan.contract, parts.publication, plan.leftOut);
  return app;
}

/** Reads the contract and matches it with the handlers and the security schemes. */
function planService<Operations>(parts: ServiceParts<Operations>): Plan {
  const { security } = parts;
  const handlers = parts.handlers as Record<string, AnyHandler>;
  const handled = Object.keys(handlers).filter((id) => typeof handlers[id] === "function");
  const written = operationsOf(parts.contract);
  const { served = [], notServed = [] } = Object.groupBy(written, ({ operationId, enabledBy }) =>
    enabledBy !== undefined && !handled.includes(operationId) ? "notServed" : "served",
  );
  const leftOut = placesLeftOut(parts.contract, written, { operations: notServed, security: !security });
  const contract = leftOut.length > 0 ? withoutPlaces(parts.contract, leftOut) : parts.contract;
  const operations = security ? served : served.map(anonymousOperation);
  const ids = operations.map(({ operationId }) => operationId);
  requireAll("operations without a handler", ids, handled);
  requireAll("handlers without an operation", Object.keys(handlers), ids);
  const authentication = authenticationOf(contract, security);
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
  return { contract, operations, byId, notServed, handlers, authentication, leftOut };
}

function requireAll(problem: string, wanted: string[], given: string[]): void {
  const missing = wanted.filter((name) => !given.includes(name));
  if (missing.length > 0) throw new Error(`${problem}: ${missing.join(", ")}`);
}

interface ServerParts
  extends Omit<HttpParts, "security" | "scopeClaim" | "corsOrigins" | "allowedHosts">,
    Pick<ServiceParts<unknown>, "renderError" | "mapError" | "log"> {
  outages: Outages;
  cors: Cors | undefined;
}

/** The server with its limits and its error responses. */
function createServer({
  renderError,
  mapError,
  log,
  publicUrl,
  trustedProxies = [],
  keepAliveTimeoutMs = keepAliveMs,
  outages,
  cors,
}: ServerParts): FastifyInstance {
  function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const error = unwrapSecurityError(thrown);
    const mapped = mapError?.(error);
    const { status, messages, headers } = mapped ?? toHttpError(error);
    const { method, routeOptions, params } = request;
    const details = { err: error, requestId: request.id, method, route: routeOptions.url };
    if (mapped) outages.failed(mapped, details);
    else if (status >= 500 && !(error instanceof HttpError)) log.error(details, "unexpected error");
    const { type, body } = renderError(status, messages, { route: routeOptions.url, path: params as object });
    // The framework reports a malformed URL before any hook.
    if (!reply.hasHeader(requestIdHeader)) {
      reply.headers({ ...browserHeaders, "cache-control": noStore, [requestIdHeader]: request.id });
      cors?.addHeaders(request, reply);
    }
    reply.code(status).headers(headers);
    return sendBody(reply, type, body, log);
  }

  const doubledSlashes = openDoubledSlashes();
  const app = fastify({
    return503OnClosing: false,
    genReqId: requestIdOf,
    trustProxy: trustedProxies.length > 0 && trustedProxies,
    bodyLimit: bodyMaxBytes,
    requestTimeout: requestMaxMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    http: {
      requireHostHeader: false,
      optimizeEmptyRequests: true,
      // If the headers timeout were longer than that of the request, Node.js would swap them.
      headersTimeout: requestMaxMs,
      connectionsCheckingInterval: requestCheckMs,
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    rewriteUrl: (request) => doubledSlashes.merge(readTarget(request)),
    clientErrorHandler: respondToMalformed(renderError),
    frameworkErrors: sendError,
  }) as unknown as FastifyInstance;
  app.addHook("onRoute", ({ url }) => doubledSlashes.add(url));
  app.decorate("publicUrl", publicUrl?.replace(/\/+$/, ""));
  app.decorate("cors", cors);
  app.setErrorHandler(sendError);
  limitUnsent(app.server, log);
  app.server.on("connect", rejectConnect(renderError));
  // An unknown expectation is ignored. The default of Node.js is a 417 with an empty body.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  return app;
}

/** Logs one line for each request: its route without the values in it, which are data. */
const logRequest = (log: Logger): onResponseHookHandler =>
  function logOne({ id: requestId, method, routeOptions: { url: route } }, reply, done) {
    const { statusCode: status, elapsedTime } = reply;
    log.debug({ requestId, method, route, status, durationMs: Math.round(elapsedTime) }, "request");
    done();
  };

/** The operation label of requests that belong to none. */
const noOperation = "none";

/**
 * Adds the hooks for all requests. Returns a signal that aborts when closing begins. Each route has one hook of its own for
 * its beginning, since a hook for all routes would have to find out the operation, and one for the end costs more.
 */
function addHooks<Operations>(
  app: FastifyInstance,
  { contract, operations, byId }: Plan,
  { metrics, onViolation, log, allowedHosts }: ServiceParts<Operations>,
): AbortSignal {
  const closing = closeGracefully(app);
  const measure = metrics && requestDurations(metrics);
  const checkPage = openPageCheck({ allowedHosts, publicUrl: app.publicUrl, cors: app.cors });
  const errorOf = (request: FastifyRequest) =>
    closingError(closing) ??
    hostError(request.raw) ??
    targetError(request.raw.url as string) ??
    checkPage(request);
  const begin = (operation?: Operation): onRequestHookHandler => {
    const cacheControl = operation ? cacheControlOf(operation) : noStore;
    const headers = { ...browserHeaders, ...(cacheControl && { "cache-control": cacheControl }) };
    return (request, reply, done) => {
      const { id, raw } = request;
      measure?.(operation?.operationId ?? noOperation, reply.raw);
      reply.headers(headers).header(requestIdHeader, id);
      app.cors?.addHeaders(request, reply);
      const before = unsentBefore(raw.socket, reply.raw);
      if (before) afterResponse(before, raw.socket, () => done(errorOf(request)));
      else done(errorOf(request));
    };
  };
  if (logsDebug(log)) app.addHook("onResponse", logRequest(log));
  if (onViolation) checkResponses(app, contract, operations, onViolation);
  acceptJsonOnly(app);
  if (metrics) processMetrics(metrics, contract.info);
  app.addHook("onRoute", (route) => {
    route.onRequest = [begin(byId.get(operationIdOf(route.schema))), ...hooksOf(route)];
  });
  app.register(async (unknownPaths) => {
    unknownPaths.addHook("onRequest", begin());
    unknownPaths.setNotFoundHandler(() => {
      throw new HttpError(404, ["nothing is served at this path"]);
    });
  });
  return closing;
}

/** The header `Cache-Control` that an operation declares for its success. All its responses have it. */
function cacheControlOf({ responses }: Operation): string | undefined {
  const [success] = Object.keys(responses).filter((status) => status.startsWith("2"));
  const header = responses[success ?? ""]?.headers?.["Cache-Control"];
  const { const: only, enum: [first] = [] } = (header?.schema ?? {}) as { const?: string; enum?: string[] };
  return only ?? first;
}

const operationIdOf = (schema: unknown) => (schema as { operationId?: string } | undefined)?.operationId;

/** Binds each operation to its handler, and rejects the other methods of its path. */
async function bindOperations<Operations>(
  app: FastifyInstance,
  { contract, operations, byId, notServed, handlers, authentication }: Plan,
  { security, log, outages }: ServiceParts<Operations> & { outages: Outages },
  closing: AbortSignal,
): Promise<void> {
  if (security) app.decorateRequest("caller", undefined).decorateRequest("queryTokens", undefined);
  const ajv = openAjv();
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === "params" || httpPart === "querystring" || httpPart === "headers"
      ? parametersReader(ajv, schema as ParametersSchema, httpPart)
      : bodyReader(ajv, schema as Record<string, unknown>),
  );
  const limitBodies = limitArriving();
  app.addHook("onRoute", (route) => {
    const operation = byId.get(operationIdOf(route.schema));
    if (operation) strictRoute(route, contract, operation, limitBodies);
  });
  const limits = { inFlight: limitInFlight(), outages };
  await app.register(fastifyOpenapiGlue, {
    specification: withoutResponses(contract, operations),
    operationResolver(operationId: string) {
      const operation = byId.get(operationId) as Operation;
      const handler = handlers[operationId] as AnyHandler;
      // Health and metrics are needed most when the service is overloaded.
      const isOfHealth = operation.tags.includes("health");
      return routeHandler(handler, operation, { log, closing, ...(!isOfHealth && limits) });
    },
    securityHandlers: securityHandlers(authentication),
  });
  for (const method of METHODS) {
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  for (const [url, declared] of Map.groupBy(operations, (operation) => operation.url)) {
    const methods = declared.map(({ method }) => method);
    const others = notServed.filter((operation) => operation.url === url);
    rejectOtherMethods(
      app,
      url,
      methods,
      Object.fromEntries(others.map(({ method, enabledBy }) => [method, enabledBy])),
    );
  }
}
