import type { FeaturesClient } from "../../client/client.ts";
import { Empty } from "../elements.tsx";
import { Field, Form } from "../form.tsx";
import { formatCount } from "../format.ts";
import { fragmentOf, type Place } from "../fragment.ts";
import { goTo, replacePlace } from "../history.ts";
import { Show, useKept } from "../load.tsx";
import { Heading } from "../view.tsx";
import {
  type FeatureUse,
  featureFragment,
  readUses,
  resourceFragment,
  useClient,
  usesMax,
} from "./client.ts";
import { LiveChanges } from "./live-changes.tsx";
import { KindLink, ResourceLink } from "./names.tsx";
import { Uses } from "./uses.tsx";

/** Further kinds are not shown, and their features not searched. */
const kindsMax = 50;
/** The number of features of a kind that are shown without a search and with one. */
const shownMax = 5;
const foundMax = 50;
/** The number of kinds of which the text of a search can be an id. */
const kindsOpened = 3;

/** `#/?find=TEXT`: the kinds with their features in use, those that are found, and the last changes. */
export function Start({ parameters }: Place) {
  const client = useClient();
  const inUse = useKept("in use", (signal) => readInUse(client, signal));
  const text = parameters.get("find") ?? "";
  const kinds = inUse.value ?? [];
  const found = find(kinds, text);
  const resources = resourcesNamed(text.trim(), kinds);
  const [first] = [
    ...resources
      .filter(({ isKindNamed }) => isKindNamed)
      .map(({ resource, id }) => resourceFragment(resource, id)),
    ...found.map(({ resource, uses: [use] }) => featureFragment(resource, use?.feature ?? "")),
    ...resources.map(({ resource, id }) => resourceFragment(resource, id)),
  ];
  return (
    <>
      <Heading>Features</Heading>
      <Form class="search" onSubmit={() => first !== undefined && goTo(first)}>
        <div class="fields">
          <Field
            label="Find a feature, or open a kind and an id"
            name="find"
            type="search"
            value={text}
            placeholder={`dark-mode, or ${kinds[0]?.resource ?? "customer"} 42`}
            autoComplete="off"
            onInput={({ currentTarget }) => replacePlace(fragmentOf([], { find: currentTarget.value }))}
          />
        </div>
        <p role="status">
          {text !== "" && inUse.value && `${countOf(found)} found. `}
          {resources.map((one) => (
            <span key={one.resource}>
              Open <ResourceLink {...one} />.{" "}
            </span>
          ))}
        </p>
      </Form>
      <div class="halves">
        <div>
          <Show of={inUse} name="features">
            {() => <InUse kinds={kinds} found={found} max={text === "" ? shownMax : foundMax} />}
          </Show>
        </div>
        <div>
          <h2>Last changes</h2>
          <LiveChanges />
        </div>
      </div>
    </>
  );
}

/** A kind of resource, and its features in use. */
interface Kind {
  resource: string;
  uses: FeatureUse[];
}

async function readInUse(client: FeaturesClient, signal: AbortSignal): Promise<Kind[]> {
  const { kinds } = await client.listKinds({ limit: kindsMax }, { signal });
  const read: Kind[] = [];
  for (const resource of kinds) read.push({ resource, uses: await readUses(client, resource, signal) });
  return read;
}

interface InUseProps {
  kinds: Kind[];
  found: Kind[];
  /** The number of features of a kind that are shown. */
  max: number;
}

function InUse({ kinds, found, max }: InUseProps) {
  if (kinds.length === 0)
    return (
      <Empty>
        Nothing is stored yet. <code>npm run demo</code> fills it with examples.
      </Empty>
    );
  const isPart = kinds.length === kindsMax || kinds.some(({ uses }) => uses.length === usesMax);
  return (
    <>
      {found.map(({ resource, uses }) => (
        <section key={resource}>
          <h2>
            <KindLink resource={resource} />
          </h2>
          <Uses resource={resource} uses={uses.slice(0, max)} />
          {uses.length > max && (
            <p>
              {formatCount(max)} of {formatCount(uses.length)}.{" "}
              <a href={featureFragment(resource)}>All features</a>
            </p>
          )}
        </section>
      ))}
      {isPart && <p>There are more than can be searched here.</p>}
    </>
  );
}

const countOf = (found: Kind[]): string => formatCount(found.reduce((sum, { uses }) => sum + uses.length, 0));

/** The features whose name and kind together contain every word of a text. */
function find(kinds: Kind[], text: string): Kind[] {
  const words = text.toLowerCase().split(/[\s/]+/);
  return kinds
    .map(({ resource, uses }) => ({
      resource,
      uses: uses.filter(({ feature }) => {
        const name = `${resource} ${feature}`.toLowerCase();
        return words.every((word) => name.includes(word));
      }),
    }))
    .filter(({ uses }) => uses.length > 0);
}

/** The resources that a text can mean: a kind and an id, or an id of one of the first kinds. */
function resourcesNamed(text: string, kinds: Kind[]) {
  if (text === "") return [];
  const named = kinds.flatMap(({ resource }) => {
    const id = text.slice(resource.length);
    const isKindNamed = text.toLowerCase().startsWith(resource.toLowerCase()) && /^[\s/]/.test(id);
    return isKindNamed ? { resource, id: id.slice(1).trim(), isKindNamed } : [];
  });
  if (named.length > 0) return named.filter(({ id }) => id !== "");
  const [, newKind, id] = /^(\S+?)[\s/]+(.+)$/.exec(text) ?? [];
  return [
    ...(newKind !== undefined && id !== undefined ? [{ resource: newKind, id, isKindNamed: false }] : []),
    ...kinds.slice(0, kindsOpened).map(({ resource }) => ({ resource, id: text, isKindNamed: false })),
  ];
}
