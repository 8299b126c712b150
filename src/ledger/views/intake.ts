import type { components } from "../../../generated/ledger.ts";
import { shownTargetName } from "../publishing/target-name.ts";
import type { DeadLetterSummary } from "../tables/dead-letter.ts";
import type { FreshnessRow } from "../tables/freshness-minute.ts";
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

/** More destinations are not shown: there are three, and the targets. */
const destinationsMax = 103;

/** The times of the events that have arrived at each destination, of which the rows are in order. */
export const viewFreshness = (rows: FreshnessRow[]): Schemas["Freshness"][] =>
  [...Map.groupBy(rows, ({ destination }) => destination)]
    .slice(0, destinationsMax)
    .map(([destination, times]) => {
      const events = times.reduce((sum, time) => sum + time.events, 0);
      return { destination, p50_ms: percentile(times, 0.5), p99_ms: percentile(times, 0.99), events };
    });

/** The shortest time within which this share of the events has arrived. */
function percentile(times: FreshnessRow[], share: number): number {
  let awaited = share * times.reduce((sum, { events }) => sum + events, 0);
  for (const { visible_ms, events } of times) {
    awaited -= events;
    if (awaited <= 0) return visible_ms;
  }
  return 0;
}

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
