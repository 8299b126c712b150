import type { components } from "../../../generated/ledger.ts";
import type { LogState } from "../requests/backlog.ts";

const behindMaxMs = 60_000n;

export function viewLogState({
  problem,
  size,
  checkpoint_size,
  behind_ms,
}: Awaited<ReturnType<LogState>>): components["schemas"]["TransparencyLogCheck"] {
  const behind = behind_ms > behindMaxMs ? "The log is more than a minute behind" : undefined;
  const message = problem ?? behind;
  return {
    healthy: message === undefined,
    message: message ?? "Healthy",
    size,
    checkpoint_size,
    behind_ms,
  };
}
