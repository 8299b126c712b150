import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type FeaturesClient, ResponseError } from "../../client/client.ts";
import { Details, Facts, Table } from "../elements.tsx";
import { Form } from "../form.tsx";
import { formatCount } from "../format.ts";
import { Show, useLoaded } from "../load.tsx";
import { detailOf, Problem } from "../notice.tsx";
import { useClient } from "./client.ts";
import { ExpiryField, expiryIn } from "./expiry.tsx";
import { type PastedIds, readIds } from "./ids.ts";
import { Name, ResourceLink } from "./names.tsx";

/** Longer lists are added in several parts. */
const idsMax = 10_000;
/** The number of ids in a request, which need not wait for those of others. */
const idsPerRequest = 100;
const typingPauseMs = 300;
const wrongShownMax = 20;

interface Props {
  resource: string;
  feature: string;
  onAdded: () => void;
}

/** Adds a feature to the ids of a pasted list, after a preview. */
export const AddToMany = (props: Props) => (
  <Details summary="Add to many">{() => <AddForm {...props} />}</Details>
);

/** An id that did not get the feature, and why. */
interface Rejected {
  id: string;
  reason: string;
}

function AddForm({ resource, feature, onAdded }: Props) {
  const client = useClient();
  const [text, setText] = useState("");
  const pasted = useMemo(() => readIds(text), [text]);
  const isTooLong = pasted.ids.length > idsMax;
  const without = useLoaded(JSON.stringify(pasted.ids), (signal) =>
    isTooLong ? Promise.resolve([]) : idsWithout(client, resource, feature, pasted.ids, signal),
  );
  const [done, setDone] = useState<number>();
  const [result, setResult] = useState<{ added: number; rejected: Rejected[] }>();
  const [problem, setProblem] = useState("");
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const wanted = without.isLoading ? [] : (without.value ?? []);

  async function add(fields: FormData) {
    const rejected: Rejected[] = [];
    const entry = { resource, feature, expires_at: expiryIn(fields) };
    setProblem("");
    setResult(undefined);
    setDone(0);
    try {
      for (let begin = 0; begin < wanted.length; begin += idsPerRequest) {
        const some = wanted.slice(begin, begin + idsPerRequest);
        rejected.push(...(await addToAll(client, some, entry, stop.current.signal)));
        setDone(begin + some.length);
      }
      setResult({ added: wanted.length - rejected.length, rejected });
      setText("");
      onAdded();
    } catch (error) {
      setProblem(detailOf(error));
      without.reload();
    }
    setDone(undefined);
  }

  return (
    <Form class="search" onSubmit={add}>
      <div class="fields">
        <label>
          Ids, one a line
          <textarea
            name="ids"
            rows={6}
            value={text}
            disabled={done !== undefined}
            spellcheck={false}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <ExpiryField />
      </div>
      {isTooLong && (
        <Problem>
          These are {formatCount(pasted.ids.length)} ids. Add at most {formatCount(idsMax)} at a time.
        </Problem>
      )}
      {text.trim() !== "" && !isTooLong && (
        <Show of={without} name="preview">
          {(found) => <Preview {...pasted} without={found.length} />}
        </Show>
      )}
      {problem && <Problem>Not all were added: {problem}. Try again to add the others.</Problem>}
      {done !== undefined && (
        <p role="status">
          <progress max={wanted.length} value={done} aria-label="Added" /> {formatCount(done)} of{" "}
          {formatCount(wanted.length)}
        </p>
      )}
      {result && <Result {...result} resource={resource} />}
      <button type="submit" disabled={wanted.length === 0 || done !== undefined}>
        {wanted.length === 0 ? "Add" : `Add to ${formatCount(wanted.length)}`}
      </button>
    </Form>
  );
}

const Preview = ({ ids, repeated, wrong, without }: PastedIds & { without: number }) => (
  <>
    <div role="status">
      <Facts
        facts={[
          ["Will get it", formatCount(without)],
          ["Have it already, stay as they are", formatCount(ids.length - without)],
          ["Repeated", repeated > 0 && formatCount(repeated)],
          ["Not valid, left out", wrong.length > 0 && formatCount(wrong.length)],
        ]}
      />
    </div>
    {wrong.length > 0 && (
      <Table
        label="Not valid"
        columns={[
          { name: "Line", cell: ({ line }) => formatCount(line) },
          { name: "Text", cell: ({ text }) => <Name>{text.slice(0, 80)}</Name> },
          { name: "Why", cell: ({ reason }) => reason },
        ]}
        rows={wrong.slice(0, wrongShownMax)}
      />
    )}
  </>
);

const Result = ({ resource, added, rejected }: { resource: string; added: number; rejected: Rejected[] }) => (
  <>
    <p role="status">Added to {formatCount(added)}.</p>
    {rejected.length > 0 && (
      <Table
        label="Not added"
        columns={[
          { name: "Not added to", cell: ({ id }) => <ResourceLink resource={resource} id={id} /> },
          { name: "Why", cell: ({ reason }) => reason },
        ]}
        rows={rejected}
      />
    )}
  </>
);

/** The ids that do not have a feature. Begins when the reader has stopped typing. */
async function idsWithout(
  client: FeaturesClient,
  resource: string,
  feature: string,
  ids: string[],
  signal: AbortSignal,
): Promise<string[]> {
  if (ids.length > 0) await new Promise((resolve) => setTimeout(resolve, typingPauseMs));
  const found: string[] = [];
  for (let begin = 0; begin < ids.length && !signal.aborted; begin += idsPerRequest) {
    const resources = ids.slice(begin, begin + idsPerRequest).map((id) => ({ resource, id }));
    const { results } = await client.hasFeatures({ body: { resources, features: [feature] } }, { signal });
    for (const { id, has } of results) if (!has[0]) found.push(id);
  }
  return found;
}

/** Adds a feature to each of some ids. Returns those that cannot get it. */
async function addToAll(
  client: FeaturesClient,
  ids: string[],
  entry: { resource: string; feature: string; expires_at: string | undefined },
  signal: AbortSignal,
): Promise<Rejected[]> {
  const [id = ""] = ids;
  try {
    const changes = ids.map((id) => ({ type: "add" as const, ...entry, id }));
    if (ids.length > 1) await client.changeFeatures({ body: { changes } }, { signal });
    else await client.addFeature({ ...entry, id }, { signal });
    return [];
  } catch (error) {
    if (!(error instanceof ResponseError && error.status === 400)) throw error;
    if (ids.length === 1) return [{ id, reason: detailOf(error) }];
    // One of them cannot get it. Each half is tried alone.
    const half = Math.ceil(ids.length / 2);
    const first = await addToAll(client, ids.slice(0, half), entry, signal);
    return [...first, ...(await addToAll(client, ids.slice(half), entry, signal))];
  }
}
