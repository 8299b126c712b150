import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { type HttpError, unavailable } from "../http-error.ts";

const checkMs = 50;
/** Time after the beginning in which the first request of a connection must arrive to get a response. */
const firstRequestMs = 1000;
const graceMs = 10_000;

/**
 * Makes `app.close()` graceful: requests in flight get their response, new requests get 503, a kept-alive connection is
 * closed as soon as it is idle, and one without any request after a second. While there is one of these, all other
 * connections stay for that second too. Responses that take longer than the grace period are cut off. Returns a signal
 * that aborts when closing begins.
 */
export function closeGracefully(app: FastifyInstance): AbortSignal {
  const closing = new AbortController();
  const connections = new Set<Socket>();
  let timers: NodeJS.Timeout[] = [];
  app.server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  const unused = () => [...connections].filter(({ bytesRead }) => bytesRead === 0);
  function closeIdle() {
    app.server.closeIdleConnections();
    // Before Node.js 26 they are not idle.
    for (const socket of unused()) socket.destroy();
  }
  app.addHook("preClose", async () => {
    timers = [setTimeout(() => app.server.closeAllConnections(), graceMs)];
    closing.abort();
    // Browsers and connection pools open connections in advance. From Node.js 26 on, the server closes them with itself.
    for (let waited = 0; waited < firstRequestMs && unused().length > 0; waited += checkMs)
      await sleep(checkMs);
    // Without it, a connection that was busy when closing began would stay for its whole keep-alive time.
    timers.push(setInterval(closeIdle, checkMs));
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
