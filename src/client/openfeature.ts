import {
  DefaultLogger,
  ErrorCode,
  type Logger,
  type Provider,
  type ResolutionDetails,
  StandardResolutionReasons,
} from "@openfeature/server-sdk";
import type { defaults } from "../../generated/features.defaults.ts";
import { operations } from "../../generated/features.operations.ts";
import type { operations as Operations } from "../../generated/features.ts";
import { openCalls } from "./calls.ts";
import { evaluate, type Failure, isName } from "./openfeature/evaluation.ts";
import { newCopy, startFollowing, stopFollowing } from "./openfeature/keep-copy.ts";
import { keepFile } from "./openfeature/keep-file.ts";
import { beClosed, beReady, newStatus, noteChange, noteCurrent } from "./openfeature/status.ts";
import type { ClientOptions } from "./options.ts";

export interface FeatureProviderOptions extends Omit<ClientOptions, "retries" | "fetch"> {
  /** The kinds of resources whose features are copied. */
  resources: string[];
  /**
   * The path of a file that keeps the copy between processes. Its folder must exist. It is written at most every 10 seconds,
   * and when the provider closes. Default: none.
   */
  file?: string;
  /**
   * Age of the copy in milliseconds after which the provider is stale. The service sends something every 15 seconds, so a
   * shorter time makes the provider stale again and again. Default: 60,000.
   */
  staleAfterMs?: number;
  /** Receives a warning if the file cannot be used or written. Default: the console. */
  logger?: Logger;
}

/** A provider of the features of resources as boolean flags. */
export interface FeatureProvider extends Provider {
  /**
   * Milliseconds since the copy was last known to be current. It grows while the service cannot be reached, and is
   * `Infinity` before the first copy. The clock of the service has no effect on it.
   */
  readonly ageMs: number;
  initialize(): Promise<void>;
  onClose(): Promise<void>;
}

/**
 * A provider for the server SDK of OpenFeature that copies all features of some kinds of resources into memory and follows
 * their changes. An evaluation reads the copy: it calls nobody, and works while the service is down.
 *
 * - `initialize` resolves when the copy is current. With a copy in the file it also resolves if the service cannot be
 *   reached within a second. Without one it rejects with the error of the first attempt, and the provider becomes ready by
 *   itself later.
 * - A change at the service is in the copy within a second, and has a `PROVIDER_CONFIGURATION_CHANGED` event. Several
 *   within 100 ms have one; `flagsChanged` is absent if there are more than 1,000 features.
 * - `PROVIDER_STALE` means that the copy is older than `staleAfterMs`, `PROVIDER_READY` that it is current again.
 * - A feature expires by the clock of this process, without an event; the event follows when the service records it.
 * - If the service no longer has the changes since the copy, all is copied again. Evaluations read the old copy meanwhile.
 *
 * Throws a `TypeError` if an option is invalid.
 */
export function featureProvider(options: FeatureProviderOptions): FeatureProvider {
  const { resources, file, staleAfterMs = 60_000, logger = new DefaultLogger(), ...client } = options;
  const kinds = [...new Set(resources)].sort();
  if (kinds.length === 0 || !kinds.every((kind) => typeof kind === "string" && isName(kind))) {
    throw new TypeError("resources must be kinds of resources, at least one");
  }
  const calls = openCalls<Operations, typeof defaults>(operations, client);
  const origin = { baseUrl: new URL(client.baseUrl).href, kinds };
  const kept = newCopy({
    calls,
    kinds,
    file: file === undefined ? undefined : keepFile(file, origin, logger),
    onCurrent: () => noteCurrent(status),
    onChange: (feature) => noteChange(status, feature),
  });
  const ageMs = () => performance.now() - (kept.copy?.currentAt ?? Number.NEGATIVE_INFINITY);
  const cause = () => kept.failure?.message ?? "nothing has arrived from the service";
  const status = newStatus(staleAfterMs, ageMs, cause);

  return {
    metadata: { name: "payment-ledger-services" },
    runsOn: "server",
    events: status.events,
    get ageMs() {
      return ageMs();
    },
    async initialize() {
      status.phase = "opening";
      try {
        await startFollowing(kept);
      } catch (error) {
        if (status.phase === "opening") status.phase = "failed";
        throw new Error(`no copy of the features: ${(error as Error).message}`, { cause: error });
      }
      if (status.phase === "opening") beReady(status);
    },
    async onClose() {
      beClosed(status);
      await stopFollowing(kept);
    },
    async resolveBooleanEvaluation(flagKey, defaultValue, context) {
      const found = evaluate(kept.copy, kinds, flagKey, context);
      if ("errorCode" in found) return failed(defaultValue, found);
      return status.phase === "stale" ? { ...found, flagMetadata: { ageMs: Math.round(ageMs()) } } : found;
    },
    resolveStringEvaluation: mismatch,
    resolveNumberEvaluation: mismatch,
    resolveObjectEvaluation: mismatch,
  };
}

const mismatch = async <Value>(_flagKey: string, value: Value): Promise<ResolutionDetails<Value>> =>
  failed(value, { errorCode: ErrorCode.TYPE_MISMATCH, errorMessage: "a feature is a boolean flag" });

const failed = <Value>(value: Value, failure: Failure): ResolutionDetails<Value> => ({
  value,
  reason: StandardResolutionReasons.ERROR,
  ...failure,
});
