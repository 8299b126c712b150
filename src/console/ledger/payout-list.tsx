import { useState } from "preact/hooks";
import { formatMoney } from "../format.ts";
import { fragmentOf } from "../fragment.ts";
import { Empty, Show, useLoaded } from "../load.tsx";
import { useSession } from "../session.ts";
import { Table } from "../table.tsx";
import { Time } from "../time.tsx";
import { type accountsOf, clientFor, type Payout } from "./ledger.ts";

/** Each payout of a page is a request of its own. */
const pageSize = 20;
const requestsAtATime = 4;

/** Checks the newest payouts, and older ones on request, and lists those that are not the sum of what they settle. */
export function PayoutList({ accounts }: { accounts: ReturnType<typeof accountsOf> }) {
  const session = useSession();
  const [pages, setPages] = useState(1);
  const [known, setKnown] = useState<{ checked: number; wrong: Payout[] }>({ checked: 0, wrong: [] });
  const loaded = useLoaded(`payouts ${pages}`, async (signal) => {
    const client = clientFor(session);
    const { account_id: gateway_account_id } = "account_id" in accounts ? accounts : {};
    const scope = gateway_account_id ? { gateway_account_id } : { override_account_id_restriction: true };
    const { results, total } = await client.searchPayouts(
      { ...scope, page: pages, display_size: pageSize },
      { signal },
    );
    const details: Payout[] = [];
    const waiting = [...results];
    const check = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { gateway_payout_id, gateway_account_id: account } = next;
        const found = { gatewayPayoutId: gateway_payout_id };
        details.push(
          await client.getPayout(
            account === null
              ? { ...found, override_account_id_restriction: true }
              : { ...found, gateway_account_id: account },
            { signal },
          ),
        );
      }
    };
    await Promise.all(Array.from({ length: requestsAtATime }, check));
    const wrong = details
      .filter(({ difference }) => Number(difference) !== 0)
      .sort((one, other) => (one.created_date < other.created_date ? 1 : -1));
    const sum = { checked: known.checked + results.length, wrong: [...known.wrong, ...wrong] };
    setKnown(sum);
    return { ...sum, total };
  });
  return (
    <Show of={loaded} name="payouts">
      {({ checked, wrong, total }) => (
        <>
          {total === 0 ? (
            <Empty>There are no payouts.</Empty>
          ) : wrong.length === 0 ? (
            <Empty>The newest {checked} payouts add up.</Empty>
          ) : (
            <>
              <p>
                {wrong.length} of the newest {checked} payouts {wrong.length === 1 ? "does" : "do"} not add
                up.
              </p>
              <Table label="Payouts that do not add up" head={columns}>
                {wrong.map((payout) => (
                  <Row key={payout.gateway_payout_id} payout={payout} />
                ))}
              </Table>
            </>
          )}
          {checked < total && (
            <button type="button" onClick={() => setPages(pages + 1)}>
              Check older payouts
            </button>
          )}
        </>
      )}
    </Show>
  );
}

const Row = ({ payout }: { payout: Payout }) => (
  <tr>
    <td>
      <Time at={payout.created_date} />
    </td>
    <th scope="row">
      <a
        href={fragmentOf(["transactions"], {
          account_id: payout.gateway_account_id ?? "",
          gateway_payout_id: payout.gateway_payout_id,
        })}
      >
        {payout.gateway_payout_id}
      </a>
    </th>
    <td class="money">{formatMoney(payout.amount)}</td>
    <td class="money">{formatMoney(payout.settled_amount)}</td>
    <td class="money">{formatMoney(payout.difference)}</td>
  </tr>
);

const columns = (
  <>
    <th scope="col">Created</th>
    <th scope="col">Payout</th>
    <th scope="col" class="money">
      Paid out
    </th>
    <th scope="col" class="money">
      Settles
    </th>
    <th scope="col" class="money">
      Difference
    </th>
  </>
);
