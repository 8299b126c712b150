import type { components } from "../../../generated/ledger.ts";
import { shownTargetName } from "../publishing/target-name.ts";
import type { DeadLetterSummary } from "../tables/dead-letter.ts";
import type { IntakeMinuteRow } from "../tables/intake-minute.ts";
import { viewMilliseconds } from "./date.ts";
import { viewReason } from "./publication.ts";

type Schemas = components["schemas"];

export const viewIntakeMinute = ({
  minute,
  lag_messages,
  lag_ms_sum,
  lag_ms_max,
  ...counts
}: IntakeMinuteRow): Schemas["IntakeMinute"] => ({
  minute: viewMilliseconds(minute),
  ...counts,
  lag_ms_average: lag_messages === 0 ? null : Math.round(lag_ms_sum / lag_messages),
  lag_ms_max: lag_messages === 0 ? null : lag_ms_max,
});

/** No reason of this release is longer. */
const reasonMax = 4000;
/** The reason of an event is that of its target, after these words. */
const rejection = "the target rejects it: ";

type Texts = Pick<DeadLetterSummary, "source_id" | "reason" | "target">;

/** The texts of a dead letter as they are shown, also those that an earlier release has written. */
export function viewDeadLetterTexts({ source_id, reason, target }: Texts): Texts {
  if (target === null) return { source_id, reason: reason.slice(0, reasonMax), target };
  const name = shownTargetName(target);
  const [event = ""] = / \d+$/.exec(source_id) ?? [];
  return {
    source_id: name + event,
    reason: rejection + viewReason(reason.startsWith(rejection) ? reason.slice(rejection.length) : ""),
    target: name,
  };
}

export const viewDeadLetter = (row: DeadLetterSummary): Schemas["DeadLetter"] => ({
  dead_letter_id: row.id,
  created_date: row.created_at,
  ...viewDeadLetterTexts(row),
  size: row.size,
  discarded_date: row.discarded_at,
  note: row.note,
});
