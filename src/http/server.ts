import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { noStore, securityHeaders } from "./access/cross-origin.ts";
import { acceptJsonOnly, bodyMaxBytes } from "./body.ts";
import { openDoubledSlashes } from "./doubled-slashes.ts";
import { type SendFailure, toHttpError, unwrapSecurityError } from "./errors.ts";
import { HttpError } from "./http-error.ts";
import { keepAliveMs, readTarget, rejectConnect, respondToMalformed } from "./limits/connections.ts";
import { limitUnsent } from "./limits/unsent.ts";
import type { ServiceOptions } from "./options.ts";
import type { Outages } from "./outages.ts";
import { requestIdHeader, requestIdOf } from "./request-id.ts";

/** Limit for the arrival of a request. It is checked once a second. */
const requestMaxMs = 30_000;
const requestCheckMs = 1000;

type ServerOptions = Omit<ServiceOptions<unknown>, "contract" | "handlers">;

/** The server with its limits and its error responses. It has no routes yet. */
export function openServer(
  options: ServerOptions,
  outages: Outages,
  sendFailure: SendFailure,
): FastifyInstance {
  const { renderError, log, trustedProxies = [], keepAliveTimeoutMs = keepAliveMs } = options;
  const publicUrl = options.publicUrl?.replace(/\/+$/, "");
  const sendError = errorSender(options, outages, sendFailure);
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
    clientErrorHandler: respondToMalformed(renderError, publicUrl),
    frameworkErrors: sendError,
  }) as unknown as FastifyInstance;
  app.addHook("onRoute", ({ url }) => doubledSlashes.add(url));
  app.decorate("publicUrl", publicUrl);
  app.setErrorHandler(sendError);
  acceptJsonOnly(app);
  limitUnsent(app.server, log);
  app.server.on("connect", rejectConnect(renderError, publicUrl));
  // An unknown expectation is ignored. The default of Node.js is a 417 with an empty body.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  return app;
}

/** Sends an error in the format of the service. An error that nobody expects is logged. */
function errorSender({ mapError, log }: ServerOptions, outages: Outages, sendFailure: SendFailure) {
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const error = unwrapSecurityError(thrown);
    const mapped = mapError?.(error);
    const httpError = mapped ?? toHttpError(error);
    const { method, routeOptions } = request;
    const details = { err: error, requestId: request.id, method, route: routeOptions.url };
    if (mapped) outages.failed(mapped, details);
    else if (httpError.status >= 500 && !(error instanceof HttpError)) log.error(details, "unexpected error");
    // The framework reports a malformed URL before any hook.
    if (!reply.hasHeader(requestIdHeader)) {
      reply.headers({ ...securityHeaders, "cache-control": noStore, [requestIdHeader]: request.id });
      request.server.cors?.addHeaders(request, reply);
    }
    return sendFailure(reply, httpError);
  };
}
