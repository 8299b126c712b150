import type { components } from "../../../generated/ledger.ts";
import type { PublicationState } from "../tables/publication.ts";

const behindMaxMs = 60_000n;

/** The state of a target for operators. */
export function viewPublication({
  target,
  problem,
  behind_ms,
  deferred,
  waiting,
}: PublicationState): components["schemas"]["PublishingCheck"] {
  const late =
    behind_ms > behindMaxMs ? `Events have waited for ${Math.round(Number(behind_ms) / 1000)} s` : null;
  const message = problem ?? late;
  return {
    target,
    healthy: message === null,
    message: message ?? "Healthy",
    behind_ms,
    deferred,
    waiting: waiting.map(({ next_attempt_at, ...event }) => ({
      ...event,
      next_attempt_date: next_attempt_at,
    })),
  };
}
