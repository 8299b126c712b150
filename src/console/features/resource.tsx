import { useState } from "preact/hooks";
import { Confirm } from "../confirm.tsx";
import { Empty, Show, useLoaded } from "../load.tsx";
import { Heading, NothingHere, type ViewProps } from "../page.tsx";
import { RawJson } from "../raw-json.tsx";
import { useSession } from "../session.ts";
import { Table } from "../table.tsx";
import { Time } from "../time.tsx";
import { ChangeRow, changeColumns } from "./change.tsx";
import { type ChangeRecord, clientFor, featureFragment, nameMax, writeScope } from "./features.ts";

/** The newest records of a history that are shown. */
const historyMax = 500;

/** `#/resources/KIND/ID`: the features of a resource, with their expiry times, and its history. */
export function Resource({ place: { path } }: ViewProps) {
  const [, resource, id] = path;
  return resource === undefined || id === undefined ? (
    <NothingHere />
  ) : (
    <ResourcePage resource={resource} id={id} key={JSON.stringify(path)} />
  );
}

interface Props {
  resource: string;
  id: string;
}

/** A change that the reader has to confirm. */
interface Change {
  question: string;
  action: string;
  isDangerous: boolean;
  make: () => Promise<unknown>;
}

function ResourcePage({ resource, id }: Props) {
  const session = useSession();
  const canWrite = session.can(writeScope);
  const [change, setChange] = useState<Change>();
  const current = useLoaded("resource", (signal) =>
    clientFor(session).getResource({ resource, id }, { signal }),
  );
  const history = useLoaded("history", (signal) => readHistory(clientFor(session), { resource, id }, signal));
  const finish = (isMade: boolean) => {
    setChange(undefined);
    if (!isMade) return;
    current.reload();
    history.reload();
  };
  return (
    <>
      <Heading>{`${resource} ${id}`}</Heading>
      <h2>Features</h2>
      <Show of={current} name="features">
        {(found) => (
          <>
            {found.features.length === 0 ? (
              <Empty>This resource has no features.</Empty>
            ) : (
              <Table label="Features" head={columns(canWrite)}>
                {found.features.map(({ feature, expires_at }) => (
                  <tr key={feature}>
                    <th scope="row">
                      <a href={featureFragment(resource, feature)}>{feature}</a>
                    </th>
                    <td>{expires_at ? <Time at={expires_at} /> : "Never"}</td>
                    {canWrite && (
                      <td>
                        <button
                          type="button"
                          class="second"
                          aria-label={`Remove ${feature}`}
                          onClick={() =>
                            setChange({
                              question: `Remove ${feature} from ${resource} ${id}?`,
                              action: "Remove",
                              isDangerous: true,
                              make: () => clientFor(session).removeFeature({ resource, id, feature }),
                            })
                          }
                        >
                          Remove
                        </button>
                      </td>
                    )}
                  </tr>
                ))}
              </Table>
            )}
            <RawJson value={found} />
          </>
        )}
      </Show>
      {canWrite && (
        <AddForm
          onAdd={(feature, expires_at) =>
            setChange({
              question: `Add ${feature} to ${resource} ${id}?`,
              action: "Add",
              isDangerous: false,
              make: () =>
                clientFor(session).addFeature({
                  resource,
                  id,
                  feature,
                  ...(expires_at !== undefined && { expires_at }),
                }),
            })
          }
        />
      )}
      {change && <Confirm {...change} onClose={finish} />}
      <h2>History</h2>
      <Show of={history} name="history">
        {({ records, isWhole }) =>
          records.length === 0 ? (
            <Empty>The change feed has no record of this resource.</Empty>
          ) : (
            <>
              {!isWhole && <p>The newest {historyMax} records are shown.</p>}
              <Table label="History" head={changeColumns(false)}>
                {records.map((record) => (
                  <ChangeRow key={record.cursor} record={record} withResource={false} />
                ))}
              </Table>
            </>
          )
        }
      </Show>
    </>
  );
}

const columns = (canWrite: boolean) => (
  <>
    <th scope="col">Feature</th>
    <th scope="col">Expires</th>
    {canWrite && (
      <th scope="col">
        <span class="unseen">Actions</span>
      </th>
    )}
  </>
);

/** The newest change records of a resource, newest first. */
async function readHistory(client: ReturnType<typeof clientFor>, resource: Props, signal: AbortSignal) {
  let records: ChangeRecord[] = [];
  let isWhole = true;
  for await (const record of client.eachResourceChange({ ...resource, limit: 1000 }, { signal })) {
    records.push(record);
    if (records.length < 2 * historyMax) continue;
    records = records.slice(-historyMax);
    isWhole = false;
  }
  isWhole &&= records.length <= historyMax;
  return { records: records.slice(-historyMax).reverse(), isWhole };
}

function AddForm({ onAdd }: { onAdd: (feature: string, expiresAt: string | undefined) => void }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const expiry = String(form.get("expires_at"));
    onAdd(String(form.get("feature")), expiry === "" ? undefined : new Date(expiry).toISOString());
  };
  return (
    <form class="search" onSubmit={submit}>
      <div class="fields">
        <label>
          Feature to add
          <input name="feature" required maxLength={nameMax} />
        </label>
        <label>
          Expires (never, if empty)
          <input name="expires_at" type="datetime-local" step={1} />
        </label>
        <button type="submit">Add</button>
      </div>
    </form>
  );
}
