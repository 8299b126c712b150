import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import type { Database } from "../database/database.ts";
import { mergeSummaryChanges } from "../tables/summary-upkeep.ts";

/** Changes that one statement merges. It takes about 20 ms. */
const stepMax = 5000;
/** The delay after a statement that has merged as many. Others use the database meanwhile. */
const busyDelayMs = 20;
/** The delay after a statement that has merged all changes, or while another process merges. */
const idleDelayMs = 1000;

/**
 * Merges the changes of the summaries (migration 0012) in small steps until it is disposed. Every process does, and the
 * database lets one merge at a time.
 */
export function startMergingSummaries(database: Database, log: Logger): AsyncDisposable {
  const stop = new AbortController();
  const outage = watchOutage(log);

  async function merge(): Promise<number> {
    try {
      const merged = await mergeSummaryChanges(database, stepMax);
      outage.succeeded();
      return merged;
    } catch (err) {
      outage.failed("changes of summaries could not be merged; reports read them one by one", { err });
      return 0;
    }
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      const delayMs = (await merge()) === stepMax ? busyDelayMs : idleDelayMs;
      await sleep(delayMs, undefined, { signal: stop.signal }).catch(() => {});
    }
  }

  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
