import type { Registry } from "prom-client";
import type { Database } from "../../database/database.ts";
import type { Logger } from "../../process/log.ts";
import type { Currency } from "../../values/currency.ts";
import { openNews } from "../../waiting/news.ts";
import type { ReceivedMessage } from "../queue/queue.ts";
import { type Batch, type Ingested, ingest } from "./ingest.ts";
import { createIntakeMetrics } from "./intake-metrics.ts";
import { openIntakeMinutes } from "./intake-minutes.ts";
import { type Message, readMessage } from "./message.ts";
import { watchUnknownEventTypes } from "./unknown-event-types.ts";

/** Stores messages, wherever they come from, and measures and logs what became of them. */
export function openIntake(database: Database, currency: Currency, registry: Registry, log: Logger) {
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
    /** Reads a message, whose amounts are in the currency of the ledger. */
    read: (body: string): Message => readMessage(body, currency),
    /** Ingests the batch that these messages contain: all or nothing. Rejects as `ingest` does. */
    async store(batch: Batch, messages: Pick<ReceivedMessage, "sentAt">[]): Promise<Ingested> {
      const ingested = await ingest(database, batch);
      if (ingested.stored.length > 0) news.emit("news");
      metrics.committed(messages, batch, ingested.stored);
      noticeTypes(ingested.stored);
      for (const { source_id, reason } of batch.deadLetters)
        log.warn({ delivery: source_id, reason }, "message became a dead letter");
      return ingested;
    },
  };
}
export type Intake = ReturnType<typeof openIntake>;
