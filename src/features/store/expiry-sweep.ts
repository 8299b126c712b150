import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import type { FeatureStore } from "./store.ts";

/** Milliseconds between steps while more features have expired, so that requests get their turn. */
const nextStepMs = 20;

/**
 * Removes expired features from the store in the background, until it is disposed of. It waits `idleMs` milliseconds when
 * none is left, and after a failure.
 */
export function sweepExpired(store: FeatureStore, log: Logger, idleMs = 1000): AsyncDisposable {
  const stop = new AbortController();
  async function sweep(): Promise<void> {
    // The requests report the failure too.
    const outage = watchOutage(log);
    while (!stop.signal.aborted) {
      let hasMore = false;
      try {
        hasMore = await store.expire();
        outage.succeeded();
      } catch (err) {
        outage.failed("expired features cannot be removed; it is tried again every second", { err });
      }
      await sleep(hasMore ? nextStepMs : idleMs, undefined, { signal: stop.signal }).catch(() => {});
    }
  }
  const sweeping = sweep();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await sweeping;
    },
  };
}
