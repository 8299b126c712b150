import type { EventRow } from "../tables/event.ts";
import type { PayoutRow, PayoutState } from "../tables/payout.ts";
import { instantOf } from "./details.ts";
import { type Bases, Fold } from "./history.ts";
import { payoutStateSetBy } from "./states.ts";

/** Folds events into payouts. The same set of events gives the same rows in any order. */
export function projectPayouts(events: EventRow[]): PayoutRow[] {
  const folds = new PayoutFolds();
  folds.add(events);
  return [...folds.rows().values()];
}

/** Folds of payouts, to which events are added in any order and in any pieces. */
export class PayoutFolds {
  readonly #bases: Bases<PayoutRow>;
  readonly #folds = new Map<string, Fold<PayoutState>>();

  /** Begins with the rows whose fold states are known. */
  constructor(bases: Bases<PayoutRow> = new Map()) {
    this.#bases = bases;
  }

  add(events: EventRow[]): void {
    for (const event of events) {
      const id = event.resource_external_id;
      const fold = this.#folds.get(id) ?? new Fold<PayoutState>(this.#bases.get(id), { type: "payout" });
      this.#folds.set(id, fold);
      fold.add(event, payoutStateSetBy);
    }
  }

  /** The rows of the payouts to which events were added. */
  rows(): Map<string, PayoutRow> {
    return new Map(Array.from(this.#folds, ([id, fold]) => [id, payoutRow(id, fold)]));
  }
}

function payoutRow(gateway_payout_id: string, fold: Fold<PayoutState>): PayoutRow {
  const row = fold.row();
  return { gateway_payout_id, ...row, paid_out_date: instantOf(row.details, "paid_out_date") ?? null };
}
