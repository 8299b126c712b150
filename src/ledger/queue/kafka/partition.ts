import { randomUUID } from "node:crypto";
import type { KafkaRecord } from "@platformatic/kafka";
import { type Assignment, type Message, messageOf } from "./message.ts";
import type { Batch } from "./records.ts";
import type { PartitionOffsets, Topics } from "./topics.ts";

/** What this process knows of a partition since it was assigned. */
export interface Partition extends Assignment {
  /** The offset of the next record to read. */
  position: bigint;
  phase: Phase;
  /** Why the batch at this position could not be read. */
  problem: { reason: string; position: bigint } | undefined;
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

/**
 * An idle partition has nothing to read, and more can be fetched. Batches that were fetched wait for room. A partition that
 * is reading has its turn or waits for it. A stopped partition has a batch that cannot be read, and is idle again later.
 */
export type Phase =
  | { name: "idle" | "stopped"; unread?: undefined }
  | { name: "fetched" | "reading"; unread: Unread };

/** Batches of a response that are being read. */
export interface Unread {
  /** Reads a group of records with each `next`, and returns its size in bytes. Throws if a batch cannot be read. */
  groups: AsyncGenerator<number, void>;
  /** The memory of the batches, as they were sent. */
  bytes: number;
}

export const newPartition = (
  { topic, topicId, index, committed, next }: PartitionOffsets,
  { main }: Topics,
): Partition => ({
  ...{ topic, topicId, index, isRetry: topic !== main, id: randomUUID() },
  ...{ committed, position: next, phase: { name: "idle" }, problem: undefined, arrivedAt: 0 },
  ...{ arrived: [], unacknowledged: new Map(), bytes: 0 },
});

/** Memory for a message in addition to its value, approximately, in bytes. */
const messageOverhead = 500;

/** Adds the message of a record, unless it is before the position, and moves the position behind it. */
export function add(partition: Partition, { firstOffset, firstTimestamp }: Batch, record: KafkaRecord): void {
  const offset = firstOffset + BigInt(record.offsetDelta);
  if (offset < partition.position) return;
  const message = messageOf(partition, offset, record, firstTimestamp);
  partition.arrived.push(message);
  partition.unacknowledged.set(message.received.receipt, message);
  partition.bytes += message.value.length + messageOverhead;
  partition.position = offset + 1n;
}

/** Removes and returns up to `max` messages that are due. Those of a retry topic are in the order of their due times. */
export function take({ arrived }: Partition, max: number, now: number): Message[] {
  const waiting = arrived.findIndex(({ dueAt }) => dueAt > now);
  return arrived.splice(0, Math.min(max, waiting === -1 ? arrived.length : waiting));
}

export function acknowledge(partition: Partition, { received, value }: Message): void {
  if (partition.unacknowledged.delete(received.receipt)) partition.bytes -= value.length + messageOverhead;
}

/** The offset to commit: every message before it is acknowledged, in whatever order that happened. */
export function acknowledgedUpTo({ unacknowledged, position }: Partition): bigint {
  const [lowest] = unacknowledged.values();
  return lowest?.offset ?? position;
}
