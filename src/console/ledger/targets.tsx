import { type Column, Table, Time } from "../elements.tsx";
import { formatCount, formatDuration, formatName } from "../format.ts";
import type { IntakeReport } from "./client.ts";

type Target = NonNullable<IntakeReport["publishing"]>[number];
type WaitingEvent = Target["waiting"][number] & { target: string };

/** The targets to which events are published, and the events that wait for another attempt. */
export function Targets({ targets }: { targets: Target[] }) {
  const waiting = targets.flatMap(({ target, waiting }) => waiting.map((event) => ({ target, ...event })));
  return (
    <>
      <h2>Targets of published events</h2>
      <Table label="Targets" columns={targetColumns} rows={targets} />
      {waiting.length > 0 && (
        <Table label="Events that wait for another attempt" columns={waitingColumns} rows={waiting} />
      )}
    </>
  );
}

const targetColumns: Column<Target>[] = [
  { name: "Target", isHeader: true, cell: ({ target }) => target },
  { name: "State", cell: ({ message }) => message },
  { name: "Behind", class: "number", cell: ({ behind_ms }) => formatDuration(Number(behind_ms)) },
  { name: "Waiting events", class: "number", cell: ({ deferred }) => formatCount(deferred) },
];

const waitingColumns: Column<WaitingEvent>[] = [
  { name: "Event", isHeader: true, cell: ({ event_id }) => String(event_id) },
  {
    name: "Resource",
    cell: ({ resource_type, resource_external_id }) => `${formatName(resource_type)} ${resource_external_id}`,
  },
  { name: "Target", cell: ({ target }) => target },
  { name: "Reason", cell: ({ reason }) => reason },
  { name: "Attempts", class: "number", cell: ({ attempts }) => formatCount(attempts) },
  { name: "Next attempt", cell: ({ next_attempt_date }) => <Time at={next_attempt_date} /> },
];
