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
  <span class={`state state-${kindOf(status)}`}>{statusName(status)}</span>
);

/** The name of a state for people. */
export const statusName = (status: string): string => names.get(status) ?? formatName(status);

const kinds = {
  good: ["success", "won", "paidout"],
  bad: ["declined", "failed", "error", "lost", "needs_response"],
  ended: ["timedout", "cancelled"],
};

const kindOf = (status: string) =>
  Object.entries(kinds).find(([, statuses]) => statuses.includes(status))?.[0] ?? "open";

const names = new Map([
  ["timedout", "Timed out"],
  ["undefined", "No state"],
  ["intransit", "In transit"],
  ["paidout", "Paid out"],
]);
