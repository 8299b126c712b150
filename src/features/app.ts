import { Registry } from "prom-client";
import contract from "../../generated/features.json" with { type: "json" };
import type { operations } from "../../generated/features.ts";
import type { Contract } from "../contract/operations.ts";
import { Refusal } from "../http/http-error.ts";
import { metricsHandler } from "../http/metrics.ts";
import { createService, type ServiceParts } from "../http/service.ts";
import { changeHandlers } from "./handlers/changes.ts";
import { renderError } from "./handlers/errors.ts";
import { featureHandlers } from "./handlers/features.ts";
import { flagHandlers } from "./handlers/flags.ts";
import { type FeatureStore, StoreFailure } from "./store/store.ts";

interface Parts extends Pick<ServiceParts<operations>, "security" | "log" | "onStrayReply"> {
  store: FeatureStore;
}

/** What the feature storage is to its callers, whoever answers them. */
export const featuresService = {
  contract: contract as unknown as Contract,
  renderError,
  publication: { contract: new URL("../../openapi/features.yaml", import.meta.url) },
};

/** The feature storage service, ready to listen. */
export function featuresApp({ store, ...parts }: Parts) {
  const metrics = new Registry();
  const handlers = {
    ...featureHandlers(store),
    ...changeHandlers(store),
    ...flagHandlers(store),
    getMetrics: metricsHandler(metrics),
  };
  return createService<operations>({ ...featuresService, handlers, foresee, metrics, ...parts });
}

/** A store that fails is a declared answer: 500, with the store's own message. */
const foresee = (error: unknown) =>
  error instanceof StoreFailure ? new Refusal(500, [error.message]) : undefined;
