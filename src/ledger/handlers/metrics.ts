import { Gauge, type Registry } from "prom-client";
import type { operations } from "../../../generated/ledger.ts";
import type { Database, Sql } from "../../database/database.ts";
import type { Handlers } from "../../http/handlers.ts";
import { metricsHandler } from "../../http/metrics.ts";
import { withTimeout } from "../../process/with-timeout.ts";
import { countSummaryChanges } from "../tables/summary-upkeep.ts";
import { type Backlog, deadLettersMax, readMaxMs } from "./backlog.ts";
import type { ReceiverState } from "./health.ts";

/** Counting stops here, since it must not take long. */
const summaryChangesMax = 100_000;

interface Sources {
  sql: Sql;
  /** By the name of their setting. */
  databases: Record<string, Database>;
  backlog: Backlog;
  receiver: ReceiverState | undefined;
}

/** Metrics whose values are read when they are requested. */
export function metricsHandlers(
  registry: Registry,
  { sql, databases, backlog, receiver }: Sources,
): Pick<Handlers<operations>, "getMetrics"> {
  const registers = [registry];
  /**
   * A value that cannot be read is NaN, so that the other metrics are still available. Every process reports the same
   * shared value: take the maximum of all processes, not the sum.
   */
  const gauge = (scope: "shared" | "process", name: string, help: string, read: () => Promise<number>) =>
    new Gauge({
      registers,
      name,
      help,
      labelNames: ["scope"],
      async collect() {
        this.set(
          { scope },
          await withTimeout(read(), readMaxMs, new Error("timeout")).catch(() => Number.NaN),
        );
      },
    });
  // Read first, since the queries of other metrics take a connection.
  new Gauge({
    registers,
    name: "ledger_database_connections",
    help: "Connections to a database by pool (receiver, requests) and state (busy, idle, waiting).",
    labelNames: ["scope", "database", "pool", "state"],
    collect() {
      for (const [setting, database] of Object.entries(databases)) {
        for (const [pool, states] of Object.entries(database.connections())) {
          for (const [state, count] of Object.entries(states))
            this.set({ scope: "process", database: setting, pool, state }, count);
        }
      }
    },
  });
  gauge(
    "shared",
    "ledger_queue_messages_waiting",
    "Approximate number of messages in the queue.",
    backlog.messagesWaiting,
  );
  gauge(
    "shared",
    "ledger_dead_letters",
    `Messages in the dead-letter table, up to ${deadLettersMax}.`,
    backlog.openDeadLetters,
  );
  gauge(
    "shared",
    "ledger_summary_changes_waiting",
    `Changes of summaries that are not merged, up to ${summaryChangesMax}. Reports read each of them.`,
    () => countSummaryChanges(sql, summaryChangesMax),
  );
  if (receiver) {
    gauge(
      "process",
      "ledger_oldest_in_flight_message_seconds",
      "Age of the oldest in-flight message.",
      async () => receiver.oldestInFlightMs() / 1000,
    );
  }
  return { getMetrics: metricsHandler(registry) };
}
