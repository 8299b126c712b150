import { useState } from "preact/hooks";
import type { FeatureComponents, FeaturesClient } from "../../client/client.ts";
import { type Change, Confirm } from "../confirm.tsx";
import { Button, type Column, RawJson, Table, Time } from "../elements.tsx";
import { Field, Form } from "../form.tsx";
import type { Place } from "../fragment.ts";
import { Show, useLoaded } from "../load.tsx";
import { useSession } from "../session.ts";
import { Heading, NothingHere } from "../view.tsx";
import { changeColumns } from "./change-columns.tsx";
import { type ChangeRecord, featureFragment, nameMax, useClient, writeScope } from "./client.ts";

/** The newest records of a history that are shown. */
const historyMax = 500;

/** `#/resources/KIND/ID`: the features of a resource, with their expiry times, and its history. */
export function Resource({ path }: Place) {
  const [, resource, id] = path;
  return resource === undefined || id === undefined ? (
    <NothingHere />
  ) : (
    <FeaturesAndHistory resource={resource} id={id} key={JSON.stringify(path)} />
  );
}

interface ResourceName {
  resource: string;
  id: string;
}

function FeaturesAndHistory({ resource, id }: ResourceName) {
  const client = useClient();
  const columns = featureColumns(resource);
  const canWrite = useSession().can(writeScope);
  const [change, setChange] = useState<Change>();
  const current = useLoaded("resource", (signal) => client.getResource({ resource, id }, { signal }));
  const history = useLoaded("history", (signal) => readHistory(client, { resource, id }, signal));
  const add = (feature: string, expires_at: string | undefined) =>
    setChange({
      question: `Add ${feature} to ${resource} ${id}?`,
      action: "Add",
      make: () => client.addFeature({ resource, id, feature, expires_at }),
    });
  const remove = (feature: string) =>
    setChange({
      question: `Remove ${feature} from ${resource} ${id}?`,
      action: "Remove",
      isDangerous: true,
      make: () => client.removeFeature({ resource, id, feature }),
    });
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
            <Table
              label="Features"
              columns={canWrite ? [...columns, actionColumn(remove)] : columns}
              rows={found.features}
              keyOf={({ feature }) => feature}
              empty="This resource has no features."
            />
            <RawJson value={found} />
          </>
        )}
      </Show>
      {canWrite && <AddForm onAdd={add} />}
      {change && <Confirm change={change} onClose={finish} />}
      <h2>History</h2>
      <Show of={history} name="history">
        {(found) => <History {...found} />}
      </Show>
    </>
  );
}

type Feature = FeatureComponents["schemas"]["FeatureWithExpiry"];

const featureColumns = (resource: string): Column<Feature>[] => [
  {
    name: "Feature",
    isHeader: true,
    cell: ({ feature }) => <a href={featureFragment(resource, feature)}>{feature}</a>,
  },
  { name: "Expires", cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} /> : "Never") },
];

const actionColumn = (onRemove: (feature: string) => void): Column<Feature> => ({
  name: "Actions",
  isUnseen: true,
  cell: ({ feature }) => (
    <Button class="second" aria-label={`Remove ${feature}`} onClick={() => onRemove(feature)}>
      Remove
    </Button>
  ),
});

const History = ({ records, isWhole }: Awaited<ReturnType<typeof readHistory>>) => (
  <>
    {!isWhole && <p>The newest {historyMax} records are shown.</p>}
    <Table
      label="History"
      columns={changeColumns}
      rows={records}
      keyOf={({ cursor }) => cursor}
      empty="The change feed has no record of this resource."
    />
  </>
);

/** The newest change records, newest first. `isWhole` is false if there are older ones. */
async function readHistory(client: FeaturesClient, resource: ResourceName, signal: AbortSignal) {
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
  const submit = (fields: FormData) => {
    const expiry = String(fields.get("expires_at"));
    onAdd(String(fields.get("feature")), expiry === "" ? undefined : new Date(expiry).toISOString());
  };
  return (
    <Form class="search" onSubmit={submit}>
      <div class="fields">
        <Field label="Feature to add" name="feature" required maxLength={nameMax} />
        <Field label="Expires (never, if empty)" name="expires_at" type="datetime-local" step={1} />
        <button type="submit">Add</button>
      </div>
    </Form>
  );
}
