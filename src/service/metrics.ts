import type { FastifyInstance } from "fastify";
import { Histogram, type Registry } from "prom-client";

/**
 * Counts a service's requests, by operation and status, with how long they took; what is no operation of the contract,
 * a page or a path that is not there, counts as `none`.
 */
export function countRequests(app: FastifyInstance, registry: Registry): void {
  const durations = new Histogram({
    registers: [registry],
    name: "http_request_duration_seconds",
    help: "From a request's arrival to the end of its reply, by operation of the contract and status.",
    labelNames: ["operation", "status"],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { operationId = "none" } = (request.routeOptions.schema ?? {}) as { operationId?: string };
    durations.observe({ operation: operationId, status: reply.statusCode }, reply.elapsedTime / 1000);
    done();
  });
}

/** Answers what the registry holds, in the text format of Prometheus. */
export const metricsHandler = (registry: Registry) => async () => ({
  status: 200 as const,
  type: "text/plain" as const,
  body: await registry.metrics(),
});
