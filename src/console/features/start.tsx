import type { ComponentChildren } from "preact";
import { Field, Form } from "../form.tsx";
import type { Place } from "../fragment.ts";
import { goTo } from "../history.ts";
import { Heading } from "../view.tsx";
import { featureFragment, nameMax, resourceFragment } from "./client.ts";
import { LiveChanges } from "./live-changes.tsx";

/** `#/`: the ways to a resource and to a feature, and the stream of changes. */
export const Start = ({ parameters }: Place) => (
  <>
    <Heading>Features</Heading>
    <div class="fields">
      <PlaceForm action="Open a resource" name="id" label="Id" fragment={resourceFragment}>
        Its features, their expiry times and its history.
      </PlaceForm>
      <PlaceForm action="Open a feature" name="feature" label="Feature" fragment={featureFragment}>
        The resources that have it, and their number.
      </PlaceForm>
    </div>
    <h2>Changes</h2>
    <LiveChanges isFromOldest={parameters.get("from") === "oldest"} key={parameters.get("from")} />
  </>
);

interface PlaceFormProps {
  /** The text of the button. */
  action: string;
  /** The name and the label of the second field; the first one is the kind of the resource. */
  name: string;
  label: string;
  fragment: (resource: string, second: string) => string;
  children: ComponentChildren;
}

/** A form that leads to a place with two names. Names are not trimmed, since a space can be part of one. */
const PlaceForm = ({ action, name, label, fragment, children }: PlaceFormProps) => (
  <Form
    class="search"
    onSubmit={(fields) => goTo(fragment(String(fields.get("resource")), String(fields.get(name))))}
  >
    <p>{children}</p>
    <div class="fields">
      <Field label="Kind of resource" name="resource" required maxLength={nameMax} placeholder="customer" />
      <Field label={label} name={name} required maxLength={nameMax} />
    </div>
    <button type="submit">{action}</button>
  </Form>
);
