import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { type fetchV13, IS_CONTROL, type KafkaRecord, type RecordsBatch } from "@platformatic/kafka";
import type { Delivery } from "../queue.ts";
import type { PartitionOffsets } from "./topics.ts";

/** A message that has arrived and is not acknowledged. */
export interface Message {
  delivery: Delivery;
  offset: bigint;
  /** The bytes of the body. */
  value: Buffer;
  /** When a retried message may be delivered, in milliseconds since 1970. For other messages 0. */
  dueAt: number;
}

/** What this process knows of a partition since it was assigned. */
export interface Partition {
  topic: string;
  /** The id of the topic. One that is created again has another. */
  topicId: string;
  index: number;
  /** True if it has retried messages. */
  isRetry: boolean;
  /** Identifies this assignment in receipts. An earlier one can have had the same offsets. */
  id: string;
  /** The offset of the next record to fetch. */
  position: bigint;
  /** The offset that the group has committed, -1 without one. */
  committed: bigint;
  /** When records were fetched for the last time, by `performance.now()`. */
  arrivedAt: number;
  /** Messages that `receive` has not returned yet, in the order of their offsets. */
  arrived: Message[];
  /** All messages that are not acknowledged, by receipt, in the order of their offsets. */
  unacknowledged: Map<string, Message>;
  /** The memory of these messages, approximately. */
  bytes: number;
}

export const newPartition = (
  { topic, topicId, index, committed, next }: PartitionOffsets,
  isRetry: boolean,
): Partition => ({
  ...{ topic, topicId, index, isRetry, committed, position: next, arrivedAt: 0 },
  ...{ id: randomUUID(), arrived: [], unacknowledged: new Map(), bytes: 0 },
});

/** Memory for a message in addition to its value, approximately, in bytes. */
const messageOverhead = 500;

type AbortedTransaction = fetchV13.FetchResponsePartitionAbortedTransaction;

/**
 * Adds fetched messages, and moves the position behind them. A broker returns whole batches, also the part before the
 * position, and the batches of aborted transactions.
 */
export function accept(
  partition: Partition,
  batches: RecordsBatch[],
  abortedTransactions: AbortedTransaction[],
): void {
  const aborted = abortedTransactions.toSorted((one, other) => Number(one.firstOffset - other.firstOffset));
  /** The producers in an aborted transaction. A control record ends it. */
  const aborting = new Set<bigint>();
  for (const batch of batches) {
    const next = batch.firstOffset + BigInt(batch.lastOffsetDelta) + 1n;
    for (; aborted[0] && aborted[0].firstOffset < next; aborted.shift()) aborting.add(aborted[0].producerId);
    const isControl = (batch.attributes & IS_CONTROL) !== 0;
    if (isControl) aborting.delete(batch.producerId);
    for (const record of isControl || aborting.has(batch.producerId) ? [] : batch.records) {
      const offset = batch.firstOffset + BigInt(record.offsetDelta);
      if (offset < partition.position) continue;
      const message = messageOf(partition, offset, record, batch.firstTimestamp);
      partition.arrived.push(message);
      partition.unacknowledged.set(message.delivery.receipt, message);
      partition.bytes += message.value.length + messageOverhead;
    }
    if (next > partition.position) partition.position = next;
  }
}

/** Removes and returns up to `max` messages that are due. Those of a retry topic are in the order of their due times. */
export function take({ arrived }: Partition, max: number, now: number): Message[] {
  const waiting = arrived.findIndex(({ dueAt }) => dueAt > now);
  return arrived.splice(0, Math.min(max, waiting === -1 ? arrived.length : waiting));
}

export function acknowledge(partition: Partition, { delivery, value }: Message): void {
  if (partition.unacknowledged.delete(delivery.receipt)) partition.bytes -= value.length + messageOverhead;
}

/** The offset to commit: every message before it is acknowledged, in whatever order that happened. */
export function acknowledgedUpTo({ unacknowledged, position }: Partition): bigint {
  const [lowest] = unacknowledged.values();
  return lowest?.offset ?? position;
}

/** Headers of a retried message: those of the ledger. A producer's headers are dropped. */
const headerNames = { id: "id", attempts: "attempts", sentAt: "sent-at", dueAt: "due-at" };

export function retryHeaders({ id, attempt, sentAt }: Delivery, dueAt: number): Map<Buffer, Buffer> {
  const texts = [
    [headerNames.id, id],
    [headerNames.attempts, String(attempt)],
    [headerNames.sentAt, String(sentAt)],
    [headerNames.dueAt, String(dueAt)],
  ] as const;
  return new Map(texts.map(([name, text]) => [Buffer.from(name), Buffer.from(text)]));
}

function messageOf(
  partition: Partition,
  offset: bigint,
  record: KafkaRecord,
  firstTimestamp: bigint,
): Message {
  const { topic, topicId, index } = partition;
  // A copy, since the value is a view of a whole response, which would stay in memory with it.
  const value = Buffer.from(record.value ?? "");
  // Only retry topics have these headers from the ledger: producers can set any.
  const headers = new Map(
    partition.isRetry ? record.headers.map(([name, text]) => [`${name}`, `${text}`]) : [],
  );
  const numberIn = (name: string) => Number(headers.get(name)) || 0;
  return {
    offset,
    value,
    dueAt: numberIn(headerNames.dueAt),
    delivery: {
      // With the id of the topic: one that is created again has the same offsets.
      id: headers.get(headerNames.id) ?? [topic, index, offset, topicId].join("-"),
      // Decoded on demand, so that a waiting message takes no more memory than its bytes.
      get body() {
        return value.toString();
      },
      size: value.length,
      ...(!isUtf8(value) && { bytes: value }),
      attempt: 1 + numberIn(headerNames.attempts),
      receipt: `${partition.id} ${offset}`,
      sentAt: numberIn(headerNames.sentAt) || Number(firstTimestamp + record.timestampDelta),
    },
  };
}
