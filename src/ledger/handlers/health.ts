import type { components, operations } from "../../../generated/ledger.ts";
import type { Database } from "../../database/database.ts";
import type { Handlers } from "../../http/handlers.ts";
import { check } from "../../http/health.ts";
import type { Logger } from "../../process/log.ts";
import { watchOutage } from "../../process/outage.ts";
import { shared } from "../../waiting/shared.ts";
import type { Receiver } from "../intake/receiver.ts";
import type { Queue } from "../queue/queue.ts";
import type { Publications, ReadLogState } from "../requests/backlog.ts";
import { viewLogState } from "../views/log-state.ts";
import { viewPublication } from "../views/publication.ts";

type Check = components["schemas"]["HealthCheck"];
type ReceiverCheck = components["schemas"]["ReceiverCheck"];

/** A message is in flight for some milliseconds; if it takes longer than this, its receiver is stuck. */
const inFlightMaxMs = 30_000;
/** A restart of a database takes less. */
const failingMaxMs = 10_000;

/** The state of the receiver of this process. */
export type ReceiverState = Pick<Receiver, "oldestInFlightMs" | "failingForMs">;

interface CheckedParts {
  ledgerId: string;
  /** The database, and the replica if there is one. */
  databases: Database[];
  queue: Queue;
  /** The receiver of this process, if it has one. */
  receiver: ReceiverState | undefined;
  /** The targets to which this process publishes, if there are any. */
  publications: Publications | undefined;
  /** The state of the transparency log, if this process seals it. */
  logState: ReadLogState | undefined;
  log: Logger;
}

export const healthHandlers = ({ ledgerId, databases, queue, log, ...parts }: CheckedParts) => {
  const { receiver, publications, logState } = parts;
  const outages = { database: watchOutage(log), queue: watchOutage(log) };
  const checkDatabases = shared(() =>
    Promise.all(databases.map((each) => each.check(each.failoverCheckMaxMs))),
  );
  const checkQueue = shared(() => queue.countWaiting());
  return {
    async checkHealth() {
      const [database, connected, published, sealed] = await Promise.all([
        check(outages.database, "The database cannot be reached", checkDatabases()),
        check(outages.queue, "The queue cannot be reached", checkQueue()),
        publications?.().catch(() => undefined),
        logState?.().catch(() => undefined),
      ]);
      const received = receiver && { receiver: checkReceiver(receiver, queue.problem?.()) };
      const checks = { database, queue: connected, ...received };
      const healthy = Object.values(checks).every((one: Check) => one.healthy);
      const body = {
        ...checks,
        ledger_id: ledgerId,
        ...(published && { publishing: published.map(viewPublication) }),
        ...(sealed && { transparency_log: viewLogState(sealed) }),
      };
      return healthy ? { status: 200, body } : { status: 503, body };
    },
  } satisfies Partial<Handlers<operations>>;
};

function checkReceiver(
  { oldestInFlightMs, failingForMs }: ReceiverState,
  queueProblem: string | undefined,
): ReceiverCheck {
  const [oldest, failing] = [oldestInFlightMs(), failingForMs()];
  const problem =
    failing > failingMaxMs
      ? `Nothing could be stored for ${seconds(failing)}`
      : oldest > inFlightMaxMs
        ? `A message has been in flight for ${seconds(oldest)}`
        : queueProblem;
  return {
    healthy: problem === undefined,
    message: problem ?? "Healthy",
    oldest_message_age_ms: oldest,
    failing_for_ms: failing,
  };
}

const seconds = (milliseconds: number) => `${Math.round(milliseconds / 1000)} s`;
