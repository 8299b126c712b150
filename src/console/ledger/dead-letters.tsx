import type { LedgerComponents } from "../../client/client.ts";
import { type Column, Table, Time } from "../elements.tsx";
import { fragmentOf, type Place } from "../fragment.ts";
import { Show, useKept } from "../load.tsx";
import { Pagination } from "../pagination.tsx";
import { cursorIn, useClient } from "./client.ts";

const pageSize = 50;

/** The dead letters of a state, open or discarded. */
export function DeadLetters({ parameters }: Place) {
  const client = useClient();
  const state = parameters.get("state") === "discarded" ? "discarded" : "open";
  const cursor = parameters.get("cursor") ?? undefined;
  const letters = useKept(`dead letters ${state} ${cursor}`, (signal) =>
    client.listDeadLetters({ state, display_size: pageSize, cursor }, { signal }),
  );
  return (
    <>
      <h2>Dead letters</h2>
      <p>
        Messages that can never be stored, and events that a target has rejected.{" "}
        {state === "open" ? (
          <a href="#/intake?state=discarded">Show discarded ones</a>
        ) : (
          <a href="#/intake">Show open ones</a>
        )}
      </p>
      <Show of={letters} name="dead letters">
        {({ dead_letters, _links }) => (
          <>
            <Table
              label="Dead letters"
              columns={columns}
              rows={dead_letters}
              keyOf={({ dead_letter_id }) => String(dead_letter_id)}
              empty={`There are no ${state} dead letters.`}
            />
            {dead_letters.length > 0 && (
              <Pagination path={["intake"]} parameters={parameters} next={cursorIn(_links)} />
            )}
          </>
        )}
      </Show>
    </>
  );
}

const columns: Column<LedgerComponents["schemas"]["DeadLetter"]>[] = [
  { name: "Created", cell: ({ created_date }) => <Time at={created_date} /> },
  {
    name: "Number",
    isHeader: true,
    cell: ({ dead_letter_id: id }) => <a href={fragmentOf(["intake", String(id)])}>{String(id)}</a>,
  },
  {
    name: "Reason",
    cell: ({ reason, note }) => (
      <>
        {reason}
        {note !== null && <span class="person"> Discarded: {note}</span>}
      </>
    ),
  },
];
