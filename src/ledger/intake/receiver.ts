import { setTimeout as wait } from "node:timers/promises";
import type { Registry } from "prom-client";
import type { Logger } from "../../process/log.ts";
import { inChunks } from "../../values/chunks.ts";
import { type Database, DatabaseUnavailable, isDataFault } from "../database/database.ts";
import type { Delivery, Queue } from "../queue/queue.ts";
import type { ParkedMessage } from "../tables/dead-letter.ts";
import { type Batch, ingest } from "./ingest.ts";
import { createIntakeMetrics, type IntakeMetrics } from "./intake-metrics.ts";
import { messageBytesMax, readMessage } from "./message.ts";

interface Parts {
  queue: Queue;
  database: Database;
  /** Where the messages are counted. */
  metrics: Registry;
  log: Logger;
  limits: ReceiverLimits;
}

type Opened = Omit<Parts, "metrics"> & { metrics: IntakeMetrics };

export interface ReceiverLimits {
  /** Messages taken into one database transaction at the most. */
  batchSize: number;
  /** Batches in hand at the same time. */
  concurrency: number;
  /** Milliseconds that one look into the queue waits for a message. */
  waitMs: number;
  /** Milliseconds a message pauses after it failed for the first time, doubled with each further one … */
  pauseMs: number;
  /** … up to so many. */
  pauseMaxMs: number;
}

export interface Receiver {
  /** Takes messages from the queue until `stop` aborts; the batches in hand are finished first. */
  run(stop: AbortSignal): Promise<void>;
  /** For how many milliseconds the oldest message in hand has been so; 0 when there is none. */
  oldestInHandMs(): number;
  /** For how many milliseconds messages came and none could be stored; 0 when the last one was, and when none waits. */
  failingForMs(): number;
}

/** Between two tries while nothing can be received or stored. */
const retryDelayMs = 1000;
const retryDelayMaxMs = 2000;

export function createReceiver({ metrics, ...given }: Parts): Receiver {
  const parts: Opened = { ...given, metrics: createIntakeMetrics(metrics) };
  const { queue, database, log, limits } = parts;
  /** When each batch in hand was taken. */
  const inHand = new Set<{ since: number }>();
  /** When the first batch was taken of those that have failed since one succeeded. */
  let failingSince: number | undefined;
  /** Until it ends no other batch is taken. */
  let recovery: Promise<void> | undefined;

  async function receiveOnce(max: number, stop: AbortSignal): Promise<void> {
    const deliveries = await queue.receive(max, limits.waitMs, stop);
    if (deliveries.length === 0) return;
    const batch = { since: performance.now() };
    inHand.add(batch);
    try {
      await settle(parts, deliveries);
      failingSince = undefined;
    } catch (error) {
      failingSince ??= batch.since;
      throw error;
    } finally {
      inHand.delete(batch);
    }
  }

  async function receive(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await recovery;
      try {
        await receiveOnce(limits.batchSize, stop);
      } catch (error) {
        log.error({ err: error }, "receiving failed; one message at a time is tried until one is stored");
        recovery ??= recover(stop);
      }
    }
  }

  /**
   * Ends when a message is stored, or none waits. Until then the others stay in the queue, where any receiver finds them:
   * what is taken and fails comes again only after its retry delay.
   */
  async function recover(stop: AbortSignal): Promise<void> {
    for (let failures = 1; !stop.aborted; failures += 1) {
      try {
        await database.check();
        await receiveOnce(1, stop);
        failingSince = undefined;
        break;
      } catch (error) {
        const delayMs = growing(failures, retryDelayMs, retryDelayMaxMs);
        log.error({ err: error, delayMs }, "receiving failed again; the next try is after a delay");
        await wait(delayMs, undefined, { signal: stop }).catch(() => {});
      }
    }
    recovery = undefined;
  }

  return {
    async run(stop) {
      await Promise.all(Array.from({ length: limits.concurrency }, () => receive(stop)));
    },
    oldestInHandMs() {
      const [oldest] = inHand;
      return oldest ? Math.round(performance.now() - oldest.since) : 0;
    },
    failingForMs: () => (failingSince === undefined ? 0 : Math.round(performance.now() - failingSince)),
  };
}

/**
 * Each delivery ends in one of two ways: its message is committed, as an event or as a dead letter with the reason why it
 * can never be one, and then acknowledged; or it fails, and comes again after a retry delay that grows. Rejects, when the
 * last that was tried failed and all that is left comes again, with the reason.
 */
async function settle(parts: Opened, deliveries: Delivery[]): Promise<void> {
  const left = transactionsOf(deliveries);
  try {
    let failure: Failure | undefined;
    for (let some = left[0]; some; some = left[0]) {
      const before = failure;
      failure = await commit(parts, some);
      // One message that fails may be at fault; two in a row are not, and neither is one when the database is away.
      if (failure && (before || (some.length > 1 && failure.error instanceof DatabaseUnavailable))) {
        throw failure.error;
      }
      left.shift();
      if (failure === undefined) {
        await parts.queue.acknowledge(some);
      } else if (some.length === 1) {
        await putBack(parts, some, failure.error);
      } else {
        failure = undefined;
        left.unshift(...some.map((delivery) => [delivery]));
      }
    }
    if (failure) throw failure.error;
  } catch (error) {
    if (left.length > 0) await putBack(parts, left.flat(), error);
    throw error;
  }
}

/** What messages take while they are stored is several times their size. */
const transactionBytesMax = 2 * 2 ** 20;
/** From this attempt on a message is committed alone, since it may be why others with it failed. */
const suspectAttempt = 3;

/** Which deliveries are committed together. What is too large would hold up others on its way into the database. */
function transactionsOf(deliveries: Delivery[]): Delivery[][] {
  const isAlone = ({ size, attempt }: Delivery) => size > messageBytesMax || attempt >= suspectAttempt;
  const { alone = [], together = [] } = Object.groupBy(deliveries, (delivery) =>
    isAlone(delivery) ? "alone" : "together",
  );
  return [
    ...inChunks(together, ({ size }) => size, transactionBytesMax),
    ...alone.map((delivery) => [delivery]),
  ];
}

interface Failure {
  error: unknown;
}

/** Commits what the messages say; nothing of it when it fails. */
async function commit(parts: Opened, deliveries: Delivery[]): Promise<Failure | undefined> {
  try {
    await store(parts, deliveries, readBatch(deliveries)).catch((error) =>
      storeDeadLetter(parts, deliveries, error),
    );
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** When there is one message, and the database will refuse it every time. */
async function storeDeadLetter(parts: Opened, deliveries: Delivery[], error: unknown): Promise<void> {
  const [delivery, ...others] = deliveries;
  if (!delivery || others.length > 0 || !isDataFault(error)) throw error;
  const { code } = error as { code?: string };
  const parked = park(delivery, `the database refuses to store it (SQLSTATE ${code})`);
  await store(parts, deliveries, { events: [], reprojections: [], parked: [parked] });
}

async function store(parts: Opened, deliveries: Delivery[], batch: Batch): Promise<void> {
  const { database, log, metrics } = parts;
  const stored = await ingest(database, batch);
  metrics.committed(deliveries, batch, stored);
  for (const { source_id, reason } of batch.parked)
    log.warn({ delivery: source_id, reason }, "message parked");
}

function readBatch(deliveries: Delivery[]): Batch {
  const batch: Batch = { events: [], reprojections: [], parked: [] };
  for (const delivery of deliveries) {
    const message = delivery.bytes ? notText : readMessage(delivery.body);
    if (message.kind === "event") batch.events.push(message.event);
    else if (message.kind === "reprojection") batch.reprojections.push(message.externalId);
    else batch.parked.push(park(delivery, message.reason));
  }
  return batch;
}

const notText = { kind: "refused", reason: "the message is not text in UTF-8" } as const;

const park = ({ id, body, bytes }: Delivery, reason: string): ParkedMessage => ({
  source_id: id,
  body: bytes ?? Buffer.from(body),
  reason,
});

async function putBack(
  { queue, log, limits, metrics }: Opened,
  deliveries: Delivery[],
  error: unknown,
): Promise<void> {
  log.error({ err: error, messages: deliveries.length }, "messages could not be stored and are put back");
  const byAttempt = [...Map.groupBy(deliveries, (delivery) => delivery.attempt)];
  const outcomes = await Promise.allSettled(
    byAttempt.map(async ([attempt, tried]) => {
      await queue.putBack(tried, growing(attempt, limits.pauseMs, limits.pauseMaxMs));
      metrics.putBack(tried);
    }),
  );
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed) throw failed.reason;
}

const growing = (failures: number, firstMs: number, maxMs: number) =>
  Math.min(firstMs * 2 ** (failures - 1), maxMs);
