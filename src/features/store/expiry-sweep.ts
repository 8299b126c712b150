import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { repeat } from "../../waiting/repeat.ts";
import type { FeatureStore } from "./store.ts";

/** Milliseconds between steps while more features have expired, so that requests get their turn. */
const nextStepMs = 20;

/**
 * Removes expired features from the store in the background, until it is disposed of. It waits `idleMs` milliseconds when
 * none is left, and after a failure.
 */
export function sweepExpired(store: Pick<FeatureStore, "expire">, log: Logger, idleMs = 1000) {
  // The requests report the failure too.
  const outage = watchOutage(log);
  return repeat(async () => {
    try {
      const hasMore = await store.expire();
      outage.succeeded();
      return hasMore ? nextStepMs : idleMs;
    } catch (err) {
      outage.failed("expired features cannot be removed; it is tried again every second", { err });
      return idleMs;
    }
  });
}
