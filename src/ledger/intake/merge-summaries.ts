import type { Database } from "../../database/database.ts";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { repeat } from "../../waiting/repeat.ts";
import { mergeSummaryChanges, recordInstantPosition } from "../tables/summary/upkeep.ts";

/**
 * The number of changes below which none is merged. Reports add them up, which is quick, and a summary that is changed keeps a
 * version for each merge.
 */
export const waitingMin = 1000;
/** Limits of the number of changes that one statement merges. Fewer cost several times as much each. */
const stepMin = waitingMin;
const stepMax = 10_000;
/** The number is halved after a statement that took longer, and doubled after one that took less than half. */
const stepMaxMs = 100;
/** The delay after a statement that has merged as many as it may. Others use the database meanwhile. */
const busyDelayMs = 20;
/** The delay while few changes wait, or while another process merges. */
const idleDelayMs = 1000;

/**
 * Merges the changes of the summaries (migration 0037) in small steps, and records the positions of instants, until it is
 * disposed. Every process does, and the database lets one merge at a time.
 */
export function startMergingSummaries(
  database: Database,
  log: Logger,
  { idleMs = idleDelayMs, min = waitingMin } = {},
) {
  const outage = watchOutage(log);
  let step = stepMin;

  /** Resolves with true if more changes may wait. */
  async function merge(): Promise<boolean> {
    try {
      await recordInstantPosition(database);
      const startedAt = performance.now();
      const isFull = (await mergeSummaryChanges(database, step, min)) >= step;
      const durationMs = performance.now() - startedAt;
      if (durationMs > stepMaxMs) step = Math.max(stepMin, Math.floor(step / 2));
      else if (isFull && durationMs < stepMaxMs / 2) step = Math.min(stepMax, step * 2);
      outage.succeeded();
      return isFull;
    } catch (err) {
      outage.failed("changes of summaries could not be merged; reports read them one by one", { err });
      return false;
    }
  }

  return repeat(async () => ((await merge()) ? busyDelayMs : idleMs));
}
