import { Table } from "../elements.tsx";
import { formatCount } from "../format.ts";
import type { Place } from "../fragment.ts";
import { Show, useKept } from "../load.tsx";
import { Pagination } from "../pagination.tsx";
import { Heading, NothingHere } from "../view.tsx";
import { resourceFragment, useClient } from "./client.ts";

const pageSize = 50;

/** `#/features/KIND/FEATURE`: the resources of a kind that have a feature, and their number. */
export function Feature({ path, parameters }: Place) {
  const client = useClient();
  const [, resource = "", feature = ""] = path;
  const cursor = parameters.get("cursor") ?? undefined;
  const page = useKept(`resources ${JSON.stringify(path)} ${cursor}`, (signal) =>
    client.listResources({ resource, feature, count: true, limit: pageSize, cursor }, { signal }),
  );
  if (resource === "" || feature === "") return <NothingHere />;
  return (
    <>
      <Heading>{`${feature} of ${resource}`}</Heading>
      <Show of={page} name="resources">
        {({ ids, next_cursor, count = 0 }) => (
          <>
            <p role="status">
              {formatCount(count)} {count === 1 ? "resource has" : "resources have"} this feature.
            </p>
            <Table
              label="Resources"
              columns={[
                {
                  name: "Id",
                  isHeader: true,
                  cell: (id) => <a href={resourceFragment(resource, id)}>{id}</a>,
                },
              ]}
              rows={ids}
              keyOf={(id) => id}
              empty="There is none on this page."
            />
            <Pagination path={["features", resource, feature]} parameters={parameters} next={next_cursor} />
          </>
        )}
      </Show>
    </>
  );
}
