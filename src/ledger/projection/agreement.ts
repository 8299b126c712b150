import type { AgreementRow, AgreementState } from "../tables/agreement.ts";
import { searchedText, textOf } from "./details.ts";
import type { Projection } from "./history.ts";
import { agreementStateSetBy } from "./states.ts";

/** How events are folded into agreements. */
export const agreementProjection: Projection<AgreementRow, AgreementState> = {
  stateSetBy: agreementStateSetBy,
  columnsOf: ({ state }) => ({ type: "agreement", state }),
  rowOf(external_id, fold) {
    const row = fold.row();
    const state = fold.state();
    // Every event sets the type, so the newest one has set it last.
    const [newestTimestamp = null] = fold.sourceOf("type") ?? [];
    const [, stateEventType] = fold.sourceOf("state") ?? [];
    const wasByUser = stateEventType === "AGREEMENT_CANCELLED_BY_USER";
    return {
      external_id,
      ...row,
      state,
      first_event_id: fold.firstEventId(),
      reference: searchedText(row.details, "reference"),
      cancelled_date: state === "CANCELLED" ? newestTimestamp : null,
      cancelled_by_user_email: (wasByUser && textOf(row.details, "user_email")) || null,
    };
  },
};
