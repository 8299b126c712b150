import type { components } from "../../../generated/ledger.ts";
import type { TransactionState } from "../tables/transaction.ts";

export type StateView = components["schemas"]["TransactionState"];

/** How each state is told to callers. */
export const viewState: Record<TransactionState, StateView> = {
  UNDEFINED: { status: "undefined", finished: false },
  CREATED: { status: "created", finished: false },
  STARTED: { status: "started", finished: false },
  SUBMITTED: { status: "submitted", finished: false },
  CAPTURABLE: { status: "capturable", finished: false },
  SUCCESS: { status: "success", finished: true },
  FAILED_REJECTED: failed("declined", "P0010", "Payment method rejected"),
  FAILED_EXPIRED: failed("timedout", "P0020", "Payment expired"),
  FAILED_CANCELLED: failed("cancelled", "P0030", "Payment was cancelled by the user"),
  CANCELLED: failed("cancelled", "P0040", "Payment was cancelled by the service"),
  ERROR: failed("error", "P0050", "Payment provider returned an error"),
  ERROR_GATEWAY: failed("error", "P0050", "Payment provider returned an error"),
  NEEDS_RESPONSE: { status: "needs_response", finished: false },
  UNDER_REVIEW: { status: "under_review", finished: false },
  LOST: { status: "lost", finished: true },
  WON: { status: "won", finished: true },
};

function failed(status: StateView["status"], code: StateView["code"], message: string): StateView {
  return { status, finished: true, code, message };
}
