import { Counter, Histogram, type Registry } from "prom-client";
import type { Delivery } from "../queue/queue.ts";
import type { Batch } from "./ingest.ts";

/** What is counted of the messages that come in. */
export interface IntakeMetrics {
  /** These were committed together, as this batch; so many of its events are new. */
  committed(deliveries: Delivery[], batch: Batch, stored: number): void;
  putBack(deliveries: Delivery[]): void;
}

export function createIntakeMetrics(registry: Registry): IntakeMetrics {
  const registers = [registry];
  const messages = new Counter({
    registers,
    name: "ledger_messages_total",
    help: "Messages by outcome: stored as a new event, duplicate of a stored one, folded again, parked, or put back.",
    labelNames: ["outcome"],
  });
  const size = new Histogram({
    registers,
    name: "ledger_batch_messages",
    help: "Messages committed in one database transaction.",
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
  });
  const lag = new Histogram({
    registers,
    name: "ledger_ingest_lag_seconds",
    help: "From when a message was sent, as far as the queue knows, to when it was committed.",
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 3600, 86_400],
  });
  return {
    committed(deliveries, { events, reprojections, parked }, stored) {
      messages.inc({ outcome: "stored" }, stored);
      messages.inc({ outcome: "duplicate" }, events.length - stored);
      messages.inc({ outcome: "folded" }, reprojections.length);
      messages.inc({ outcome: "parked" }, parked.length);
      size.observe(deliveries.length);
      const now = Date.now();
      for (const { sentAt } of deliveries) {
        if (sentAt !== undefined) lag.observe(Math.max(now - sentAt, 0) / 1000);
      }
    },
    putBack(deliveries) {
      messages.inc({ outcome: "put_back" }, deliveries.length);
    },
  };
}
