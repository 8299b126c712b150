import type { EventRow } from "../tables/event.ts";
import type { PayoutRow } from "../tables/payout.ts";
import { instantOf } from "./details.ts";
import { type Base, type Bases, foldCommon } from "./history.ts";
import { payoutStateSetBy } from "./states.ts";

/** Folds events into payouts. The same set of events gives the same rows in any order. */
export const projectPayouts = (events: EventRow[]): PayoutRow[] => [
  ...foldPayouts(events, new Map()).values(),
];

/** Folds events into rows; see `foldCommon`. */
export function foldPayouts(events: EventRow[], bases: Bases<PayoutRow>): Map<string, PayoutRow> {
  const byPayout = Map.groupBy(events, (event) => event.resource_external_id);
  return new Map([...byPayout].map(([id, own]) => [id, foldPayout(id, own, bases.get(id))]));
}

function foldPayout(id: string, events: EventRow[], base?: Base<PayoutRow>): PayoutRow {
  const { newestFirst: _, ...common } = foldCommon(events, payoutStateSetBy, base);
  return {
    gateway_payout_id: id,
    ...common,
    paid_out_date: instantOf(common.details, "paid_out_date") ?? null,
  };
}
