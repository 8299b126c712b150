import { Registry } from "prom-client";
import contract from "../../generated/features.json" with { type: "json" };
import type { operations } from "../../generated/features.ts";
import { metricsHandler } from "../service/metrics.ts";
import type { Contract } from "../service/operations.ts";
import { createService, type ServiceParts } from "../service/service.ts";
import { errorLine, featureHandlers } from "./handlers.ts";
import type { FeatureStore } from "./store/store.ts";

interface Parts extends Pick<ServiceParts<operations>, "security" | "log" | "onStrayReply"> {
  store: FeatureStore;
}

/** What the feature storage is to its callers, whoever answers them. */
export const featuresService = {
  contract: contract as unknown as Contract,
  renderError: errorLine,
  publication: { contract: new URL("../../openapi/features.yaml", import.meta.url) },
};

/** The feature storage service, ready to listen. */
export function featuresApp({ store, ...parts }: Parts) {
  const metrics = new Registry();
  const handlers = { ...featureHandlers(store), getMetrics: metricsHandler(metrics) };
  return createService<operations>({ ...featuresService, handlers, metrics, ...parts });
}
