import { setTimeout as wait } from "node:timers/promises";
import { type Database, DatabaseUnavailable } from "../../database/database.ts";
import type { Logger } from "../../process/log.ts";
import { type Outage, watchOutage } from "../../process/outage.ts";
import { inChunks } from "../../values/chunks.ts";
import { letOthersRun } from "../../waiting/turns.ts";
import type { Queue, ReceivedMessage } from "../queue/queue.ts";
import type { DeadLetter } from "../tables/dead-letter.ts";
import { type Content, decodeContent } from "./content-encoding.ts";
import { acceptedAt } from "./freshness.ts";
import { type Batch, permanentReason } from "./ingest.ts";
import type { Intake } from "./intake.ts";
import { invalid, type Message, messageBytesMax, notText } from "./message.ts";

interface ReceiverOptions {
  queue: Queue;
  /** The database of the intake. */
  database: Database;
  intake: Intake;
  log: Logger;
  limits: ReceiverLimits;
}

export interface ReceiverLimits {
  /** Maximum number of messages in one database transaction. */
  batchSize: number;
  /** Number of batches in flight at the same time. */
  concurrency: number;
  /** Milliseconds that one receive call waits for a message. */
  waitMs: number;
  /** Milliseconds from the first failure of a message to its next delivery. Each further failure doubles the delay. */
  retryDelayMs: number;
  /** Maximum of that delay in milliseconds. */
  retryDelayMaxMs: number;
  /** Milliseconds between two attempts while nothing can be received or stored; later ones wait twice as long. Default: 1000. */
  attemptDelayMs?: number;
}

/** A receiver and its state. */
interface Receiving extends ReceiverOptions {
  outage: Outage;
  inFlight: Set<{ since: number }>;
  /** When the first of the batches was received that have failed since the last success. */
  failingSince: number | undefined;
  /** No other batch is received until it resolves. */
  recovery: Promise<void> | undefined;
}

export function createReceiver(options: ReceiverOptions) {
  const receiving: Receiving = {
    ...{ ...options, outage: watchOutage(options.log, "error") },
    ...{ inFlight: new Set(), failingSince: undefined, recovery: undefined },
  };
  const sinceMs = (start: number | undefined) =>
    start === undefined ? 0 : Math.round(performance.now() - start);
  return {
    /** Receives messages until `stop` aborts, then finishes the batches in flight. */
    async run(stop: AbortSignal): Promise<void> {
      const { concurrency } = options.limits;
      await Promise.all(Array.from({ length: concurrency }, () => receive(receiving, stop)));
    },
    /** Age of the oldest in-flight message in milliseconds; 0 if there is none. */
    oldestInFlightMs: () => sinceMs(receiving.inFlight.values().next().value?.since),
    /** Milliseconds for which messages have arrived and none could be stored; 0 if the latest one was stored or none waits. */
    failingForMs: () => sinceMs(receiving.failingSince),
  };
}
export type Receiver = ReturnType<typeof createReceiver>;

async function receive(receiving: Receiving, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await receiving.recovery;
    try {
      await receiveOnce(receiving, receiving.limits.batchSize, stop);
    } catch (err) {
      const problem = "receiving failed; messages are tried one at a time until one is stored";
      receiving.outage.failed(problem, { err });
      receiving.recovery ??= recover(receiving, stop);
    }
  }
}

async function receiveOnce(receiving: Receiving, max: number, stop: AbortSignal): Promise<void> {
  const { queue, limits, inFlight, outage } = receiving;
  const deliveries = await queue.receive(max, limits.waitMs, stop);
  if (deliveries.length === 0) return outage.succeeded();
  const batch = { since: performance.now() };
  inFlight.add(batch);
  try {
    await processBatch(receiving, deliveries, Date.now());
    receiving.failingSince = undefined;
    outage.succeeded();
  } catch (error) {
    receiving.failingSince ??= batch.since;
    throw error;
  } finally {
    inFlight.delete(batch);
  }
}

/**
 * Resolves when a message is stored or none waits. Until then the other messages stay in the queue for any receiver: a
 * message that is received and fails comes back only after its retry delay.
 */
async function recover(receiving: Receiving, stop: AbortSignal): Promise<void> {
  const { database, outage, limits } = receiving;
  const { attemptDelayMs = 1000 } = limits;
  for (let failures = 1; !stop.aborted; failures += 1) {
    try {
      await database.check();
      await receiveOnce(receiving, 1, stop);
      receiving.failingSince = undefined;
      break;
    } catch (err) {
      const delayMs = backoff(failures, attemptDelayMs, 2 * attemptDelayMs);
      outage.failed("receiving failed again; the next attempt follows after a delay", { err, delayMs });
      await wait(delayMs, undefined, { signal: stop }).catch(() => {});
    }
  }
  receiving.recovery = undefined;
}

/**
 * Every delivery either is committed, as an event or as a dead letter, and then acknowledged, or it is retried after a
 * growing delay. Rejects if the last attempt failed and everything left is retried.
 */
async function processBatch(
  receiving: Receiving,
  deliveries: ReceivedMessage[],
  receivedAt: number,
): Promise<void> {
  const left = transactionsOf(deliveries);
  try {
    let failure: { error: unknown } | undefined;
    for (let batch = left[0]; batch; batch = left[0]) {
      const before = failure;
      failure = await commit(receiving, batch, receivedAt);
      // One failed message may be the cause itself. Two in a row are not, and none is if the database is unavailable.
      if (failure && (before || (batch.length > 1 && failure.error instanceof DatabaseUnavailable))) {
        throw failure.error;
      }
      left.shift();
      if (failure === undefined) {
        await receiving.queue.acknowledge(batch);
      } else if (batch.length === 1) {
        await retry(receiving, batch, failure.error);
      } else {
        failure = undefined;
        left.unshift(...batch.map((delivery) => [delivery]));
      }
    }
    if (failure) throw failure.error;
  } catch (error) {
    if (left.length > 0) await retry(receiving, left.flat(), error);
    throw error;
  }
}

/** A transaction needs several times as much memory as its messages. */
const transactionBytesMax = 2 ** 20;
/** Messages are read in turns of the event loop: a large one alone, small ones together. */
const largeBytes = 2 ** 16;
const messagesPerTurn = 20;
/** From this attempt on a message gets its own transaction, since it may be why the others failed. */
const suspectAttempt = 3;

/** The deliveries of each database transaction. A message that is too large gets its own, so that it delays no other. */
function transactionsOf(deliveries: ReceivedMessage[]): ReceivedMessage[][] {
  const { alone = [], batched = [] } = Object.groupBy(deliveries, ({ size, attempt }) =>
    size > messageBytesMax || attempt >= suspectAttempt ? "alone" : "batched",
  );
  return [
    ...inChunks(batched, ({ size }) => size, transactionBytesMax),
    ...alone.map((delivery) => [delivery]),
  ];
}

/** Commits all of the messages, or none and returns the failure. */
async function commit({ intake }: Receiving, deliveries: ReceivedMessage[], receivedAt: number) {
  try {
    await intake
      .store(await readBatch(intake, deliveries, receivedAt), deliveries)
      .catch((error) => storeDeadLetter(intake, deliveries, error));
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** Makes a single message a dead letter if it cannot be stored for a permanent reason. Any other error is thrown. */
async function storeDeadLetter(intake: Intake, deliveries: ReceivedMessage[], error: unknown): Promise<void> {
  const [delivery, ...others] = deliveries;
  const reason = permanentReason(error);
  if (!delivery || others.length > 0 || reason === undefined) throw error;
  const deadLetter = deadLetterOf(delivery, await decodeContent(delivery), reason);
  await intake.store({ events: [], rebuilds: [], deadLetters: [deadLetter] }, deliveries);
}

async function readBatch(intake: Intake, deliveries: ReceivedMessage[], receivedAt: number): Promise<Batch> {
  const batch: Batch = { events: [], rebuilds: [], deadLetters: [] };
  for (const [index, delivery] of deliveries.entries()) {
    if (delivery.size > largeBytes || index % messagesPerTurn === 0) await letOthersRun();
    const content = await decodeContent(delivery);
    const message = readContent(intake, content);
    if (message.kind === "event")
      batch.events.push({ ...message.event, accepted_at: acceptedAt(delivery.sentAt, receivedAt) });
    else if (message.kind === "rebuild") batch.rebuilds.push(message.externalId);
    else batch.deadLetters.push(deadLetterOf(delivery, content, message.reason));
  }
  return batch;
}

function readContent(intake: Intake, content: Content | string): Message {
  if (typeof content === "string") return invalid(content);
  return content.bytes ? invalid(notText) : intake.read(content.body);
}

/** A dead letter has the content without its encoding, if that could be removed. */
function deadLetterOf(delivery: ReceivedMessage, content: Content | string, reason: string): DeadLetter {
  const { bytes, body } = typeof content === "string" ? delivery : content;
  return { source_id: delivery.id, body: bytes ?? Buffer.from(body), reason };
}

async function retry(
  { queue, outage, limits, intake }: Receiving,
  deliveries: ReceivedMessage[],
  err: unknown,
): Promise<void> {
  outage.failed("messages could not be stored and will be retried", { err, messages: deliveries.length });
  const byAttempt = [...Map.groupBy(deliveries, (delivery) => delivery.attempt)];
  const outcomes = await Promise.allSettled(
    byAttempt.map(async ([attempt, failed]) => {
      await queue.retry(failed, backoff(attempt, limits.retryDelayMs, limits.retryDelayMaxMs));
      intake.metrics.retried(failed);
    }),
  );
  const rejected = outcomes.find((outcome) => outcome.status === "rejected");
  if (rejected) throw rejected.reason;
}

const backoff = (failures: number, firstMs: number, maxMs: number) =>
  Math.min(firstMs * 2 ** (failures - 1), maxMs);
