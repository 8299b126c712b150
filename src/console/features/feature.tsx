import { formatCount } from "../format.ts";
import type { Place } from "../fragment.ts";
import { Show, useKept } from "../load.tsx";
import { Pagination } from "../pagination.tsx";
import { useSession } from "../session.ts";
import { Heading, NothingHere } from "../view.tsx";
import { AddToMany } from "./add-to-many.tsx";
import { resourceFragment, useClient, writeScope } from "./client.ts";
import { Kind } from "./kind.tsx";
import { Name, Trail } from "./names.tsx";

const pageSize = 100;

/** `#/features/KIND/FEATURE`: the resources of a kind that have a feature; `#/features/KIND`: the features of a kind. */
export function Feature({ path: [, resource, feature], parameters }: Place) {
  if (resource === undefined) return <NothingHere />;
  if (feature === undefined) return <Kind resource={resource} parameters={parameters} key={resource} />;
  const key = JSON.stringify([resource, feature]);
  return <Having resource={resource} feature={feature} parameters={parameters} key={key} />;
}

interface HavingProps {
  resource: string;
  feature: string;
  parameters: URLSearchParams;
}

function Having({ resource, feature, parameters }: HavingProps) {
  const client = useClient();
  const canWrite = useSession().can(writeScope);
  const cursor = parameters.get("cursor") ?? undefined;
  const page = useKept(`resources ${JSON.stringify([resource, feature, cursor])}`, (signal) =>
    client.listResources({ resource, feature, count: true, limit: pageSize, cursor }, { signal }),
  );
  return (
    <>
      <Trail resource={resource} />
      <Heading title={`${feature} of ${resource}`}>
        <Name>{feature}</Name>
      </Heading>
      <Show of={page} name="feature">
        {({ ids, next_cursor, count = 0 }) => (
          <>
            <p role="status">{count === 0 ? "Nobody has it yet." : `In use by ${formatCount(count)}.`}</p>
            {canWrite && <AddToMany resource={resource} feature={feature} onAdded={page.reload} />}
            <ul class="names" aria-label="In use by">
              {ids.map((id) => (
                <li key={id}>
                  <a href={resourceFragment(resource, id)}>
                    <Name>{id}</Name>
                  </a>
                </li>
              ))}
            </ul>
            <Pagination path={["features", resource, feature]} parameters={parameters} next={next_cursor} />
          </>
        )}
      </Show>
    </>
  );
}
