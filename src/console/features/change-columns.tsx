import { type Column, Time } from "../elements.tsx";
import { formatName } from "../format.ts";
import { type ChangeRecord, featureFragment, resourceFragment } from "./client.ts";

const kinds = { added: "good", removed: "bad", expired: "ended" };

const change: Column<ChangeRecord>[] = [
  { name: "When", cell: ({ at }) => <Time at={at} /> },
  {
    name: "Change",
    cell: ({ type }) => <span class={`state state-${kinds[type]}`}>{formatName(type)}</span>,
  },
  {
    name: "Feature",
    isHeader: true,
    cell: ({ resource, feature }) => <a href={featureFragment(resource, feature)}>{feature}</a>,
  },
];
const expires: Column<ChangeRecord> = {
  name: "Expires",
  cell: ({ expires_at }) => expires_at && <Time at={expires_at} />,
};

/** The columns of changes of one resource. */
export const changeColumns = [...change, expires];

/** The columns of changes of any resource. */
export const changeColumnsWithResource: Column<ChangeRecord>[] = [
  ...change,
  {
    name: "Resource",
    cell: ({ resource, id }) => (
      <a href={resourceFragment(resource, id)}>
        {resource} {id}
      </a>
    ),
  },
  expires,
];
