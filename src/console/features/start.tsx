import type { ComponentChildren } from "preact";
import { goTo } from "../history.ts";
import { Heading, type ViewProps } from "../page.tsx";
import { featureFragment, nameMax, resourceFragment } from "./features.ts";
import { LiveChanges } from "./live-changes.tsx";

/** `#/`: the ways to a resource and to a feature, and the stream of changes. */
export const Start = ({ place: { parameters } }: ViewProps) => (
  <>
    <Heading>Features</Heading>
    <div class="fields">
      <PlaceForm label="Open a resource" second="id" secondLabel="Id" fragment={resourceFragment}>
        Its features, their expiry times and its history.
      </PlaceForm>
      <PlaceForm label="Open a feature" second="feature" secondLabel="Feature" fragment={featureFragment}>
        The resources that have it, and their number.
      </PlaceForm>
    </div>
    <h2>Changes</h2>
    <LiveChanges isFromOldest={parameters.get("from") === "oldest"} key={parameters.get("from")} />
  </>
);

interface PlaceFormProps {
  label: string;
  second: string;
  secondLabel: string;
  fragment: (resource: string, second: string) => string;
  children: ComponentChildren;
}

/** A form that leads to a place with two names. Names are not trimmed, since a space can be part of one. */
function PlaceForm({ label, second, secondLabel, fragment, children }: PlaceFormProps) {
  const open = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    goTo(fragment(String(form.get("resource")), String(form.get(second))));
  };
  return (
    <form class="search" onSubmit={open}>
      <p>{children}</p>
      <div class="fields">
        <label>
          Kind of resource
          <input name="resource" required maxLength={nameMax} placeholder="customer" />
        </label>
        <label>
          {secondLabel}
          <input name={second} required maxLength={nameMax} />
        </label>
      </div>
      <button type="submit">{label}</button>
    </form>
  );
}
