import type { FastifyInstance, FastifyRequest, onRequestHookHandler, onResponseHookHandler } from "fastify";
import type { Operation } from "../contract/operations.ts";
import type { Logger } from "../process/log.ts";
import { noStore, openHostCheck, openOriginCheck, securityHeaders } from "./access/cross-origin.ts";
import { type HttpError, unknownPath } from "./http-error.ts";
import { closingError } from "./limits/closing.ts";
import { afterResponse, hostError, targetError, unsentBefore } from "./limits/connections.ts";
import { requestDurations } from "./metrics.ts";
import type { ServiceOptions } from "./options.ts";
import { requestIdHeader } from "./request-id.ts";
import { hooksOf, operationOf } from "./routes.ts";

/**
 * Adds the beginning of every request: its metrics, the headers of its response, and what rejects it before its route. Each
 * route has one hook of its own, since a hook for all routes would have to find out the operation, and one for the end costs
 * more.
 */
export function beginRequests(
  app: FastifyInstance,
  operations: Operation[],
  closing: AbortSignal,
  { metrics, allowedHosts }: Pick<ServiceOptions<unknown>, "metrics" | "allowedHosts">,
): void {
  const measure = metrics && requestDurations(metrics);
  const errorOf = requestCheck(app, closing, allowedHosts);
  const begin = (operation?: Operation): onRequestHookHandler => {
    const cacheControl = operation ? cacheControlOf(operation) : noStore;
    const headers = { ...securityHeaders, ...(cacheControl && { "cache-control": cacheControl }) };
    return (request, reply, done) => {
      const { id, raw } = request;
      measure?.(operation?.operationId ?? "none", reply.raw);
      reply.headers(headers).header(requestIdHeader, id);
      app.cors?.addHeaders(request, reply);
      const before = unsentBefore(raw.socket, reply.raw);
      if (before) afterResponse(before, raw.socket, () => done(errorOf(request)));
      else done(errorOf(request));
    };
  };
  app.addHook("onRoute", (route) => {
    route.onRequest = [begin(operationOf(route, operations)), ...hooksOf(route)];
  });
  app.register(async (unknownPaths) => {
    unknownPaths.addHook("onRequest", begin());
    unknownPaths.setNotFoundHandler(() => {
      throw unknownPath();
    });
  });
}

/** The error of a request that is rejected before its route, undefined for any other. */
function requestCheck(app: FastifyInstance, closing: AbortSignal, allowedHosts: string[] | undefined) {
  const checkHost = allowedHosts && openHostCheck(allowedHosts);
  const checkOrigin = openOriginCheck(app.publicUrl, app.cors);
  return (request: FastifyRequest): HttpError | undefined =>
    closingError(closing) ??
    hostError(request.raw) ??
    targetError(request.raw.url as string) ??
    checkHost?.(request) ??
    checkOrigin(request);
}

/** The header `Cache-Control` that an operation declares for its success. All its responses have it. */
function cacheControlOf({ responses }: Operation): string | undefined {
  const [success] = Object.keys(responses).filter((status) => status.startsWith("2"));
  const header = responses[success ?? ""]?.headers?.["Cache-Control"];
  const { const: only, enum: [first] = [] } = (header?.schema ?? {}) as { const?: string; enum?: string[] };
  return only ?? first;
}

/** Logs one line for each request: its route without the values in it, which are data. */
export const logRequest = (log: Logger): onResponseHookHandler =>
  function logOne({ id: requestId, method, routeOptions: { url: route } }, reply, done) {
    const { statusCode: status, elapsedTime } = reply;
    log.debug({ requestId, method, route, status, durationMs: Math.round(elapsedTime) }, "request");
    done();
  };
