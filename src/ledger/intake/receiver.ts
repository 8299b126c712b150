import { setTimeout as wait } from "node:timers/promises";
import type { Registry } from "prom-client";
import type { Logger } from "../../service/log.ts";
import { type Database, DatabaseUnavailable, isDataFault } from "../database/database.ts";
import type { Delivery, Queue } from "../queue/queue.ts";
import type { ParkedMessage } from "../tables/parked-message.ts";
import { type Batch, ingest } from "./ingest.ts";
import { createIntakeMetrics, type IntakeMetrics } from "./intake-metrics.ts";
import { isTooLarge, readMessage } from "./message.ts";

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
}

/** Between two tries to reach a database or a queue that is away. */
const retryPauseMs = 1000;
const retryPauseMaxMs = 5000;

export function createReceiver({ metrics, ...given }: Parts): Receiver {
  const parts: Opened = { ...given, metrics: createIntakeMetrics(metrics) };
  const { queue, database, log, limits } = parts;
  /** When each batch in hand was taken. */
  const inHand = new Set<{ since: number }>();

  async function receiveOnce(stop: AbortSignal): Promise<void> {
    const deliveries = await queue.receive(limits.batchSize, limits.waitMs, stop);
    if (deliveries.length === 0) return;
    const batch = { since: performance.now() };
    inHand.add(batch);
    try {
      await settle(parts, deliveries);
    } finally {
      inHand.delete(batch);
    }
  }

  async function receive(stop: AbortSignal): Promise<void> {
    let failures = 0;
    while (!stop.aborted) {
      try {
        // While the database is away nothing is taken: a message waits better in the queue, where any receiver finds it.
        if (failures > 0) await database.check();
        await receiveOnce(stop);
        failures = 0;
      } catch (error) {
        failures += 1;
        const pauseMs = growing(failures, retryPauseMs, retryPauseMaxMs);
        log.error({ err: error, pauseMs }, "receiving failed; trying again after a pause");
        await wait(pauseMs, undefined, { signal: stop }).catch(() => {});
      }
    }
  }

  return {
    async run(stop) {
      await Promise.all(Array.from({ length: limits.concurrency }, () => receive(stop)));
    },
    oldestInHandMs() {
      const [oldest] = inHand;
      return oldest ? Math.round(performance.now() - oldest.since) : 0;
    },
  };
}

/**
 * Each delivery ends in one of two ways: its message is committed, as an event or parked with the reason why it never
 * can be one, and then acknowledged; or it failed today, and is put back with a pause that grows. Rejects, when all that
 * is left is put back, with what keeps the receiver from going on: the database is away, or the queue is.
 */
async function settle(parts: Opened, deliveries: Delivery[]): Promise<void> {
  const { large = [], usual = [] } = Object.groupBy(deliveries, sizeOf);
  // What is too large is parked behind the others, which its way into the database would hold up.
  const left = [...usual, ...large];
  try {
    if (usual.length > 0 && (await commitTogether(parts, usual))) {
      await parts.queue.acknowledge(usual);
      left.splice(0, usual.length);
    }
    // Otherwise one of them is at fault; taken one by one it does not hold up its neighbours.
    while (left[0]) {
      await settleOne(parts, left[0]);
      left.shift();
    }
  } catch (error) {
    await putBack(parts, left, error);
    throw error;
  }
}

const sizeOf = ({ body, bytes }: Delivery) => (isTooLarge(bytes ?? body) ? "large" : "usual");

/** False when it failed for what one of them says; nothing is committed then. */
async function commitTogether(parts: Opened, deliveries: Delivery[]): Promise<boolean> {
  try {
    await commit(parts, deliveries);
    return true;
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    return false;
  }
}

async function settleOne(parts: Opened, delivery: Delivery): Promise<void> {
  try {
    await commit(parts, [delivery]).catch((error) => parkRefused(parts, delivery, error));
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error;
    return putBack(parts, [delivery], error);
  }
  await parts.queue.acknowledge([delivery]);
}

/** Parks what the database will refuse every time. */
async function parkRefused(parts: Opened, delivery: Delivery, error: unknown): Promise<void> {
  if (!isDataFault(error)) throw error;
  const { code } = error as { code?: string };
  const parked = park(delivery, `the database refuses to store it (SQLSTATE ${code})`);
  await commit(parts, [delivery], { events: [], reprojections: [], parked: [parked] });
}

/** Commits what the messages tell. */
async function commit(parts: Opened, deliveries: Delivery[], batch = readBatch(deliveries)): Promise<void> {
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
