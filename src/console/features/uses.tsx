import { type Column, Table } from "../elements.tsx";
import { formatCount } from "../format.ts";
import type { FeatureUse } from "./client.ts";
import { FeatureLink, isolated } from "./names.tsx";

/** The features in use for a kind, each with the number of resources that have it. */
export function Uses({ resource, uses, empty }: { resource: string; uses: FeatureUse[]; empty?: string }) {
  const columns: Column<FeatureUse>[] = [
    {
      name: "Feature",
      isHeader: true,
      cell: ({ feature }) => <FeatureLink resource={resource} feature={feature} />,
    },
    { name: "In use by", class: "number", cell: ({ count }) => formatCount(count) },
  ];
  return (
    <Table
      label={`Features of ${isolated(resource)}`}
      columns={columns}
      rows={uses}
      keyOf={({ feature }) => feature}
      {...(empty !== undefined && { empty })}
    />
  );
}
