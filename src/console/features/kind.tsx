import { Field, Form } from "../form.tsx";
import { goTo } from "../history.ts";
import { Show, useKept } from "../load.tsx";
import { Pagination } from "../pagination.tsx";
import { Heading } from "../view.tsx";
import { nameMax, resourceFragment, useClient } from "./client.ts";
import { isolated, Name, Trail } from "./names.tsx";
import { Uses } from "./uses.tsx";

const pageSize = 100;

/** `#/features/KIND`: all features of a kind by name, and the way to a resource of it. */
export function Kind({ resource, parameters }: { resource: string; parameters: URLSearchParams }) {
  const client = useClient();
  const cursor = parameters.get("cursor") ?? undefined;
  const page = useKept(`kind ${JSON.stringify([resource, cursor])}`, (signal) =>
    client.listFeaturesInUse({ resource, limit: pageSize, cursor }, { signal }),
  );
  return (
    <>
      <Trail />
      <Heading title={resource}>
        <Name>{resource}</Name>
      </Heading>
      <Form
        class="search"
        onSubmit={(fields) => goTo(resourceFragment(resource, String(fields.get("id")).trim()))}
      >
        <div class="fields">
          <Field
            label={`Id of a ${isolated(resource)}`}
            name="id"
            required
            maxLength={nameMax}
            autoComplete="off"
          />
          <button type="submit">Open</button>
        </div>
      </Form>
      <h2>Features in use</h2>
      <Show of={page} name="features">
        {({ features, next_cursor }) => (
          <>
            <Uses resource={resource} uses={features} empty="There is none on this page." />
            <Pagination path={["features", resource]} parameters={parameters} next={next_cursor} />
          </>
        )}
      </Show>
    </>
  );
}
