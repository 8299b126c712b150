import { checkResponses } from "../contract/response-check.ts";
import { servedContract } from "../contract/served-contract.ts";
import { logsDebug } from "../process/log.ts";
import { openCors } from "./access/cors.ts";
import { openRecording } from "./access/recording.ts";
import { securityHandlers } from "./access/security.ts";
import { serveDocuments } from "./documents/documents.ts";
import { failureSender } from "./errors.ts";
import { beginRequests, logRequest } from "./guard.ts";
import { closeGracefully } from "./limits/closing.ts";
import { limitInFlight } from "./limits/overload.ts";
import { processMetrics } from "./metrics.ts";
import type { ServiceOptions } from "./options.ts";
import { watchOutages } from "./outages.ts";
import type { AnyHandler } from "./route-handler.ts";
import { addRoutes } from "./routes.ts";
import { openServer } from "./server.ts";

/**
 * A service that serves its contract; it does not listen yet. Methods, paths and schemas come from the contract alone.
 * Throws if the contract and the handlers do not match.
 */
export async function createService<Operations>(options: ServiceOptions<Operations>) {
  const {
    security,
    corsOrigins = [],
    mcp = false,
    accessLog,
    log,
    metrics,
    documents,
    onViolation,
  } = options;
  const handlers = options.handlers as Record<string, AnyHandler>;
  const handled = Object.keys(handlers).filter((id) => typeof handlers[id] === "function");
  const served = servedContract(options.contract, (id) => handled.includes(id), !security);
  const { contract, operations } = served;
  const ids = operations.flatMap(({ operationId, queryOf }) => (queryOf === undefined ? operationId : []));
  requireAll("operations without a handler", ids, handled);
  requireAll("handlers without an operation", Object.keys(handlers), ids);
  const authentication = securityHandlers(contract, security);

  const outages = watchOutages(log);
  const sendFailure = failureSender(options.renderError, log);
  const app = openServer(options, outages, sendFailure);
  app.decorate("cors", openCors(corsOrigins, contract, operations));
  if (security) {
    app.decorateRequest("caller", undefined).decorateRequest("queryTokens", undefined);
    app.decorateRequest("identified", undefined).decorateRequest("answer", undefined);
    app.decorateRequest("isRecorded", false);
  }
  const closing = closeGracefully(app);
  beginRequests(app, operations, closing, options);
  if (logsDebug(log)) app.addHook("onResponse", logRequest(log));
  if (onViolation) checkResponses(app, contract, operations, onViolation);
  if (metrics) processMetrics(metrics, contract.info);

  const recording = security && accessLog && openRecording(served, { ...options, accessLog });
  const context = { log, closing, outages, sendFailure, inFlight: limitInFlight(), recording };
  await addRoutes(app, served, handlers, authentication, context);
  if (mcp) {
    // A service without it starts sooner without this module.
    const { serveMcp } = await import("./mcp/mcp.ts");
    serveMcp(app, served, authentication, log);
  }
  if (documents) serveDocuments(app, served, documents, mcp);
  return app;
}

function requireAll(problem: string, wanted: string[], given: string[]): void {
  const missing = wanted.filter((name) => !given.includes(name));
  if (missing.length > 0) throw new Error(`${problem}: ${missing.join(", ")}`);
}
