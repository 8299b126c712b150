import type { Details } from "../tables/event.ts";
import type { PaymentInstrumentRow } from "../tables/payment-instrument.ts";
import { textOf } from "./details.ts";
import type { Projection } from "./history.ts";

/** A longer id is that of no agreement. */
const idLengthMax = 255;

/** The agreement that details of a payment instrument name; null if they name none. */
export function agreementNamedBy(details: Details): string | null {
  const id = textOf(details, "agreement_external_id") ?? "";
  return id.length > 0 && id.length <= idLengthMax ? id : null;
}

/** How events are folded into payment instruments, which have no state. */
export const paymentInstrumentProjection: Projection<PaymentInstrumentRow, never> = {
  stateSetBy: () => undefined,
  columnsOf: () => ({ type: "payment_instrument" }),
  rowOf(external_id, fold) {
    const { gateway_account_id: _account, live: _live, ...row } = fold.row();
    return { external_id, agreement_external_id: agreementNamedBy(row.details), ...row };
  },
};
