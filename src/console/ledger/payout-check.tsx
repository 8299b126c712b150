import { formatMoney } from "../format.ts";
import { Show, useLoaded } from "../load.tsx";
import { useSession } from "../session.ts";
import { clientFor, type Payout } from "./ledger.ts";
import { State } from "./state.tsx";

/** A payout with its state, and whether it is the sum of what it settles. */
export function PayoutCheck({ payout, account }: { payout: string; account: string }) {
  const session = useSession();
  const loaded = useLoaded(`payout ${account} ${payout}`, (signal) =>
    clientFor(session).getPayout({ gatewayPayoutId: payout, gateway_account_id: account }, { signal }),
  );
  return (
    <>
      {payout}{" "}
      <Show of={loaded} name="payout">
        {(found) => (
          <>
            <State status={found.state.status as "paidout"} /> {formatMoney(found.amount)},{" "}
            <Difference of={found} />
          </>
        )}
      </Show>
    </>
  );
}

/** Whether a payout adds up, in words. */
export const Difference = ({ of: { difference } }: { of: Payout }) =>
  Number(difference) === 0 ? (
    <span>adds up</span>
  ) : (
    <strong class="bad">does not add up: {formatMoney(difference)} difference</strong>
  );
