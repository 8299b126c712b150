import { useState } from "preact/hooks";
import type { LedgerClient } from "../../client/client.ts";
import { Button, type Column, Table, Time } from "../elements.tsx";
import { formatMoney } from "../format.ts";
import { fragmentOf } from "../fragment.ts";
import { Show, useLoaded } from "../load.tsx";
import { type Accounts, type AccountsProps, useAccounts } from "./accounts.tsx";
import { type Payout, useClient } from "./client.ts";

/** Each payout of a page is a request of its own. */
const pageSize = 20;
const requestsAtATime = 4;

/** Checks the newest payouts, and older ones on request, and lists those that are not the sum of what they settle. */
export function WrongPayouts({ account }: AccountsProps) {
  const accounts = useAccounts(account);
  const client = useClient();
  const [page, setPage] = useState(1);
  const [known, setKnown] = useState<{ checked: number; wrong: Payout[] }>({ checked: 0, wrong: [] });
  const loaded = useLoaded(`payouts ${page}`, async (signal) => {
    const { checked, wrong, total } = await checkPayouts(client, accounts, page, signal);
    const sum = { checked: known.checked + checked, wrong: [...known.wrong, ...wrong] };
    setKnown(sum);
    return { ...sum, total };
  });
  return (
    <Show of={loaded} name="payouts">
      {({ checked, wrong, total }) => (
        <>
          {wrong.length > 0 && (
            <p>
              {wrong.length} of the newest {checked} payouts {wrong.length === 1 ? "does" : "do"} not add up.
            </p>
          )}
          <Table
            label="Payouts that do not add up"
            columns={columns}
            rows={wrong}
            empty={total === 0 ? "There are no payouts." : `The newest ${checked} payouts add up.`}
          />
          {checked < total && <Button onClick={() => setPage(page + 1)}>Check older payouts</Button>}
        </>
      )}
    </Show>
  );
}

/** Checks a page of payouts: how many it has, and those that do not add up, newest first. */
async function checkPayouts(client: LedgerClient, accounts: Accounts, page: number, signal: AbortSignal) {
  const { results, total } = await client.searchPayouts(
    { ...payoutsOf("account_id" in accounts ? accounts.account_id : null), page, display_size: pageSize },
    { signal },
  );
  const payouts: Payout[] = [];
  const waiting = [...results];
  const check = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { gateway_payout_id: gatewayPayoutId, gateway_account_id: account } = next;
      payouts.push(await client.getPayout({ gatewayPayoutId, ...payoutsOf(account) }, { signal }));
    }
  };
  await Promise.all(Array.from({ length: requestsAtATime }, check));
  const wrong = payouts
    .filter(({ difference }) => Number(difference) !== 0)
    .sort((one, other) => (one.created_date < other.created_date ? 1 : -1));
  return { checked: results.length, wrong, total };
}

/** The parameters of requests for payouts of these accounts, or of every account. */
const payoutsOf = <Account,>(gateway_account_id: Account | null) =>
  gateway_account_id === null ? { override_account_id_restriction: true } : { gateway_account_id };

const columns: Column<Payout>[] = [
  { name: "Created", cell: ({ created_date }) => <Time at={created_date} /> },
  {
    name: "Payout",
    isHeader: true,
    cell: ({ gateway_account_id, gateway_payout_id }) => (
      <a
        href={fragmentOf(["transactions"], {
          account_id: gateway_account_id ?? undefined,
          gateway_payout_id,
        })}
      >
        {gateway_payout_id}
      </a>
    ),
  },
  { name: "Paid out", class: "number", cell: ({ amount }) => formatMoney(amount) },
  { name: "Settles", class: "number", cell: ({ settled_amount }) => formatMoney(settled_amount) },
  { name: "Difference", class: "number", cell: ({ difference }) => formatMoney(difference) },
];
