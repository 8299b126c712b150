import type { FastifyInstance } from "fastify";
import { Refusal } from "./refusal.ts";

const idleCheckMs = 50;

/**
 * Closing answers the requests in flight, refuses new ones with 503, and ends each kept-alive connection as soon as
 * it is idle: one that was busy when the closing began would hold it up for its whole keep-alive time otherwise.
 */
export function closeGracefully(app: FastifyInstance): void {
  let sweep: NodeJS.Timeout | undefined;
  app.addHook("preClose", (done) => {
    sweep = setInterval(() => app.server.closeIdleConnections(), idleCheckMs);
    done();
  });
  app.addHook("onClose", (_app, done) => {
    clearInterval(sweep);
    done();
  });
  app.addHook("onRequest", (_request, _reply, done) => {
    if (sweep === undefined) done();
    else done(new Refusal(503, ["the service is stopping"], { connection: "close" }));
  });
}
