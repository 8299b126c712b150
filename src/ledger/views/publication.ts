import type { components } from "../../../generated/ledger.ts";
import { isKnownReason } from "../publishing/reason.ts";
import { shownTargetName } from "../publishing/target-name.ts";
import type { PublicationState } from "../tables/feed/publication.ts";

const behindMaxMs = 60_000n;

/** A problem as a publisher records it. The resource of an event ends before the first colon with a space. */
const problemForm =
  /^((?:The target takes nothing|Limited by the target: nothing is sent before [\d:T-]{19}Z|The target has not taken event \d+ of (?:(?!: ).){1,300}): )(.+)$/s;

/**
 * Why an attempt has failed. An earlier release has recorded texts of the target, which can quote the event, and can be the
 * publisher still: they are not shown.
 */
export const viewReason = (reason: string): string =>
  isKnownReason(reason) ? reason : "the reason is that of an earlier release, and not shown";

function viewProblem(problem: string): string {
  const [, beginning, reason = ""] = problemForm.exec(problem) ?? [];
  return `${beginning ?? "Events wait: "}${viewReason(reason)}`;
}

/** The state of a target for operators. */
export function viewPublication(state: PublicationState): components["schemas"]["PublishingCheck"] {
  const { target, problem, behind_ms, deferred, waiting } = state;
  const late =
    behind_ms > behindMaxMs ? `Events have waited for ${Math.round(Number(behind_ms) / 1000)} s` : null;
  const message = problem === null ? late : viewProblem(problem);
  return {
    target: shownTargetName(target),
    healthy: message === null,
    message: message ?? "Healthy",
    behind_ms,
    deferred,
    waiting: waiting.map(({ next_attempt_at, reason, ...event }) => ({
      ...event,
      reason: reason === null ? null : viewReason(reason),
      next_attempt_date: next_attempt_at,
    })),
  };
}
