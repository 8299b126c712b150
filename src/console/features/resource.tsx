import { useState } from "preact/hooks";
import type { FeatureComponents, FeaturesClient } from "../../client/client.ts";
import { type Change, Confirm } from "../confirm.tsx";
import { Button, type Column, Table, Time } from "../elements.tsx";
import type { Place } from "../fragment.ts";
import { Show, useLoaded } from "../load.tsx";
import { useSession } from "../session.ts";
import { Heading, NothingHere } from "../view.tsx";
import { AddForm } from "./add-form.tsx";
import { changeColumns } from "./change-columns.tsx";
import { type ChangeRecord, useClient, writeScope } from "./client.ts";
import { FeatureLink, isolated, Name, Trail } from "./names.tsx";

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
  const [changes, setChanges] = useState(0);
  const current = useLoaded("resource", (signal) => client.getResource({ resource, id }, { signal }));
  const history = useLoaded("history", (signal) => readHistory(client, { resource, id }, signal));
  const add = (feature: string, expires_at: string | undefined) =>
    setChange({
      question: `Add ${isolated(feature)} to ${isolated(resource)} ${isolated(id)}?`,
      action: "Add",
      make: () => client.addFeature({ resource, id, feature, expires_at }),
    });
  const remove = (feature: string) =>
    setChange({
      question: `Remove ${isolated(feature)} from ${isolated(resource)} ${isolated(id)}?`,
      action: "Remove",
      isDangerous: true,
      make: () => client.removeFeature({ resource, id, feature }),
    });
  const finish = (isMade: boolean) => {
    setChange(undefined);
    if (!isMade) return;
    setChanges(changes + 1);
    current.reload();
    history.reload();
  };
  return (
    <>
      <Trail resource={resource} />
      <Heading title={`${resource} ${id}`}>
        <Name>{resource}</Name> <Name>{id}</Name>
      </Heading>
      <h2>Features</h2>
      <Show of={current} name="features">
        {({ features }) => (
          <Table
            label="Features"
            columns={canWrite ? [...columns, actionColumn(remove)] : columns}
            rows={features}
            keyOf={({ feature }) => feature}
            empty={canWrite ? "No features yet. Add the first one below." : "No features yet."}
          />
        )}
      </Show>
      {canWrite && <AddForm resource={resource} onAdd={add} changes={changes} />}
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
    cell: ({ feature }) => <FeatureLink resource={resource} feature={feature} />,
  },
  { name: "Expires", cell: ({ expires_at }) => (expires_at ? <Time at={expires_at} /> : "Never") },
];

const actionColumn = (onRemove: (feature: string) => void): Column<Feature> => ({
  name: "Actions",
  isUnseen: true,
  cell: ({ feature }) => (
    <Button aria-label={`Remove ${feature}`} onClick={() => onRemove(feature)}>
      Remove
    </Button>
  ),
});

const History = ({ records, isWhole }: Awaited<ReturnType<typeof readHistory>>) => (
  <>
    {!isWhole && <p>The last {historyMax} changes are shown.</p>}
    <Table
      label="History"
      columns={changeColumns}
      rows={records}
      keyOf={({ cursor }) => cursor}
      empty="No change is known."
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
