import { formatCount } from "../format.ts";
import { fragmentOf } from "../fragment.ts";
import { Empty, Show, useLoaded } from "../load.tsx";
import { Heading, NothingHere, type ViewProps } from "../page.tsx";
import { Pages } from "../pages.tsx";
import { useSession } from "../session.ts";
import { Table } from "../table.tsx";
import { clientFor, resourceFragment } from "./features.ts";

const pageSize = 50;

/** `#/features/KIND/FEATURE`: the resources of a kind that have a feature, and their number. */
export function Feature({ place: { path, parameters }, visit }: ViewProps) {
  const session = useSession();
  const [, resource = "", feature = ""] = path;
  const cursor = parameters.get("cursor") ?? undefined;
  const page = useLoaded(
    `resources ${JSON.stringify(path)} ${cursor}`,
    (signal) =>
      clientFor(session).listResources(
        { resource, feature, count: true, limit: pageSize, ...(cursor !== undefined && { cursor }) },
        { signal },
      ),
    visit,
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
            {ids.length === 0 ? (
              <Empty>There is none on this page.</Empty>
            ) : (
              <Table label="Resources" head={<th scope="col">Id</th>}>
                {ids.map((id) => (
                  <tr key={id}>
                    <th scope="row">
                      <a href={resourceFragment(resource, id)}>{id}</a>
                    </th>
                  </tr>
                ))}
              </Table>
            )}
            <Pages
              fragmentOfPage={(next) => fragmentOf(["features", resource, feature], { cursor: next })}
              current={cursor}
              next={next_cursor}
            />
          </>
        )}
      </Show>
    </>
  );
}
