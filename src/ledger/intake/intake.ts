import type { Registry } from "prom-client";
import type { Database } from "../../database/database.ts";
import type { Logger } from "../../process/log.ts";
import type { Currency } from "../../values/currency.ts";
import { openNews } from "../../waiting/news.ts";
import type { ReceivedMessage } from "../queue/queue.ts";
import { openFreshness } from "./freshness.ts";
import { type Batch, type Ingested, ingest } from "./ingest.ts";
import { createIntakeMetrics } from "./intake-metrics.ts";
import { openIntakeMinutes } from "./intake-minutes.ts";
import { type Message, readMessage } from "./message.ts";
import { watchUnknownEventTypes } from "./unknown-event-types.ts";
import { watchArrivals } from "./watch-arrivals.ts";

/** Stores messages, wherever they come from, and measures and logs what became of them. Requests read from the replica. */
export function openIntake(
  database: Database,
  currency: Currency,
  registry: Registry,
  log: Logger,
  replica?: Database,
) {
  const freshness = openFreshness(registry);
  const arrivals = watchArrivals(replica ?? database, replica !== undefined, freshness);
  const minutes = openIntakeMinutes();
  const metrics = createIntakeMetrics(registry, minutes);
  const noticeTypes = watchUnknownEventTypes(registry, log);
  const news = openNews();
  return {
    metrics,
    /** Events were stored. */
    news,
    /** What became of the messages, to be saved with `startSavingIntakeMinutes`. */
    minutes,
    /** How long events took until they were visible, to be saved in the same way. */
    freshness,
    /** Reads a message, whose amounts are in the currency of the ledger. */
    read: (body: string): Message => readMessage(body, currency),
    /** Ingests the batch that these messages contain: all or nothing. Rejects as `ingest` does. */
    async store(batch: Batch, messages: Pick<ReceivedMessage, "sentAt">[]): Promise<Ingested> {
      const ingested = await ingest(database, batch);
      if (ingested.stored.length > 0) news.emit("news");
      arrivals.committed(ingested.stored);
      metrics.committed(messages, batch, ingested.stored);
      noticeTypes(ingested.stored);
      for (const { source_id, reason } of batch.deadLetters)
        log.warn({ delivery: source_id, reason }, "message became a dead letter");
      return ingested;
    },
  };
}
export type Intake = ReturnType<typeof openIntake>;
