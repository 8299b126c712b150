import { METHODS } from "node:http";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { Registry } from "prom-client";
import { type Contract, follow, type Operation, operationsOf } from "../contract/operations.ts";
import { checkReplies } from "../contract/response-check.ts";
import { openAjv } from "../contract/validation.ts";
import type { Logger } from "../process/log.ts";
import { fastifyOpenapiGlue } from "./binder.ts";
import { acceptJsonOnly, bodyMaxBytes } from "./body.ts";
import { closeGracefully, refuseWhile } from "./closing.ts";
import {
  answerBrokenRequests,
  endStalled,
  readTarget,
  refuseConnect,
  refuseOddHost,
  refuseOddTarget,
  requestCheckMs,
  requestMaxMs,
} from "./connections.ts";
import { explain, type RenderError, thrownIn } from "./errors.ts";
import type { Handlers } from "./handlers.ts";
import { Refusal } from "./http-error.ts";
import { requestCounter } from "./metrics.ts";
import { boundInHand } from "./overload.ts";
import { parametersReader, valueReader } from "./parameters.ts";
import { type Publication, publish } from "./publication.ts";
import { type AnyHandler, answerWith, sendReply } from "./reply.ts";
import { hardenRoute, refuseOtherMethods, withoutReplies } from "./routes.ts";
import { type Security, securityHandlers, securityPlaces, without } from "./security.ts";

/** As what a page, or a path that is not there, is counted. */
const noOperation = "none";

export interface ServiceParts<Operations> {
  contract: Contract;
  handlers: Handlers<Operations>;
  /**
   * One for each security scheme of the contract, and no other. Not given, nobody is asked who they are, and the contract
   * is served without its schemes and what belongs to them.
   */
  security?: Security | undefined;
  renderError: RenderError;
  /** What a caller may know of an error that the service foresees but its handlers do not catch. */
  foresee?: (error: unknown) => Refusal | undefined;
  log: Logger;
  /** Where the service counts its requests, if it does. */
  metrics?: Registry;
  /** What is published of the service beside its operations. */
  publication?: Publication;
  /** When given, every reply is held against the contract, and this is told of each that strays. For tests. */
  onStrayReply?: (fault: string) => void;
}

/**
 * A service that answers what its contract declares, ready to listen. Method, path and schema come from the contract
 * alone. Throws when contract and handlers do not match, so that a mismatch is seen at the start and not by a caller.
 */
export async function createService<Operations>(parts: ServiceParts<Operations>): Promise<FastifyInstance> {
  const { renderError, log } = parts;
  const leftOut = parts.security ? [] : securityPlaces(parts.contract);
  const contract = without(parts.contract, leftOut);
  const handlers = parts.handlers as Record<string, AnyHandler>;
  const operations = operationsOf(contract);
  const handled = Object.keys(handlers).filter((name) => typeof handlers[name] === "function");
  match("operations without a handler", names(operations), handled);
  match("handlers without an operation", Object.keys(handlers), names(operations));
  const security = securityHandlers(parts.security ?? {});
  const schemes = Object.keys(contract.components?.securitySchemes ?? {});
  match("security schemes without a handler", schemes, Object.keys(security));
  match("security handlers without a scheme", Object.keys(security), schemes);

  const app = fastify({
    return503OnClosing: false,
    bodyLimit: bodyMaxBytes,
    requestTimeout: requestMaxMs,
    http: {
      requireHostHeader: false,
      optimizeEmptyRequests: true,
      // Where the platform's own limit for headers is the longer one, it takes each for the other.
      headersTimeout: requestMaxMs,
      connectionsCheckingInterval: requestCheckMs,
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    rewriteUrl: readTarget,
    clientErrorHandler: answerBrokenRequests(renderError),
    frameworkErrors: (error, request, reply) => sendError(error, request, reply),
  }) as unknown as FastifyInstance;

  function sendError(given: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const error = thrownIn(given);
    const foreseen = parts.foresee?.(error);
    const { status, messages, headers } = explain(foreseen ?? error);
    const { method, routeOptions } = request;
    const told = { err: error, method, route: routeOptions.url };
    if (foreseen) log.warn(told, messages.join("; "));
    else if (status >= 500 && !(error instanceof Refusal)) {
      log.error(told, "request failed unexpectedly");
    }
    const { type, body } = renderError(status, messages, {
      route: routeOptions.url,
      path: request.params as object,
    });
    return sendReply(reply.code(status).headers(headers), type, body, log);
  }

  const closing = closeGracefully(app);
  app.addHook("onRequest", ({ raw }, _reply, done) =>
    done(refuseWhile(closing) ?? refuseOddHost(raw) ?? refuseOddTarget(raw.url as string)),
  );
  endStalled(app.server);
  app.server.on("connect", refuseConnect(renderError));
  // An expectation nobody knows is passed over; the platform would answer 417 with an empty body.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  if (parts.onStrayReply) checkReplies(app, contract, parts.onStrayReply);
  const countAs = parts.metrics && requestCounter(parts.metrics);
  acceptJsonOnly(app);
  app.setErrorHandler(sendError);
  app.register(async (elsewhere) => {
    if (countAs) elsewhere.addHook("onResponse", countAs(noOperation));
    elsewhere.setNotFoundHandler((request, reply) =>
      sendError(new Refusal(404, ["nothing is served at this path"]), request, reply),
    );
  });

  if (parts.security) app.decorateRequest("caller", undefined);
  const ajv = openAjv();
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === "params" || httpPart === "querystring"
      ? parametersReader(ajv, schema as Parameters<typeof parametersReader>[1], httpPart)
      : valueReader(ajv, schema as object, httpPart ?? "value"),
  );

  const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
  app.addHook("onRoute", (route) => {
    const operation = byId.get((route.schema as { operationId?: string } | undefined)?.operationId ?? "");
    if (countAs) route.onResponse = countAs(operation?.operationId ?? noOperation);
    if (operation) hardenRoute(route, operation, (schema) => follow(contract, schema));
  });
  const bounded = boundInHand();
  await app.register(fastifyOpenapiGlue, {
    specification: withoutReplies(contract, operations),
    operationResolver(operationId: string) {
      const operation = byId.get(operationId) as Operation;
      const handler = handlers[operationId] as AnyHandler;
      // How the service is must be told above all when it has too much to do.
      const isOfHealth = operation.tags.includes("health");
      return answerWith(isOfHealth ? handler : bounded(handler), operation, log, closing);
    },
    securityHandlers: security,
  });
  for (const method of METHODS) {
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  for (const [url, declared] of Map.groupBy(operations, (operation) => operation.url)) {
    refuseOtherMethods(
      app,
      url,
      declared.map(({ method }) => method),
    );
  }
  if (parts.publication) publish(app, contract, parts.publication, leftOut);
  return app;
}

const names = (operations: Operation[]) => operations.map(({ operationId }) => operationId);

function match(complaint: string, wanted: string[], given: string[]): void {
  const missing = wanted.filter((name) => !given.includes(name));
  if (missing.length > 0) throw new Error(`${complaint}: ${missing.join(", ")}`);
}
