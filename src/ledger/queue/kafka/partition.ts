import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import type { KafkaRecord } from "@platformatic/kafka";
import type { ReceivedMessage } from "../queue.ts";
import type { Batch } from "./records.ts";
import type { PartitionOffsets, Topics } from "./topics.ts";

/** What this process knows of a partition since it was assigned. */
export interface Partition {
  topic: string;
  /** The id of the topic. A topic that is created again has another. */
  topicId: string;
  index: number;
  /** True if the partition has retried messages. */
  isRetry: boolean;
  /** Identifies this assignment in receipts. An earlier assignment can have had the same offsets. */
  id: string;
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

/** A message that has arrived and is not acknowledged. */
export interface Message {
  received: ReceivedMessage;
  offset: bigint;
  /** The bytes of the body. */
  value: Buffer;
  /** When a retried message may be delivered, in milliseconds since 1970. For other messages 0. */
  dueAt: number;
}

/** Headers of a retried message: those of the ledger. A producer's headers are dropped. */
export function retryHeaders({ id, attempt, sentAt }: ReceivedMessage, dueAt: number): Map<Buffer, Buffer> {
  const values = { id, attempts: attempt, "sent-at": sentAt, "due-at": dueAt };
  return new Map(
    Object.entries(values).map(([name, value]) => [Buffer.from(name), Buffer.from(String(value))]),
  );
}

/** A copy, unless the bytes are most of the memory of which they are a view: all of it stays in memory with a view. */
const ownBytes = (view: Buffer) => (2 * view.length > view.buffer.byteLength ? view : Buffer.from(view));

function messageOf(
  partition: Partition,
  offset: bigint,
  record: KafkaRecord,
  firstTimestamp: bigint,
): Message {
  const { topic, topicId, index, isRetry, id } = partition;
  const value = ownBytes(record.value ?? Buffer.of());
  // Only retry topics have these headers from the ledger: producers can set any.
  const headers = new Map(isRetry ? record.headers.map(([name, text]) => [`${name}`, `${text}`]) : []);
  const numberIn = (name: string) => Number(headers.get(name)) || 0;
  return {
    offset,
    value,
    dueAt: numberIn("due-at"),
    received: {
      // With the id of the topic: one that is created again has the same offsets.
      id: headers.get("id") ?? [topic, index, offset, topicId].join("-"),
      // Decoded on demand, so that a waiting message takes no more memory than its bytes.
      get body() {
        return value.toString();
      },
      size: value.length,
      ...(!isUtf8(value) && { bytes: value }),
      attempt: 1 + numberIn("attempts"),
      receipt: `${id} ${offset}`,
      sentAt: numberIn("sent-at") || Number(firstTimestamp + record.timestampDelta),
    },
  };
}

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
