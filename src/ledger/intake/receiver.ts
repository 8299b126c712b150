import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "../../service/log.ts";
import { type Database, isDataFault } from "../database/database.ts";
import type { Delivery, Queue } from "../queue/queue.ts";
import type { ParkedMessage } from "../tables/parked-message.ts";
import { type Batch, ingest } from "./ingest.ts";
import { readMessage } from "./message.ts";

export interface ReceiverParts {
  queue: Queue;
  database: Database;
  log: Logger;
}

/** Messages taken into one database transaction at the most. */
const batchMax = 100;
const shortestPauseMs = 1000;
const longestPauseMs = 15 * 60 * 1000;
const queuePauseMaxMs = 30_000;

/** Takes messages from the queue until `stop` aborts; the batch in hand is finished first. */
export async function receive(parts: ReceiverParts, stop: AbortSignal): Promise<void> {
  let failures = 0;
  while (!stop.aborted) {
    try {
      const deliveries = await parts.queue.receive(batchMax, stop);
      if (deliveries.length > 0) await settle(parts, deliveries);
      failures = 0;
    } catch (error) {
      failures += 1;
      const pauseMs = growing(failures, queuePauseMaxMs);
      parts.log.error({ err: error, pauseMs }, "the queue failed; trying again after a pause");
      await wait(pauseMs, undefined, { signal: stop }).catch(() => {});
    }
  }
}

/**
 * Each delivery ends in one of two ways: its message is committed, as an event or parked with the reason why it never
 * can be one, and then acknowledged; or it failed today, and is put back with a pause that grows.
 */
async function settle(parts: ReceiverParts, deliveries: Delivery[]): Promise<void> {
  const { queue, database, log } = parts;
  const [delivery, ...others] = deliveries;
  if (delivery === undefined) return;
  let parked: ParkedMessage[];
  try {
    parked = await store(database, deliveries);
  } catch (error) {
    if (others.length > 0 && (await isReachable(database))) {
      // One of them is at fault; taken one by one it does not hold up its neighbours.
      for (const one of deliveries) await settle(parts, [one]);
      return;
    }
    if (!isDataFault(error)) return putBack(parts, deliveries, error);
    const { code } = error as { code?: string };
    parked = [park(delivery, `the database refuses to store it (SQLSTATE ${code})`)];
    await ingest(database, { events: [], reprojections: [], parked });
  }
  for (const { source_id, reason } of parked) log.warn({ delivery: source_id, reason }, "message parked");
  await queue.acknowledge(deliveries);
}

/** Commits what the messages tell; answers those it had to park. */
async function store(database: Database, deliveries: Delivery[]): Promise<ParkedMessage[]> {
  const batch = readBatch(deliveries);
  await ingest(database, batch);
  return batch.parked;
}

const isReachable = (database: Database): Promise<boolean> =>
  database.check().then(
    () => true,
    () => false,
  );

function readBatch(deliveries: Delivery[]): Batch {
  const batch: Batch = { events: [], reprojections: [], parked: [] };
  for (const delivery of deliveries) {
    const message = readMessage(delivery.body);
    if (message.kind === "event") batch.events.push(message.event);
    else if (message.kind === "reprojection") batch.reprojections.push(message.externalId);
    else batch.parked.push(park(delivery, message.reason));
  }
  return batch;
}

const park = ({ id, body }: Delivery, reason: string) => ({ source_id: id, body, reason });

async function putBack({ queue, log }: ReceiverParts, deliveries: Delivery[], error: unknown): Promise<void> {
  log.error({ err: error, messages: deliveries.length }, "messages could not be stored and are put back");
  for (const [attempt, tried] of Map.groupBy(deliveries, (delivery) => delivery.attempt)) {
    await queue.putBack(tried, growing(attempt, longestPauseMs));
  }
}

const growing = (failures: number, maxMs: number) => Math.min(shortestPauseMs * 2 ** (failures - 1), maxMs);
