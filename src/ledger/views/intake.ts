import type { components } from "../../../generated/ledger.ts";
import type { DeadLetterSummary } from "../tables/dead-letter.ts";
import type { IntakeMinuteRow } from "../tables/intake-minute.ts";
import { viewMilliseconds } from "./date.ts";

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

export const viewDeadLetter = (row: DeadLetterSummary): Schemas["DeadLetter"] => ({
  dead_letter_id: row.id,
  created_date: row.created_at,
  source_id: row.source_id,
  reason: row.reason,
  size: row.size,
  discarded_date: row.discarded_at,
  note: row.note,
  target: row.target,
});
