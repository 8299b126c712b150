import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FeaturesClient } from "../../client/client.ts";
import { Details, Facts } from "../elements.tsx";
import { detailOf } from "../error-words.ts";
import { Form } from "../form.tsx";
import { formatCount } from "../format.ts";
import { Show, useLoaded } from "../load.tsx";
import { Problem } from "../notice.tsx";
import { useClient } from "./client.ts";
import { ExpiryField, expiryIn } from "./expiry.tsx";
import { type PastedIds, readIds } from "./ids.ts";
import { Name } from "./names.tsx";

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

function AddForm({ resource, feature, onAdded }: Props) {
  const client = useClient();
  const [text, setText] = useState("");
  const pasted = useMemo(() => readIds(text), [text]);
  const isTooLong = pasted.ids.length > idsMax;
  const without = useLoaded(JSON.stringify(pasted.ids), (signal) =>
    isTooLong ? Promise.resolve([]) : idsWithout(client, resource, feature, pasted.ids, signal),
  );
  const wanted = without.isLoading ? [] : (without.value ?? []);
  /** The number of ids that have got the feature, while it is being added. */
  const [done, setDone] = useState<number>();
  const [message, setMessage] = useState("");
  const [problem, setProblem] = useState("");
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);

  async function add(fields: FormData) {
    const entry = { type: "add" as const, resource, feature, expires_at: expiryIn(fields) };
    setProblem("");
    setMessage("");
    setDone(0);
    try {
      for (const ids of partsOf(wanted)) {
        const changes = ids.map((id) => ({ ...entry, id }));
        await client.changeFeatures({ body: { changes } }, { signal: stop.current.signal });
        setDone((before = 0) => before + ids.length);
      }
      setMessage(`Added to ${formatCount(wanted.length)}.`);
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
      {problem && <Problem>Not all were added: {problem} Correct the list, then add the others.</Problem>}
      <p role="status">
        {message}
        {done !== undefined && (
          <>
            <progress max={wanted.length} value={done} aria-label="Added" /> {formatCount(done)} of{" "}
            {formatCount(wanted.length)}
          </>
        )}
      </p>
      <button type="submit" disabled={wanted.length === 0 || done !== undefined}>
        {wanted.length === 0 ? "Add" : `Add to ${formatCount(wanted.length)}`}
      </button>
    </Form>
  );
}

const Preview = ({ ids, repeated, wrong, without }: PastedIds & { without: number }) => (
  <div role="status">
    <Facts
      facts={[
        ["Will get it", formatCount(without)],
        ["Have it already, stay as they are", formatCount(ids.length - without)],
        ["Repeated", repeated > 0 && formatCount(repeated)],
        ["Not valid, left out", wrong.length > 0 && formatCount(wrong.length)],
      ]}
    />
    <ul>
      {wrong.slice(0, wrongShownMax).map(({ line, text, reason }) => (
        <li key={`${line} ${text}`}>
          Line {formatCount(line)}: <Name>{text.slice(0, 80)}</Name>. {reason}
        </li>
      ))}
    </ul>
  </div>
);

/** A list in the parts of its requests. */
const partsOf = (ids: string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / idsPerRequest) }, (_, index) =>
    ids.slice(index * idsPerRequest, (index + 1) * idsPerRequest),
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
  for (const part of partsOf(ids)) {
    const resources = part.map((id) => ({ resource, id }));
    const { results } = await client.hasFeatures({ body: { resources, features: [feature] } }, { signal });
    for (const { id, has } of results) if (!has[0]) found.push(id);
  }
  return found;
}
