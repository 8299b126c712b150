import type { PayoutRow, PayoutState } from "../tables/payout.ts";
import { instantOf } from "./details.ts";
import type { Projection } from "./history.ts";
import { payoutStateSetBy } from "./states.ts";

/** How events are folded into payouts. */
export const payoutProjection: Projection<PayoutRow, PayoutState> = {
  stateSetBy: payoutStateSetBy,
  columnsOf: ({ state }) => ({ type: "payout", state }),
  rowOf(gateway_payout_id, fold) {
    const row = fold.row();
    return {
      gateway_payout_id,
      ...row,
      state: fold.state(),
      paid_out_date: instantOf(row.details, "paid_out_date") ?? null,
    };
  },
};
