import { Time } from "../time.tsx";
import { type ChangeRecord, featureFragment, resourceFragment } from "./features.ts";

const verbs = { added: "Added", removed: "Removed", expired: "Expired" };
const kinds = { added: "good", removed: "bad", expired: "ended" };

/** A change record as a row. `withResource` adds the resource. */
export const ChangeRow = ({ record, withResource }: { record: ChangeRecord; withResource: boolean }) => (
  <tr>
    <td>
      <Time at={record.at} />
    </td>
    <td>
      <span class={`state state-${kinds[record.type]}`}>{verbs[record.type]}</span>
    </td>
    <th scope="row">
      <a href={featureFragment(record.resource, record.feature)}>{record.feature}</a>
    </th>
    {withResource && (
      <td>
        <a href={resourceFragment(record.resource, record.id)}>
          {record.resource} {record.id}
        </a>
      </td>
    )}
    <td>{record.expires_at && <Time at={record.expires_at} />}</td>
  </tr>
);

export const changeColumns = (withResource: boolean) => (
  <>
    <th scope="col">When</th>
    <th scope="col">Change</th>
    <th scope="col">Feature</th>
    {withResource && <th scope="col">Resource</th>}
    <th scope="col">Expires</th>
  </>
);
