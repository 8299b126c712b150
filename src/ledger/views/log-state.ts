import type { components } from "../../../generated/ledger.ts";
import type { LogState } from "../tables/transparency.ts";

const behindMaxMs = 60_000n;

/** The state of the transparency log for operators. `problem` is what is wrong with it. */
export function viewLogState({
  size,
  checkpoint_size,
  behind_ms,
  problem,
}: LogState & { problem: string | undefined }): components["schemas"]["TransparencyLogCheck"] {
  const late =
    behind_ms > behindMaxMs ? `Events have waited for ${Math.round(Number(behind_ms) / 1000)} s` : undefined;
  const message = problem ?? late;
  return { healthy: message === undefined, message: message ?? "Healthy", size, checkpoint_size, behind_ms };
}
