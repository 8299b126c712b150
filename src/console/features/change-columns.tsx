import { type Column, Time } from "../elements.tsx";
import { formatName } from "../format.ts";
import type { ChangeRecord } from "./client.ts";
import { FeatureLink, ResourceLink } from "./names.tsx";

const kinds = { added: "good", removed: "bad", expired: "ended" };

const change: Column<ChangeRecord>[] = [
  { name: "When", cell: ({ at }) => <Time at={at} isShort /> },
  {
    name: "Change",
    cell: ({ type }) => <span class={`state state-${kinds[type]}`}>{formatName(type)}</span>,
  },
  { name: "Feature", isHeader: true, cell: (record) => <FeatureLink {...record} /> },
];

/** The columns of changes of one resource. */
export const changeColumns: Column<ChangeRecord>[] = [
  ...change,
  { name: "Expires", cell: ({ expires_at }) => expires_at && <Time at={expires_at} /> },
];

/** The columns of changes of any resource. */
export const changeColumnsWithResource: Column<ChangeRecord>[] = [
  ...change,
  { name: "Of", cell: (record) => <ResourceLink {...record} /> },
];
