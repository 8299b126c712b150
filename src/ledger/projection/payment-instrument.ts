import type { PaymentInstrumentRow } from "../tables/payment-instrument.ts";
import { textOf } from "./details.ts";
import type { Projection } from "./history.ts";

/** A longer id is that of no agreement. */
const idLengthMax = 255;

/** How events are folded into payment instruments, which have no state. */
export const paymentInstrumentProjection: Projection<PaymentInstrumentRow, never> = {
  stateSetBy: () => undefined,
  columnsOf: () => ({ type: "payment_instrument" }),
  rowOf(external_id, fold) {
    const { service_id, created_date, event_count, details, folded } = fold.row();
    const agreement = textOf(details, "agreement_external_id");
    const isId = agreement !== undefined && agreement.length > 0 && agreement.length <= idLengthMax;
    return {
      external_id,
      agreement_external_id: isId ? agreement : null,
      service_id,
      created_date,
      event_count,
      details,
      folded,
    };
  },
};
