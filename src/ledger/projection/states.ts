import { eventTypes } from "../../../generated/ledger.event-types.ts";
import type { AgreementState } from "../tables/agreement.ts";
import type { PayoutState } from "../tables/payout.ts";
import type { TransactionState } from "../tables/transaction.ts";

/** An event type, and the state that it sets, if any. */
interface Row<State> {
  event_type: string;
  state?: State;
}

const { payment, refund, dispute, payout, agreement } = eventTypes;
const ofTransactions: readonly Row<TransactionState>[] = [...payment, ...refund, ...dispute];
const ofPayouts: readonly Row<PayoutState>[] = payout;
const ofAgreements: readonly Row<AgreementState>[] = agreement;

const setBy = <State>(rows: readonly Row<State>[]) => {
  const states = new Map(rows.map(({ event_type, state }) => [event_type, state]));
  return (eventType: string): State | undefined => states.get(eventType);
};

/** The state that an event type sets, or undefined. Names must match exactly. */
export const stateSetBy = setBy(ofTransactions);
export const payoutStateSetBy = setBy(ofPayouts);
export const agreementStateSetBy = setBy(ofAgreements);

/** The event types that set the state of a resource, in the order of a life cycle. */
export const stateEventTypes: readonly string[] = [...ofTransactions, ...ofPayouts, ...ofAgreements]
  .filter(({ state }) => state !== undefined)
  .map(({ event_type }) => event_type);

const ranks = new Map(stateEventTypes.map((eventType, index) => [eventType, index]));

/** The position of an event type in the life cycle; -1 for types that set no state. */
export const lifeCyclePosition = (eventType: string): number => ranks.get(eventType) ?? -1;

const known = new Set<string>(
  Object.values(eventTypes).flatMap((rows) => rows.map(({ event_type }) => event_type)),
);

/** Whether the contract lists an event type, for any resource. */
export const isKnownEventType = (eventType: string): boolean => known.has(eventType);
