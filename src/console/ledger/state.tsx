import type { LedgerComponents } from "../../client/client.ts";
import { formatName } from "../format.ts";

type Status = LedgerComponents["schemas"]["Status"];

export const paymentStatuses = [
  "created",
  "started",
  "submitted",
  "capturable",
  "success",
  "declined",
  "timedout",
  "cancelled",
  "error",
  "undefined",
] satisfies Status[];
export const refundStatuses = ["submitted", "success", "error"] satisfies Status[];
export const disputeStatuses = ["needs_response", "under_review", "won", "lost"] satisfies Status[];

/** The state of a transaction or a payout, with a colour for how it ended. */
export const State = ({ status }: { status: string }) => (
  <span class={`state state-${kinds[status] ?? "open"}`}>{statusName(status)}</span>
);

/** The name of a state for people. */
export const statusName = (status: string): string => names[status] ?? formatName(status);

const kinds: Record<string, "good" | "bad" | "ended"> = {
  success: "good",
  won: "good",
  paidout: "good",
  declined: "bad",
  failed: "bad",
  error: "bad",
  lost: "bad",
  needs_response: "bad",
  timedout: "ended",
  cancelled: "ended",
};

const names: Record<string, string> = {
  timedout: "Timed out",
  undefined: "No state",
  intransit: "In transit",
  paidout: "Paid out",
};
