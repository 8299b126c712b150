import { formatMoney } from "../format.ts";
import { Show, useLoaded } from "../load.tsx";
import { useClient } from "./client.ts";
import { State } from "./state.tsx";

/** A payout with its state, and whether it is the sum of what it settles. */
export function PayoutCheck({ payout, account }: { payout: string; account: string }) {
  const client = useClient();
  const loaded = useLoaded(`payout ${account} ${payout}`, (signal) =>
    client.getPayout({ gatewayPayoutId: payout, gateway_account_id: account }, { signal }),
  );
  return (
    <>
      {payout}{" "}
      <Show of={loaded} name="payout">
        {({ state, amount, difference }) => (
          <>
            <State status={state.status} /> {formatMoney(amount)},{" "}
            {Number(difference) === 0 ? (
              <span>adds up</span>
            ) : (
              <strong class="bad">does not add up: {formatMoney(difference)} difference</strong>
            )}
          </>
        )}
      </Show>
    </>
  );
}
