import type { Outage } from "../process/outage.ts";
import { withTimeout } from "../waiting/with-timeout.ts";

/** Limit for a check in milliseconds. */
const checkMaxMs = 2000;

/** The result of this probe of a dependency: unhealthy with the problem as its message if it rejects or takes longer than 2 seconds. */
export async function check(outage: Outage, problem: string, probe: Promise<unknown>) {
  try {
    await withTimeout(probe, checkMaxMs, new Error(`no answer within ${checkMaxMs} ms`));
    outage.succeeded();
    return { healthy: true, message: "Healthy" };
  } catch (err) {
    outage.failed(problem, { err });
    return { healthy: false, message: problem };
  }
}
