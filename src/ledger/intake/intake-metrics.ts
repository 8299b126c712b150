import { Counter, Histogram, type Registry } from "prom-client";
import type { ReceivedMessage } from "../queue/queue.ts";
import type { NewEvent } from "../tables/event.ts";
import type { Outcome } from "../tables/intake-minute.ts";
import type { Batch } from "./ingest.ts";
import type { IntakeMinutes } from "./intake-minutes.ts";

/** Metrics of the messages that a process stores. */
export function createIntakeMetrics(registry: Registry, minutes: IntakeMinutes) {
  const registers = [registry];
  const outcomes = new Counter({
    registers,
    name: "ledger_messages_total",
    help: "Messages by outcome: stored (a new event), duplicate, rebuilt (a projection), dead_letter, retried.",
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
    help: "Time from the sending of a message, if the queue has it, to its commit.",
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 1800, 3600, 86_400],
  });
  const count = (counts: Partial<Record<Outcome, number>>) => {
    for (const [outcome, messages] of Object.entries(counts)) outcomes.inc({ outcome }, messages);
  };
  // A rate needs the value before the first message.
  count({ stored: 0, duplicate: 0, rebuilt: 0, dead_letter: 0, retried: 0 });
  return {
    /** The messages were committed as this batch, of which these events are new. */
    committed(
      messages: Pick<ReceivedMessage, "sentAt">[],
      { events, rebuilds, deadLetters }: Batch,
      stored: NewEvent[],
    ): void {
      const counts = {
        stored: stored.length,
        duplicate: events.length - stored.length,
        rebuilt: rebuilds.length,
        dead_letter: deadLetters.length,
      };
      count(counts);
      size.observe(messages.length);
      const now = Date.now();
      const lagsMs = messages.flatMap(({ sentAt }) =>
        sentAt === undefined ? [] : Math.max(now - sentAt, 0),
      );
      for (const lagMs of lagsMs) lag.observe(lagMs / 1000);
      minutes.add(counts, lagsMs);
    },
    retried(messages: ReceivedMessage[]): void {
      count({ retried: messages.length });
      minutes.add({ retried: messages.length });
    },
  };
}
