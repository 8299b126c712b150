import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { type HttpError, unavailable } from "../http-error.ts";

const idleCheckMs = 50;
/** Time after the beginning in which the first request of a connection must arrive to get a response. */
const firstRequestMs = 1000;
const graceMs = 10_000;

/**
 * Makes `app.close()` graceful: requests in flight get their response, new requests get 503, a kept-alive connection is
 * closed as soon as it is idle, and one without any request after a second. Responses that take longer than the grace
 * period are cut off. Returns a signal that aborts when closing begins.
 */
export function closeGracefully(app: FastifyInstance): AbortSignal {
  const closing = new AbortController();
  const connections = new Set<Socket>();
  let timers: NodeJS.Timeout[] = [];
  app.server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  function closeUnused() {
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  }
  app.addHook("preClose", (done) => {
    timers = [
      // Without it, a connection that was busy when closing began would stay for its whole keep-alive time.
      setInterval(() => app.server.closeIdleConnections(), idleCheckMs),
      // Browsers and connection pools open connections in advance. Node.js counts them as busy until their first request.
      setTimeout(closeUnused, firstRequestMs),
      setTimeout(() => app.server.closeAllConnections(), graceMs),
    ];
    closing.abort();
    done();
  });
  app.addHook("onClose", (_app, done) => {
    timers.forEach(clearTimeout);
    done();
  });
  return closing.signal;
}

/** The error for new requests after closing has begun. */
export const closingError = (closing: AbortSignal): HttpError | undefined =>
  closing.aborted ? unavailable("the service is stopping", { connection: "close" }) : undefined;
