import type { FastifyInstance } from "fastify";
import { type HttpError, unavailable } from "./http-error.ts";

const idleCheckMs = 50;
const defaultGraceMs = 10_000;

/**
 * Makes `app.close()` graceful: requests in flight get their response, new requests get 503, and a kept-alive connection
 * is closed as soon as it is idle. Responses that take longer than the grace period are cut off. Returns a signal that
 * aborts when closing begins.
 */
export function closeGracefully(app: FastifyInstance, graceMs = defaultGraceMs): AbortSignal {
  const closing = new AbortController();
  let sweep: NodeJS.Timeout | undefined;
  let cut: NodeJS.Timeout | undefined;
  app.addHook("preClose", (done) => {
    // Without the sweep, a connection that was busy when closing began would stay for its whole keep-alive time.
    sweep = setInterval(() => app.server.closeIdleConnections(), idleCheckMs);
    cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
    closing.abort();
    done();
  });
  app.addHook("onClose", (_app, done) => {
    clearInterval(sweep);
    clearTimeout(cut);
    done();
  });
  return closing.signal;
}

/** The error for new requests after closing has begun. */
export const closingError = (closing: AbortSignal): HttpError | undefined =>
  closing.aborted ? unavailable("the service is stopping", { connection: "close" }) : undefined;
