import { type Column, Table } from "../elements.tsx";
import { formatCount, formatDuration } from "../format.ts";
import type { IntakeReport } from "./client.ts";

type Destination = IntakeReport["freshness"][number];

/** How long events took from their acceptance until each destination had them. */
export const Freshness = ({ destinations }: { destinations: Destination[] }) => (
  <>
    <h2>Accepted to visible, last minute</h2>
    <Table label="Freshness" columns={columns} rows={destinations} />
  </>
);

const columns: Column<Destination>[] = [
  {
    name: "Destination",
    isHeader: true,
    cell: ({ destination }) => destination.charAt(0).toUpperCase() + destination.slice(1),
  },
  { name: "Half within", class: "number", cell: ({ p50_ms }) => formatDuration(Number(p50_ms)) },
  { name: "99 % within", class: "number", cell: ({ p99_ms }) => formatDuration(Number(p99_ms)) },
  { name: "Events", class: "number", cell: ({ events }) => formatCount(Number(events)) },
];
