import { Gauge, type Registry } from "prom-client";
import type { operations } from "../../../generated/ledger.ts";
import type { Database, Sql } from "../../database/database.ts";
import type { Handlers } from "../../http/handlers.ts";
import { metricsHandler } from "../../http/metrics.ts";
import { withTimeout } from "../../waiting/with-timeout.ts";
import { shownTargetName } from "../publishing/target-name.ts";
import {
  type Backlog,
  deadLettersMax,
  type Publications,
  type ReadLogState,
  readMaxMs,
} from "../requests/backlog.ts";
import { deferredMax, type PublicationState } from "../tables/feed/publication.ts";
import { countSummaryChanges } from "../tables/summary/upkeep.ts";
import type { ReceiverState } from "./health.ts";

/** Counting stops here, since it must not take long. */
const summaryChangesMax = 100_000;

interface MetricSources {
  sql: Sql;
  /** By the name of their setting. */
  databases: Record<string, Database>;
  backlog: Backlog;
  receiver: ReceiverState | undefined;
  publications: Publications | undefined;
  logState: ReadLogState | undefined;
}

/** Metrics whose values are read when they are requested. */
export function metricsHandlers(
  registry: Registry,
  { sql, databases, backlog, receiver, publications, logState }: MetricSources,
) {
  // Read first, since the queries of other metrics take a connection.
  addConnections(registry, databases);
  /**
   * Adds a value. One that cannot be read is NaN, so that the other metrics are still available. Every process reports the
   * same shared value: take the maximum of all processes, not the sum.
   */
  const add = (scope: "shared" | "process", name: string, help: string, read: () => Promise<number>) =>
    new Gauge({
      registers: [registry],
      name,
      help,
      labelNames: ["scope"],
      async collect() {
        const value = withTimeout(read(), readMaxMs, new Error("timeout")).catch(() => Number.NaN);
        this.set({ scope }, await value);
      },
    });
  add(
    "shared",
    "ledger_queue_messages_waiting",
    "Approximate number of messages in the queue.",
    backlog.messagesWaiting,
  );
  add(
    "shared",
    "ledger_dead_letters",
    `Messages in the dead-letter table, up to ${deadLettersMax}.`,
    backlog.openDeadLetters,
  );
  add(
    "shared",
    "ledger_summary_changes_waiting",
    `Changes of summaries that are not merged, up to ${summaryChangesMax}. Reports read each of them.`,
    () => countSummaryChanges(sql, summaryChangesMax),
  );
  if (receiver) {
    add(
      "process",
      "ledger_oldest_in_flight_message_seconds",
      "Age of the oldest in-flight message.",
      async () => receiver.oldestInFlightMs() / 1000,
    );
  }
  if (publications) addTargets(registry, publications);
  if (logState) {
    const addState = (
      scope: "shared" | "process",
      name: string,
      help: string,
      read: (state: Awaited<ReturnType<ReadLogState>>) => number,
    ) => add(scope, `ledger_transparency_log_${name}`, help, async () => read(await logState()));
    addState("shared", "size", "Entries in the transparency log.", ({ size }) => Number(size));
    addState("shared", "checkpoint_size", "Entries of its newest checkpoint.", ({ checkpoint_size }) =>
      Number(checkpoint_size),
    );
    addState(
      "shared",
      "behind_seconds",
      "Time since the oldest event without an entry in the transparency log was accepted; 0 if there is none.",
      ({ behind_ms }) => Number(behind_ms) / 1000,
    );
    addState("process", "problem", "1 if the log is not the one that was published.", ({ problem }) =>
      problem === undefined ? 0 : 1,
    );
  }
  return { getMetrics: metricsHandler(registry) } satisfies Partial<Handlers<operations>>;
}

const addConnections = (registry: Registry, databases: MetricSources["databases"]) =>
  new Gauge({
    registers: [registry],
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

/** The states of the targets to which this process publishes. */
function addTargets(registry: Registry, publications: Publications): void {
  const add = (name: string, help: string, read: (state: PublicationState) => number) =>
    new Gauge({
      registers: [registry],
      name,
      help,
      labelNames: ["scope", "target"],
      async collect() {
        this.reset();
        const states = await publications().catch(() => []);
        for (const state of states)
          this.set({ scope: "shared", target: shownTargetName(state.target) }, read(state));
      },
    });
  add(
    "ledger_publishing_behind_seconds",
    "Time since every stored event was sent to the target for the last time; 0 if that is now.",
    ({ behind_ms }) => Number(behind_ms) / 1000,
  );
  add(
    "ledger_publishing_deferred_events",
    `Events that the target has rejected and that wait for another attempt, up to ${deferredMax}.`,
    ({ deferred }) => deferred,
  );
  add(
    "ledger_publishing_problem",
    "1 if the target takes nothing or limits what it takes, so that events wait; 0 if it takes them.",
    ({ problem }) => (problem === null ? 0 : 1),
  );
}
