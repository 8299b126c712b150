import type { EventRow } from "../tables/event.ts";
import type { PayoutRow } from "../tables/payout.ts";
import { instantOf, textOf } from "./details.ts";
import { commonColumns, firstOf, type History, historiesOf } from "./history.ts";
import { payoutStateSetBy } from "./states.ts";

/** The payouts these events amount to. The same set of events gives the same rows, in whatever order it comes. */
export const projectPayouts = (events: EventRow[]): PayoutRow[] =>
  [...historiesOf(events)].map(([id, history]) => projectPayout(id, history));

const projectPayout = (id: string, history: History): PayoutRow => ({
  gateway_payout_id: id,
  gateway_account_id: textOf(history.details, "gateway_account_id") ?? null,
  ...commonColumns(history),
  state: firstOf(history.newestFirst, (event) => payoutStateSetBy(event.event_type)) ?? "UNDEFINED",
  paid_out_date: instantOf(history.details, "paid_out_date") ?? null,
  details: history.details,
});
