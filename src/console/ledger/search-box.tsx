import { useEffect, useRef, useState } from "preact/hooks";
import { Form } from "../form.tsx";
import type { Parameters, Place } from "../fragment.ts";
import { withParameters } from "../fragment.ts";
import { goTo } from "../history.ts";
import { guessKind, type Kind, kinds } from "./filters.ts";
import { payoutLink, transactionLink } from "./links.ts";

/** One box for everything by which people look for a transaction. What the text is taken for can be changed. */
export function SearchBox({ place }: { place: Place }) {
  const box = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<Kind>();
  const kind = chosen ?? guessKind(text.trim());
  useEffect(() => {
    if (document.activeElement === document.body) box.current?.focus({ preventScroll: true });
  }, []);
  const search = () => {
    const value = text.trim();
    if (value !== "") goTo(placeOf(place, kind, value));
  };
  return (
    <Form class="find" onSubmit={search}>
      <input
        ref={box}
        type="search"
        name="text"
        aria-label="Find transactions"
        placeholder="Reference, email, id, payout, last four digits"
        autoComplete="off"
        maxLength={255}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      {text.trim() !== "" && (
        <select
          class="chip"
          aria-label="Find by"
          value={kind}
          onChange={({ currentTarget }) => setChosen(currentTarget.value as Kind)}
        >
          {Object.entries(kinds).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      )}
      <button type="submit">Search</button>
    </Form>
  );
}

function placeOf(place: Place, kind: Kind, value: string): string {
  if (kind === "id") return transactionLink(value, undefined);
  if (kind === "gateway_payout_id") return payoutLink(value, undefined);
  const others: Parameters = Object.fromEntries(Object.keys(kinds).map((name) => [name, undefined]));
  return withParameters(place, { ...others, [kind]: value });
}
