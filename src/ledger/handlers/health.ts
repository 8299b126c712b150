import type { components, operations } from "../../../generated/ledger.ts";
import type { Handlers } from "../../http/handlers.ts";
import type { Logger } from "../../process/log.ts";
import { inTime } from "../../process/with-timeout.ts";
import type { Database } from "../database/database.ts";
import type { Queue } from "../queue/queue.ts";

type Check = components["schemas"]["HealthCheck"];
type ReceiverCheck = components["schemas"]["ReceiverCheck"];

/** A check that hangs is as bad as one that fails. */
const checkMaxMs = 2000;
/** A message is in hand for some milliseconds; for longer than this when its receiver is stuck. */
const inHandMaxMs = 30_000;
/** Longer than a database that restarts needs. */
const failingMaxMs = 10_000;

/** How the receiver of this process does. */
export interface ReceiverState {
  /** For how many milliseconds the oldest message in hand has been so; 0 when there is none. */
  oldestInHandMs(): number;
  /** For how many milliseconds messages came and none could be stored; 0 when the last one was. */
  failingForMs(): number;
}

interface Checked {
  /** All that are read from. */
  databases: Database[];
  queue: Queue;
  /** What takes messages from the queue in this process, if anything does. */
  receiver: ReceiverState | undefined;
}

export const healthHandlers = ({
  databases,
  queue,
  receiver,
}: Checked): Pick<Handlers<operations>, "checkHealth"> => {
  const checkDatabases = shared(() => Promise.all(databases.map((each) => each.check())));
  const checkQueue = shared(() => queue.check());
  return {
    async checkHealth({ log }) {
      const [database, connected] = await Promise.all([
        check(log, "The database cannot be reached", checkDatabases()),
        check(log, "The queue cannot be reached", checkQueue()),
      ]);
      const body = { database, queue: connected, ...(receiver && { receiver: checkReceiver(receiver) }) };
      const healthy = Object.values(body).every((one: Check) => one.healthy);
      return healthy ? { status: 200, body } : { status: 503, body };
    },
  };
};

/** However many ask at a time, one look answers them all: anybody may ask. */
function shared<Result>(probe: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () =>
    (running ??= probe().finally(() => {
      running = undefined;
    }));
}

async function check(log: Logger, complaint: string, probe: Promise<unknown>): Promise<Check> {
  try {
    await inTime(probe, checkMaxMs, new Error(`no answer within ${checkMaxMs} ms`));
    return { healthy: true, message: "Healthy" };
  } catch (error) {
    log.warn({ err: error }, complaint);
    return { healthy: false, message: complaint };
  }
}

function checkReceiver({ oldestInHandMs, failingForMs }: ReceiverState): ReceiverCheck {
  const [oldest, failing] = [oldestInHandMs(), failingForMs()];
  const complaint =
    failing > failingMaxMs
      ? `Nothing could be stored for ${seconds(failing)}`
      : oldest > inHandMaxMs && `A message has been in hand for ${seconds(oldest)}`;
  return {
    healthy: complaint === false,
    message: complaint || "Healthy",
    oldest_message_age_ms: oldest,
    failing_for_ms: failing,
  };
}

const seconds = (milliseconds: number) => `${Math.round(milliseconds / 1000)} s`;
