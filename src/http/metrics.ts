import type { ServerResponse } from "node:http";
import { collectDefaultMetrics, Gauge, Histogram, type Registry } from "prom-client";
import { shared } from "../waiting/shared.ts";

/**
 * Measures the duration of requests, by operation and status: from a call with the response of an operation until it has
 * been sent.
 */
export function requestDurations(registry: Registry): (operation: string, response: ServerResponse) => void {
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Duration of HTTP requests, by operation and status.",
    labelNames: ["operation", "status"],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
    registers: [registry],
  });
  return (operation, response) => {
    const start = performance.now();
    response.once("finish", () => {
      durations.observe({ operation, status: response.statusCode }, (performance.now() - start) / 1000);
    });
  };
}

/**
 * Adds the metrics of the process (memory, processor, event loop, garbage collection) and the version of the service. If
 * both services run in one process, both report its metrics.
 */
export function processMetrics(registry: Registry, { title, version }: { title: string; version: string }) {
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "service_build_info",
    help: "Always 1. The labels name the service and its version.",
    labelNames: ["service", "version"],
    registers: [registry],
  }).set({ service: title, version }, 1);
}

/** The metrics of the registry, in the text format of Prometheus. */
export function metricsHandler(registry: Registry) {
  const read = shared(() => registry.metrics());
  return async () => ({ status: 200 as const, type: "text/plain" as const, body: await read() });
}
