import { formatName } from "../format.ts";
import type { Status } from "./ledger.ts";

/** The state of a transaction, with a colour for how it ended. */
export const State = ({ status }: { status: Status | "intransit" | "paidout" | "failed" }) => (
  <span class={`state state-${kindOf[status] ?? "open"}`}>{statusName(status)}</span>
);

/** The name of a state for people. */
export const statusName = (status: string): string => names[status] ?? formatName(status);

const kindOf: Record<string, "good" | "bad" | "ended"> = {
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
