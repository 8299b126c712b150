import type { FastifyInstance } from "fastify";
import { type Refusal, unavailable } from "./http-error.ts";

const idleCheckMs = 50;
const graceOtherwiseMs = 10_000;

/**
 * Closing answers the requests in flight, refuses new ones with 503, and ends each kept-alive connection as soon as
 * it is idle: one that was busy when the closing began would hold it up for its whole keep-alive time otherwise. What
 * is not answered after the grace, a long reply with a slow reader say, is cut off.
 * Returns a signal of its beginning.
 */
export function closeGracefully(app: FastifyInstance, graceMs = graceOtherwiseMs): AbortSignal {
  const closing = new AbortController();
  let sweep: NodeJS.Timeout | undefined;
  let cut: NodeJS.Timeout | undefined;
  app.addHook("preClose", (done) => {
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

/** What every request is told from then on. */
export const refuseWhile = (closing: AbortSignal): Refusal | undefined =>
  closing.aborted ? unavailable("the service is stopping", { connection: "close" }) : undefined;
