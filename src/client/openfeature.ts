import {
  DefaultLogger,
  ErrorCode,
  type EvaluationContext,
  type Logger,
  OpenFeatureEventEmitter,
  type Provider,
  ProviderEvents,
  type ResolutionDetails,
  StandardResolutionReasons,
} from "@openfeature/server-sdk";
import type { defaults } from "../../generated/features.defaults.ts";
import { operations } from "../../generated/features.operations.ts";
import type { operations as Operations } from "../../generated/features.ts";
import { openCalls } from "./calls.ts";
import { isLive } from "./openfeature/entries.ts";
import { keepCopy } from "./openfeature/keep-copy.ts";
import { keepFile } from "./openfeature/keep-file.ts";
import { type Failure, isName, nameRule, noNames, subjectOf } from "./openfeature/subject.ts";
import type { ClientOptions } from "./options.ts";

const defaultStaleAfterMs = 60_000;
/** Changes within this time have one event. */
const changesMs = 100;
/** An event with more features has no list of them. */
const listedMax = 1000;
/** `setTimeout` fires at once beyond this. */
const timerMaxMs = 2 ** 31 - 1;

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
  const {
    resources,
    file,
    staleAfterMs = defaultStaleAfterMs,
    logger = new DefaultLogger(),
    ...client
  } = options;
  const kinds = [...new Set(resources)].sort();
  if (kinds.length === 0 || !kinds.every((kind) => typeof kind === "string" && isName(kind))) {
    throw new TypeError("resources must be kinds of resources, at least one");
  }
  const events = new OpenFeatureEventEmitter();
  const origin = { baseUrl: new URL(client.baseUrl).href, kinds };
  const kept = keepCopy({
    calls: openCalls<Operations, typeof defaults>(operations, client),
    kinds,
    file: file === undefined ? undefined : keepFile(file, origin, logger),
    onCurrent,
    onChange,
  });

  let status: "closed" | "opening" | "failed" | "ready" | "stale" = "closed";
  let ageTimer: ReturnType<typeof setTimeout> | undefined;
  let changesTimer: ReturnType<typeof setTimeout> | undefined;
  const changed = new Set<string>();

  const ageMs = () => performance.now() - (kept.copy()?.currentAt ?? Number.NEGATIVE_INFINITY);

  function beReady(): void {
    status = "ready";
    // In a later turn, when the SDK has set its own state to ready.
    ageTimer = setTimeout(watchAge, 0);
  }

  function watchAge(): void {
    const restMs = staleAfterMs - ageMs();
    if (restMs > 0) ageTimer = setTimeout(watchAge, Math.min(restMs, timerMaxMs));
    else beStale();
  }

  function beStale(): void {
    status = "stale";
    const cause = kept.failure()?.message ?? "nothing has arrived from the service";
    const message = `the copy of the features is ${Math.round(ageMs())} ms old: ${cause}`;
    events.emit(ProviderEvents.Stale, { message });
  }

  function onCurrent(): void {
    if (status !== "stale" && status !== "failed") return;
    beReady();
    events.emit(ProviderEvents.Ready);
  }

  function onChange(feature: string): void {
    // Before the provider is ready nobody has evaluated anything.
    if (status !== "ready" && status !== "stale") return;
    if (changed.size <= listedMax) changed.add(feature);
    changesTimer ??= setTimeout(emitChanges, changesMs);
  }

  function emitChanges(): void {
    changesTimer = undefined;
    const flagsChanged = changed.size <= listedMax && [...changed];
    changed.clear();
    events.emit(ProviderEvents.ConfigurationChanged, flagsChanged ? { flagsChanged } : {});
  }

  const notReady: Failure = {
    errorCode: ErrorCode.PROVIDER_NOT_READY,
    errorMessage: "the features are not copied yet",
  };

  /** Why an entry cannot be in the copy; undefined if it can. */
  function faultOf(flagKey: string, resource: string, id: string): Failure | undefined {
    if (!isName(resource) || !isName(id)) return noNames;
    if (!kinds.includes(resource)) {
      const errorMessage = `the provider has no resources of the kind ${resource}, only of ${kinds.join(", ")}`;
      return { errorCode: ErrorCode.INVALID_CONTEXT, errorMessage };
    }
    if (isName(flagKey)) return undefined;
    return { errorCode: ErrorCode.PARSE_ERROR, errorMessage: `the key of a flag must be ${nameRule}` };
  }

  function evaluate(
    flagKey: string,
    defaultValue: boolean,
    context: EvaluationContext,
  ): ResolutionDetails<boolean> {
    const copy = kept.copy();
    if (!copy) return failed(defaultValue, notReady);
    const subject = subjectOf(context);
    if ("errorCode" in subject) return failed(defaultValue, subject);
    const { resource, id } = subject;
    const expiresAt = copy.entries.get(resource)?.get(flagKey)?.get(id);
    const fault = expiresAt === undefined ? faultOf(flagKey, resource, id) : undefined;
    if (fault) return failed(defaultValue, fault);
    const value = expiresAt !== undefined && isLive(expiresAt);
    const reason = value ? StandardResolutionReasons.TARGETING_MATCH : StandardResolutionReasons.STATIC;
    return status === "stale"
      ? { value, reason, flagMetadata: { ageMs: Math.round(ageMs()) } }
      : { value, reason };
  }

  const mismatch = <Value>(_flagKey: string, defaultValue: Value): Promise<ResolutionDetails<Value>> =>
    Promise.resolve(
      failed(defaultValue, {
        errorCode: ErrorCode.TYPE_MISMATCH,
        errorMessage: "a feature is a boolean flag",
      }),
    );

  return {
    metadata: { name: "payment-ledger-services" },
    runsOn: "server",
    events,
    get ageMs() {
      return ageMs();
    },
    async initialize() {
      status = "opening";
      try {
        await kept.open();
      } catch (error) {
        if (status === "opening") status = "failed";
        throw new Error(`no copy of the features: ${(error as Error).message}`, { cause: error });
      }
      if (status === "opening") beReady();
    },
    async onClose() {
      status = "closed";
      clearTimeout(ageTimer);
      clearTimeout(changesTimer);
      changesTimer = undefined;
      changed.clear();
      await kept.close();
    },
    resolveBooleanEvaluation: (flagKey, defaultValue, context) =>
      Promise.resolve(evaluate(flagKey, defaultValue, context)),
    resolveStringEvaluation: mismatch,
    resolveNumberEvaluation: mismatch,
    resolveObjectEvaluation: mismatch,
  };
}

const failed = <Value>(value: Value, failure: Failure): ResolutionDetails<Value> => ({
  value,
  reason: StandardResolutionReasons.ERROR,
  ...failure,
});
