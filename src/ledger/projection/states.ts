import type { PayoutState } from "../tables/payout.ts";
import type { TransactionState } from "../tables/transaction.ts";

/**
 * The state each salient event type leaves a transaction in, in the order of a transaction's life. Types that are not
 * here are stored and move no state. Names are matched exactly.
 */
export const stateAfter = {
  PAYMENT_CREATED: "CREATED",
  PAYMENT_STARTED: "STARTED",
  GATEWAY_REQUIRES_3DS_AUTHORISATION: "STARTED",
  AUTHORISATION_SUCCEEDED: "SUBMITTED",
  AUTHORISATION_REJECTED: "FAILED_REJECTED",
  STATUS_CORRECTED_TO_AUTHORISATION_REJECTED_TO_MATCH_GATEWAY_STATUS: "FAILED_REJECTED",
  AUTHORISATION_CANCELLED: "FAILED_REJECTED",
  GATEWAY_ERROR_DURING_AUTHORISATION: "ERROR_GATEWAY",
  GATEWAY_TIMEOUT_DURING_AUTHORISATION: "ERROR_GATEWAY",
  UNEXPECTED_GATEWAY_ERROR_DURING_AUTHORISATION: "ERROR_GATEWAY",
  STATUS_CORRECTED_TO_AUTHORISATION_ERROR_TO_MATCH_GATEWAY_STATUS: "ERROR_GATEWAY",
  USER_APPROVED_FOR_CAPTURE_AWAITING_SERVICE_APPROVAL: "CAPTURABLE",
  USER_APPROVED_FOR_CAPTURE: "SUCCESS",
  SERVICE_APPROVED_FOR_CAPTURE: "SUCCESS",
  QUEUED_FOR_CAPTURE: "SUCCESS",
  CAPTURE_SUBMITTED: "SUCCESS",
  CAPTURE_CONFIRMED: "SUCCESS",
  CAPTURE_CONFIRMED_BY_GATEWAY_NOTIFICATION: "SUCCESS",
  CAPTURE_ERRORED: "ERROR_GATEWAY",
  CAPTURE_ABANDONED_AFTER_TOO_MANY_RETRIES: "ERROR_GATEWAY",
  PAYMENT_EXPIRED: "FAILED_EXPIRED",
  CANCEL_BY_EXPIRATION_SUBMITTED: "FAILED_EXPIRED",
  CANCEL_BY_EXPIRATION_FAILED: "FAILED_EXPIRED",
  CANCELLED_BY_EXPIRATION: "FAILED_EXPIRED",
  CANCEL_BY_USER_SUBMITTED: "FAILED_CANCELLED",
  CANCEL_BY_USER_FAILED: "FAILED_CANCELLED",
  CANCELLED_BY_USER: "FAILED_CANCELLED",
  CANCEL_BY_EXTERNAL_SERVICE_SUBMITTED: "CANCELLED",
  CANCEL_BY_EXTERNAL_SERVICE_FAILED: "CANCELLED",
  CANCELLED_BY_EXTERNAL_SERVICE: "CANCELLED",
  STATUS_CORRECTED_TO_CAPTURED_TO_MATCH_GATEWAY_STATUS: "SUCCESS",
  PAYMENT_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN: "SUCCESS",
  PAYMENT_STATUS_CORRECTED_TO_ERROR_BY_ADMIN: "ERROR",
  REFUND_CREATED_BY_SERVICE: "SUBMITTED",
  REFUND_CREATED_BY_USER: "SUBMITTED",
  REFUND_SUBMITTED: "SUBMITTED",
  REFUND_SUCCEEDED: "SUCCESS",
  REFUND_ERROR: "ERROR",
  REFUND_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN: "SUCCESS",
  REFUND_STATUS_CORRECTED_TO_ERROR_BY_ADMIN: "ERROR",
  DISPUTE_CREATED: "NEEDS_RESPONSE",
  DISPUTE_EVIDENCE_SUBMITTED: "UNDER_REVIEW",
  DISPUTE_LOST: "LOST",
  DISPUTE_WON: "WON",
} as const satisfies Record<string, TransactionState>;

/** The same of payouts. */
export const payoutStateAfter = {
  PAYOUT_CREATED: "IN_TRANSIT",
  PAYOUT_PAID: "PAID_OUT",
  PAYOUT_FAILED: "FAILED",
} as const satisfies Record<string, PayoutState>;

const setBy =
  <State>(states: Record<string, State>) =>
  (eventType: string): State | undefined =>
    Object.hasOwn(states, eventType) ? states[eventType] : undefined;

/** The state this type of event sets, undefined when it sets none. */
export const stateSetBy = setBy<TransactionState>(stateAfter);
export const payoutStateSetBy = setBy<PayoutState>(payoutStateAfter);

const inOrderOfLife = [...Object.keys(stateAfter), ...Object.keys(payoutStateAfter)];
const ranks = new Map(inOrderOfLife.map((eventType, index) => [eventType, index]));

/** How late in a resource's life events of this type come; those that set no state come before all others. */
export const lifeRank = (eventType: string): number => ranks.get(eventType) ?? -1;
