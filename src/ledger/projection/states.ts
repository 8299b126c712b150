import { stateMachine } from "../../../generated/ledger.state-machine.ts";
import type { PayoutState } from "../tables/payout.ts";
import type { TransactionState } from "../tables/transaction.ts";

const setBy = <State>(rows: readonly { event_type: string; state: State }[]) => {
  const states = new Map(rows.map(({ event_type, state }) => [event_type, state]));
  return (eventType: string): State | undefined => states.get(eventType);
};

/** The state that an event type sets, or undefined. Names must match exactly. */
export const stateSetBy = setBy<TransactionState>(stateMachine.transaction_events);
export const payoutStateSetBy = setBy<PayoutState>(stateMachine.payout_events);

/** The event types that set a state, in the order of a life cycle. */
export const stateEventTypes: readonly string[] = [
  ...stateMachine.transaction_events,
  ...stateMachine.payout_events,
].map(({ event_type }) => event_type);

const ranks = new Map(stateEventTypes.map((eventType, index) => [eventType, index]));

/** The position of an event type in the life cycle; -1 for types that set no state. */
export const lifeCyclePosition = (eventType: string): number => ranks.get(eventType) ?? -1;
