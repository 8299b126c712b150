import { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { components, operations } from "../../../generated/ledger.ts";
import { ceilInstant, readInstant } from "../../values/instant.ts";
import { penceOf } from "../projection/details.ts";
import type { FoundPayout, PayoutState, SettledTransactions } from "../tables/payout.ts";
import { viewMilliseconds } from "./date.ts";

type Schemas = components["schemas"];

const states: readonly ({ state: PayoutState } & Schemas["PayoutState"])[] = stateMachine.payout_states;
const views = new Map(states.map(({ state, ...view }) => [state, view]));

/** The state that is shown as this status. */
export const payoutStateShownAs = (status: Schemas["PayoutStatus"]): PayoutState =>
  states.find((view) => view.status === status)?.state as PayoutState;

export function viewPayout(payout: FoundPayout): Schemas["Payout"] {
  const { details, created_date, paid_out_date, state, ...row } = payout;
  return {
    ...row,
    amount: penceOf(details, "amount") ?? 0,
    state: views.get(state) as Schemas["PayoutState"],
    created_date: viewMilliseconds(created_date),
    paid_out_date: paid_out_date && viewMilliseconds(paid_out_date),
  };
}

/** The filters of a search, in the order in which alphagov/pay-ledger writes them in links. */
export const viewPayoutFilters = ({
  gateway_account_id,
  state,
  override_account_id_restriction: override,
  from_date,
  to_date,
  live,
  extended,
}: operations["searchPayouts"]["parameters"]["query"]): [string, unknown][] => [
  ["gateway_account_id", gateway_account_id?.join()],
  ["state", state],
  ["override_account_id_restriction", override || undefined],
  ["from_date", from_date && readInstant(from_date)],
  ["to_date", to_date && ceilInstant(to_date)],
  ["live", live],
  ["extended", extended || undefined],
];

/** A payout, what it settles of each type, and what is missing to its amount. */
export function viewPayoutDetail(row: FoundPayout, settled: SettledTransactions[]): Schemas["PayoutDetail"] {
  const payout = viewPayout(row);
  const byType = (["PAYMENT", "REFUND", "DISPUTE"] as const).map((transaction_type) => {
    const none = { transaction_type, count: 0n, amount: 0n, fee: 0n, settled_amount: 0n };
    const own = settled.find((one) => one.transaction_type === transaction_type) ?? none;
    return { ...own, count: Number(own.count) };
  });
  const settled_amount = byType.reduce((total, one) => total + one.settled_amount, 0n);
  return { ...payout, settled: byType, settled_amount, difference: BigInt(payout.amount) - settled_amount };
}
