import { Registry } from "prom-client";
import type { operations } from "../../generated/features.ts";
import { featuresContract } from "../contract/contracts.ts";
import { consoleAuthentication } from "../http/documents/documents.ts";
import { HttpError } from "../http/http-error.ts";
import { metricsHandler } from "../http/metrics.ts";
import type { HttpOptions, ServiceOptions } from "../http/options.ts";
import { createService } from "../http/service.ts";
import { bulkHandlers } from "./handlers/bulk.ts";
import { changeHandlers } from "./handlers/changes.ts";
import { featureHandlers } from "./handlers/features.ts";
import { flagHandlers } from "./handlers/flags.ts";
import { healthHandlers } from "./handlers/health.ts";
import { resourceHandlers } from "./handlers/resources.ts";
import { renderError } from "./requests/errors.ts";
import { openLongWork } from "./requests/long-work.ts";
import { statesOf } from "./requests/state.ts";
import { type FeatureStore, StoreFailure } from "./store/store.ts";

interface FeaturesOptions extends HttpOptions, Pick<ServiceOptions<Operations>, "log" | "onViolation"> {
  store: FeatureStore;
}

/** The contract of the service, its error format and its documents. */
export const featuresService = {
  name: "features",
  contract: featuresContract,
  renderError,
  documents: {
    contract: new URL("../../generated/features.yaml", import.meta.url),
    console: {
      script: new URL("../../generated/features.console.js", import.meta.url),
      style: new URL("../console/features/features.css", import.meta.url),
    },
  },
};

/** The operations without those with the method QUERY, which are handled as the operations that mean the same. */
type Operations = Omit<operations, "queryFeatures" | "queryFlag" | "queryFlags">;

/** The feature storage service. It does not listen yet. */
export function featuresApp({ store, ...options }: FeaturesOptions) {
  const metrics = new Registry();
  const long = openLongWork();
  const stateAt = statesOf(store);
  const handlers = {
    ...featureHandlers(store, stateAt, long),
    ...resourceHandlers(store, stateAt, long),
    ...bulkHandlers(store, long),
    ...changeHandlers(store, long),
    ...flagHandlers(store),
    ...healthHandlers(store, options.log),
    getMetrics: metricsHandler(metrics),
  };
  const { documents } = featuresService;
  const authentication = consoleAuthentication(options, ["features:read", "features:write"]);
  return createService<Operations>({
    ...featuresService,
    documents: { ...documents, console: { ...documents.console, authentication } },
    handlers,
    mapError,
    metrics,
    ...options,
  });
}

/** The message of a store can have a text of its server, which has no limit. */
const messageMax = 4000;

/** A failure of the store is a declared response: 500 with the message of the store. */
const mapError = (error: unknown) =>
  error instanceof StoreFailure
    ? new HttpError(500, [error.message.slice(0, messageMax).toWellFormed() || "the store failed"])
    : undefined;
