import type { components } from "../../../generated/ledger.ts";
import type { TransactionState } from "../tables/transaction.ts";

export type StateView = components["schemas"]["TransactionState"];

/** In version 1 every payment that failed on the payer's side is `failed`, whose code tells why. */
export type StatusVersion = 1 | 2;

const failedInVersion1 = new Set<TransactionState>(["FAILED_REJECTED", "FAILED_EXPIRED", "FAILED_CANCELLED"]);

/** How a state is told to callers. */
export const viewState = (state: TransactionState, version: StatusVersion): StateView =>
  version === 1 && failedInVersion1.has(state) ? { ...views[state], status: "failed" } : views[state];

/** The states that are told as this status; none when the version does not know it. */
export const statesToldAs = (status: StateView["status"], version: StatusVersion): TransactionState[] =>
  allStates.filter((state) => viewState(state, version).status === status);

/** Every status of a version, each once. */
export const statusesOf = (version: StatusVersion): StateView["status"][] => [
  ...new Set(allStates.map((state) => viewState(state, version).status)),
];

const views: Record<TransactionState, StateView> = {
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

const allStates = Object.keys(views) as TransactionState[];

function failed(status: StateView["status"], code: StateView["code"], message: string): StateView {
  return { status, finished: true, code, message };
}
