import { useEffect, useState } from "preact/hooks";
import { nearest } from "../../values/nearest.ts";
import { Button } from "../elements.tsx";
import { Field, Form } from "../form.tsx";
import { useLoaded } from "../load.tsx";
import { nameMax, readUses, useClient } from "./client.ts";
import { ExpiryField, expiryIn } from "./expiry.tsx";
import { Name } from "./names.tsx";

interface Props {
  resource: string;
  /** The number of changes that were made. After each the form is empty. */
  changes: number;
  onAdd: (feature: string, expiresAt: string | undefined) => void;
}

/** A form for a feature of a resource. It shows what becomes of the name, and offers one in use that is nearly the same. */
export function AddForm({ resource, changes, onAdd }: Props) {
  const client = useClient();
  const [text, setText] = useState("");
  const uses = useLoaded(`${changes}`, (signal) => readUses(client, resource, signal));
  useEffect(() => setText(""), [changes]);
  const name = text.trim();
  const names = uses.value?.map(({ feature }) => feature) ?? [];
  const isNew = name !== "" && uses.value !== undefined && !names.includes(name);
  const near = isNew ? nearName(name, names) : undefined;
  return (
    <Form class="search" onSubmit={(fields) => onAdd(name, expiryIn(fields))}>
      <div class="fields">
        <Field
          label="Feature to add"
          name="feature"
          required
          pattern=".*\S.*"
          maxLength={nameMax}
          autoComplete="off"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <ExpiryField />
        <button type="submit">Add</button>
      </div>
      <p role="status">
        {name !== "" && text !== name && (
          <>
            Without the spaces at its ends: <Name>{name}</Name>.{" "}
          </>
        )}
        {near !== undefined ? (
          <>
            Did you mean{" "}
            <Button onClick={() => setText(near)}>
              <Name>{near}</Name>
            </Button>
            ?
          </>
        ) : (
          isNew && "This name is not in use yet."
        )}
      </p>
    </Form>
  );
}

/** A name in use that a new one may be meant to be. Names with other digits, such as those of versions, are others. */
function nearName(name: string, names: string[]): string | undefined {
  const near = nearest(name, names);
  return near?.replace(/\D/g, "") === name.replace(/\D/g, "") ? near : undefined;
}
