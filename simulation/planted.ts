import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Exit } from "../testing/child-process.ts";
import { openProjectCopy, type ProjectCopy } from "../testing/project.ts";
import { violationExitCode } from "./violation.ts";

/** A known defect that breaks a guarantee. It is planted in a copy of this project. */
export interface Defect {
  name: string;
  file: string;
  /** The text of the file that `defective` replaces. */
  original: string;
  defective: string;
  /** The options of the simulation that must find the defect, with every seed. Default: the ledger on embedded engines. */
  simulation?: string[];
}

export const plantedDefects: Defect[] = [
  {
    name: "messages are acknowledged before they are committed",
    file: "src/ledger/intake/receiver.ts",
    original: "failure = await commit(receiving, batch, receivedAt);",
    // The pause makes it certain that a killed process has acknowledged messages that are not committed. Later, when all are
    // awaited, it would take too long.
    defective: `await receiving.queue.acknowledge(batch);
      if (process.uptime() < 20) await new Promise((resolve) => setTimeout(resolve, 1000));
      failure = await commit(receiving, batch, receivedAt);`,
  },
  {
    name: "no constraint makes events unique",
    file: "src/ledger/tables/migrations/0001-events-and-transactions.sql",
    original: "unique (resource_external_id, resource_type, timestamp, event_type)",
    defective: "check (true)",
  },
  {
    name: "of two events with the same timestamp, the one that arrived first is newer",
    file: "src/ledger/projection/history.ts",
    original: "compare(timestampB, timestampA) ||",
    defective: "compare(timestampB, timestampA) || 1 ||",
  },
  {
    name: "refunds and disputes do not get later details of their payment",
    file: "src/ledger/intake/ingest.ts",
    original: "isRebuild || !showTheSame(",
    defective: "isRebuild && !showTheSame(",
  },
  {
    name: "an event that is older than the row is folded as if it were newer",
    file: "src/ledger/projection/history.ts",
    original: "!current || compareSources(source, current.source) < 0",
    defective: "source.length > 0",
  },
  {
    name: "a page from a cursor starts with the last row of the previous page",
    file: "src/ledger/tables/page.ts",
    original: "(created_date, external_id) < (",
    defective: "(created_date, external_id) <= (",
  },
  {
    name: "an agreement shows its oldest payment instrument",
    file: "src/ledger/tables/payment-instrument.ts",
    original: "order by created_date desc, external_id desc limit 1`;",
    defective: "order by created_date, external_id limit 1`;",
  },
  {
    name: "the feed does not end below the oldest transaction in flight",
    file: "src/ledger/tables/migrations/0023-event-feed.sql",
    original: `pg_snapshot_xmin(pg_current_snapshot())::text::bigint from event_feed_epoch where only_row
  );
end $$;`,
    // Transactions are held back, so that it is certain that some commit in another order than that of their ids.
    defective: `pg_snapshot_xmax(pg_current_snapshot())::text::bigint from event_feed_epoch where only_row
  );
end $$;
create function hold_back() returns trigger language plpgsql as $$
begin
  perform pg_sleep(case when random() < 0.3 then 0.5 else 0 end);
  return null;
end $$;
create trigger hold_back after insert on event_feed for each statement execute function hold_back();`,
    simulation: ["--engine", "postgres"],
  },
  {
    name: "an event that a target rejects is forgotten",
    file: "src/ledger/publishing/dispatch.ts",
    original: "else defer(window, entry, delayMs, reason);",
    defective: "else confirm(window, entry);",
  },
  {
    name: "an outage of a target counts as attempts of its events",
    file: "src/ledger/publishing/dispatch.ts",
    original: 'cause === "event" || entry.isReleased',
    defective: "cause",
  },
  {
    name: "the summaries do not get the changes of a transaction",
    file: "src/ledger/tables/migrations/0037-transaction-changes.sql",
    original: "for each statement execute function record_changes_of_update();",
    defective: `for each statement execute function record_changes_of_update();
alter table transaction disable trigger summarise_update;`,
  },
  {
    name: "a search by state does not follow a change of the state",
    file: "src/ledger/tables/migrations/0018-transaction-outlines.sql",
    original: "for each statement execute function outline_update();",
    defective: `for each statement execute function outline_update();
alter table transaction disable trigger outline_update;`,
  },
  {
    name: "a report in a time zone has transactions on their day in UTC",
    file: "src/ledger/tables/summary/rows.ts",
    original: "where from_instant < to_instant and (",
    defective: "where false and (",
  },
  {
    name: "a report in Kathmandu has transactions on the day on which their hour in UTC begins",
    file: "src/ledger/tables/summary/rows.ts",
    original: "and not is_whole`",
    defective: "and false`",
  },
  {
    name: "a summary forgets since when the ledger has known it",
    file: "src/ledger/tables/known/view.ts",
    original: "and version.merged_end <= ",
    defective: "and 0 <= ",
  },
  {
    name: "the position after an event has the later events of its SQL transaction, too",
    file: "src/ledger/tables/known/position.ts",
    original: "and event_id <= ",
    defective: "and 0 < ",
    // In nearly every run one of its receivers has batches of several events.
    simulation: ["--engine", "postgres"],
  },
  {
    name: "a transaction that has changed since a position is not folded again",
    file: "src/ledger/tables/known/changed.ts",
    original: ") as existing`",
    defective: ") as existing where false`",
  },
  {
    name: "a queue has the default delivery limit of RabbitMQ 4",
    file: "src/ledger/queue/amqp/declaration.ts",
    original: "...(hasDefaultLimit(model) && { [limitArgument]: -1 }),",
    defective: "",
    simulation: ["--queue", "amqp4"],
  },
  {
    name: "a receiver begins with the newest message of a partition, and not at the committed offset",
    file: "src/ledger/queue/kafka/topics.ts",
    original: "next: latestOf(committed, first)",
    defective: "next: end",
    simulation: ["--queue", "kafka"],
  },
  {
    name: "a process of the feature storage answers from an old read transaction",
    file: "src/features/store/ordered/lmdb.ts",
    original: `environment.resetReadTxn();
        return work();`,
    // The library keeps a snapshot for a turn of the event loop. For 50 milliseconds, it is certain that others write.
    defective: `const { setTimeout } = globalThis;
        globalThis.setTimeout = ((reset: () => void) => setTimeout(reset, 50)) as never;
        try {
          return work();
        } finally {
          globalThis.setTimeout = setTimeout;
        }`,
    simulation: ["--store", "lmdb"],
  },
  {
    name: "a past list has the changes after its instant",
    file: "src/features/store/fold-history.ts",
    original: "if (record.at > at) break;",
    defective: "",
    simulation: ["--store", "lmdb"],
  },
  {
    name: "the number of resources of a feature counts those that it was removed from",
    file: "src/features/store/ordered/uses.ts",
    original: "add(entry.resource, entry.feature, -1);",
    defective: "",
    simulation: ["--store", "lmdb"],
  },
  {
    name: "the feature store in PostgreSQL does not make changes one after the other",
    file: "src/features/store/postgres/migrations/0002-instants.sql",
    original: `perform pg_advisory_xact_lock(hashtext('feature_storage.feed'), 0);
  perform log from feature_storage.feed for update;`,
    defective: "",
    simulation: ["--store", "postgres"],
  },
  {
    name: "a change has the clock of the process that sent it, which is a second behind",
    file: "src/features/store/postgres/migrations/0002-instants.sql",
    original: "recorded_at := feature_storage.next_instant();",
    defective: "recorded_at := now_ms - 1000;",
    simulation: ["--store", "postgres"],
  },
  {
    name: "of two servers that accept writes, the one in use stays the primary",
    file: "src/database/postgres/hosts.ts",
    original: "const primary = lastFirst.find(({ state }) => timelineOf(state) === timeline);",
    defective: "const primary = lastFirst.find(({ state }) => timelineOf(state) !== undefined);",
    simulation: ["--store", "two-primaries"],
  },
];

const minutes = "0.15";

/** Simulates a copy with the defect and resolves with the violation. Rejects if the defect is not found. */
export async function findDefect(defect: Defect, seed: number, stop: AbortSignal): Promise<string> {
  await using copy = await openProjectCopy();
  await plant(copy, defect);
  const options = ["--seed", String(seed), "--minutes", minutes, ...(defect.simulation ?? [])];
  return violationIn(await copy.run("simulation/simulate.ts", options, stop));
}

export async function plant(copy: ProjectCopy, { file, original, defective }: Defect): Promise<void> {
  const path = join(copy.folder, file);
  const parts = (await readFile(path, "utf8")).split(original);
  if (parts.length !== 2) throw new Error(`${file} does not have this text exactly once: ${original}`);
  await writeFile(path, parts.join(defective));
}

/** The violation that a simulation printed. Throws if it found none, or if it failed for another reason. */
export function violationIn({ code, output, errors }: Exit): string {
  if (code === 0) throw new Error("NOT FOUND: its simulation found no violation");
  const violation = errors.split("\n").find((line) => line.startsWith("simulate: "));
  if (code !== violationExitCode || violation === undefined) {
    throw new Error(
      `its simulation failed with exit code ${code} and found no violation\n${output}${errors}`,
    );
  }
  return violation;
}
