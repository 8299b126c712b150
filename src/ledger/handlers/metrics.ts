import { Gauge, type Registry } from "prom-client";
import type { operations } from "../../../generated/ledger.ts";
import type { Handlers } from "../../http/handlers.ts";
import { metricsHandler } from "../../http/metrics.ts";
import { inTime } from "../../process/with-timeout.ts";
import type { Database, Sql } from "../database/database.ts";
import type { Queue } from "../queue/queue.ts";
import { countParkedMessages } from "../tables/dead-letter.ts";
import type { ReceiverState } from "./health.ts";

/** Whoever asks for numbers does not wait for long. */
const readMaxMs = 2000;

interface Measured {
  sql: Sql;
  /** By the setting that names them. */
  databases: Record<string, Database>;
  queue: Queue;
  receiver: ReceiverState | undefined;
}

/** What can only be looked up when somebody asks. */
export function metricsHandlers(
  registry: Registry,
  { sql, databases, queue, receiver }: Measured,
): Pick<Handlers<operations>, "getMetrics"> {
  const registers = [registry];
  /** Something that is away tells nothing, which must not keep the rest from being told. */
  const gauge = (name: string, help: string, read: () => Promise<number>) =>
    new Gauge({
      registers,
      name,
      help,
      async collect() {
        this.set(await inTime(read(), readMaxMs, new Error("too late")).catch(() => Number.NaN));
      },
    });
  // The first to be read: what the others ask takes a connection.
  new Gauge({
    registers,
    name: "ledger_database_connections",
    help: "Connections to a database: busy, idle, or waited for. Requests have those of the pool that is limited in time.",
    labelNames: ["database", "pool", "state"],
    collect() {
      for (const [setting, database] of Object.entries(databases)) {
        for (const [pool, states] of Object.entries(database.connections())) {
          for (const [state, count] of Object.entries(states))
            this.set({ database: setting, pool, state }, count);
        }
      }
    },
  });
  gauge(
    "ledger_queue_messages_waiting",
    "Messages that wait in the queue, about.",
    async () => (await queue.check()).waiting,
  );
  gauge("ledger_parked_messages", "Messages that are parked.", () => countParkedMessages(sql));
  if (receiver) {
    gauge(
      "ledger_oldest_message_in_hand_seconds",
      "For how long the oldest message in hand has been so.",
      async () => receiver.oldestInHandMs() / 1000,
    );
  }
  return { getMetrics: metricsHandler(registry) };
}
