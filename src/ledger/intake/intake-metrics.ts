import { Counter, Histogram, type Registry } from "prom-client";
import type { Delivery } from "../queue/queue.ts";
import type { NewEvent } from "../tables/event.ts";
import type { Batch } from "./ingest.ts";

/** Metrics of the messages that a process stores. */
export interface IntakeMetrics {
  /** The messages were committed as this batch, of which these events are new. */
  committed(messages: Pick<Delivery, "sentAt">[], batch: Batch, stored: NewEvent[]): void;
  retried(messages: Delivery[]): void;
}

export function createIntakeMetrics(registry: Registry): IntakeMetrics {
  const registers = [registry];
  const outcomes = new Counter({
    registers,
    name: "ledger_messages_total",
    help: "Messages by outcome: stored (a new event), duplicate, rebuilt (a projection), dead_letter, retried.",
    labelNames: ["outcome"],
  });
  // A rate needs the value before the first message.
  for (const outcome of ["stored", "duplicate", "rebuilt", "dead_letter", "retried"])
    outcomes.inc({ outcome }, 0);
  const size = new Histogram({
    registers,
    name: "ledger_batch_messages",
    help: "Messages committed in one database transaction.",
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
  });
  const lag = new Histogram({
    registers,
    name: "ledger_ingest_lag_seconds",
    help: "Time from the sending of a message, if the queue has it, to its commit.",
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 3600, 86_400],
  });
  return {
    committed(messages, { events, rebuilds, deadLetters }, stored) {
      outcomes.inc({ outcome: "stored" }, stored.length);
      outcomes.inc({ outcome: "duplicate" }, events.length - stored.length);
      outcomes.inc({ outcome: "rebuilt" }, rebuilds.length);
      outcomes.inc({ outcome: "dead_letter" }, deadLetters.length);
      size.observe(messages.length);
      const now = Date.now();
      for (const { sentAt } of messages) {
        if (sentAt !== undefined) lag.observe(Math.max(now - sentAt, 0) / 1000);
      }
    },
    retried(messages) {
      outcomes.inc({ outcome: "retried" }, messages.length);
    },
  };
}
