import { useRef } from "preact/hooks";
import { Button } from "../elements.tsx";
import { Checks, Field, Form, Select } from "../form.tsx";
import { type Place, withParameters } from "../fragment.ts";
import { goTo } from "../history.ts";
import { listOf } from "./client.ts";
import { exactReference, type Filter, filters } from "./filters.ts";

/** The button of the drawer with all filters, and those that are set. Each is removed with one click. */
export function SearchFilters({ place }: { place: Place }) {
  const { parameters } = place;
  const drawer = useRef<HTMLDialogElement>(null);
  const set = filters.filter(({ name }) => parameters.get(name));
  const submit = (fields: FormData) => {
    const given = [...filters.map(({ name }) => name), exactReference].map((name) => [
      name,
      fields.getAll(name).map((value) => String(value).trim()),
    ]);
    drawer.current?.close();
    goTo(withParameters(place, Object.fromEntries(given)));
  };
  return (
    <div class="chips">
      <Button aria-haspopup="dialog" onClick={() => drawer.current?.showModal()}>
        Filters
      </Button>
      {set.map(({ name, title, isList, show = String }) => {
        const given = parameters.get(name) ?? "";
        const text = isList ? listOf(given).map(show).join(", ") : show(given);
        const removed = { [name]: undefined, ...(name === "reference" && { [exactReference]: undefined }) };
        return (
          <a
            key={name}
            class="chip"
            href={withParameters(place, removed)}
            aria-label={`${title}: ${text}, remove`}
          >
            {title}: <bdi>{text}</bdi> <span aria-hidden="true">✕</span>
          </a>
        );
      })}
      <dialog ref={drawer} class="drawer" aria-label="Filters">
        <Form class="filters" onSubmit={submit} key={String(parameters)}>
          <div class="fields">
            {filters.map((filter) => (
              <FilterField key={filter.name} filter={filter} given={parameters.get(filter.name) ?? ""} />
            ))}
            <label class="check">
              <input
                type="checkbox"
                name={exactReference}
                value="true"
                defaultChecked={parameters.get(exactReference) === "true"}
              />
              The reference is the whole reference
            </label>
          </div>
          <p class="buttons">
            <button type="submit">Show transactions</button>
            <Button onClick={() => drawer.current?.close()}>Cancel</Button>
          </p>
        </Form>
      </dialog>
    </div>
  );
}

function FilterField({ filter, given }: { filter: Filter; given: string }) {
  const { name, title, options, isList, placeholder, show = String } = filter;
  if (options === undefined) {
    const maxLength = isList ? 25_600 : 255;
    return <Field label={title} {...{ name, maxLength, placeholder }} defaultValue={given} />;
  }
  const texts = Object.fromEntries(options.map((option) => [option, show(option)]));
  return isList ? (
    <Checks legend={title} name={name} chosen={listOf(given)} options={texts} />
  ) : (
    <Select label={title} name={name} value={given} options={{ "": "Any", ...texts }} />
  );
}
