import type { ComponentChildren } from "preact";
import { type Place, withParameters } from "../fragment.ts";
import { Show, useLoaded } from "../load.tsx";
import { Heading } from "../view.tsx";
import { useClient } from "./client.ts";
import { createdBetween } from "./periods.ts";
import { SelectionContext, useAccounts, useSelection } from "./selection.ts";

/** The positions of what was known, by the text and the zone. Each request for a day gets another text of the same position. */
const positions = new Map<string, string>();

/** A view, of what the ledger knew at the day or the position in the address, if there is one. */
export function AsKnown({ place, children }: { place: Place; children: ComponentChildren }) {
  const { knownAt } = useSelection();
  return knownAt === undefined ? (
    children
  ) : (
    <Past place={place} knownAt={knownAt}>
      {children}
    </Past>
  );
}

/**
 * The position is read first, so that the end of a day is in the zone of the reader for every request, and so that a text
 * that is none fails once.
 */
function Past({ place, knownAt, children }: { place: Place; knownAt: string; children: ComponentChildren }) {
  const client = useClient();
  const selection = useSelection();
  const accounts = useAccounts();
  const { zone, known: at } = selection;
  const key = `${knownAt} ${zone}`;
  const position = useLoaded(`${key} ${JSON.stringify(accounts)}`, async (signal) => {
    const known = positions.get(key);
    if (known !== undefined) return known;
    const nothing = createdBetween(new Date(0), new Date(0));
    const report = { ...accounts, ...nothing, known_at: knownAt, time_zone: zone };
    const { position: found = knownAt } = await client.getTransactionReport(report, { signal });
    positions.set(key, found);
    return found;
  });
  return (
    <>
      {position.value === undefined && <Heading>{`As known ${at}`}</Heading>}
      <p class="notice past" role="status">
        {position.error === undefined && `This page shows what the ledger knew ${at}. `}
        <a href={withParameters(place, { known_at: undefined })}>Show what it knows now</a>
      </p>
      <Show of={position} name="position">
        {(found) => (
          <SelectionContext.Provider value={{ ...selection, knownAt: found }}>
            {children}
          </SelectionContext.Provider>
        )}
      </Show>
    </>
  );
}
