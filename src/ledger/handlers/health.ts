import type { components, operations } from "../../../generated/ledger.ts";
import type { Handlers } from "../../service/contract.ts";
import type { Logger } from "../../service/log.ts";
import type { Database } from "../database/database.ts";
import type { Queue } from "../queue/queue.ts";

type Check = components["schemas"]["HealthCheck"];

/** A check that hangs is as bad as one that fails. */
const checkMaxMs = 2000;

export const healthHandlers = (
  database: Database,
  queue: Queue,
): Pick<Handlers<operations>, "checkHealth"> => ({
  async checkHealth({ log }) {
    const [reached, connected] = await Promise.all([
      check(log, "The database cannot be reached", () => database.check()),
      check(log, "The queue cannot be reached", () => queue.check()),
    ]);
    const body = { database: reached, queue: connected };
    return reached.healthy && connected.healthy ? { status: 200, body } : { status: 503, body };
  },
});

async function check(log: Logger, complaint: string, probe: () => Promise<unknown>): Promise<Check> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(reject, checkMaxMs, new Error(`no answer within ${checkMaxMs} ms`));
  try {
    await Promise.race([probe(), tooLate]);
    return { healthy: true, message: "Healthy" };
  } catch (error) {
    log.warn({ err: error }, complaint);
    return { healthy: false, message: complaint };
  } finally {
    clearTimeout(timer);
  }
}
