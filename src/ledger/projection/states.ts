import { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { PayoutState } from "../tables/payout.ts";
import type { TransactionState } from "../tables/transaction.ts";

const setBy = <State>(rows: readonly { event_type: string; state: State }[]) => {
  const states = new Map(rows.map(({ event_type, state }) => [event_type, state]));
  return (eventType: string): State | undefined => states.get(eventType);
};

/** The state this type of event sets, undefined when it sets none. Names are matched exactly. */
export const stateSetBy = setBy<TransactionState>(stateMachine.transaction_events);
export const payoutStateSetBy = setBy<PayoutState>(stateMachine.payout_events);

/** Types of events that set a state, in the order of a resource's life. */
export const salientEventTypes: readonly string[] = [
  ...stateMachine.transaction_events,
  ...stateMachine.payout_events,
].map(({ event_type }) => event_type);

const ranks = new Map(salientEventTypes.map((eventType, index) => [eventType, index]));

/** How late in a resource's life events of this type come; those that set no state come before all others. */
export const lifeRank = (eventType: string): number => ranks.get(eventType) ?? -1;
