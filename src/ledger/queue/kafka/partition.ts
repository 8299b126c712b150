import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import type { KafkaRecord } from "@platformatic/kafka";
import { letOthersRun } from "../../../waiting/turns.ts";
import type { ReceivedMessage } from "../queue.ts";
import { compressionName } from "./compression/pieces.ts";
import type { FetchedPartition } from "./fetch.ts";
import { type Batch, recordsOf } from "./records.ts";
import type { PartitionOffsets } from "./topics.ts";

/** A message that has arrived and is not acknowledged. */
export interface Message {
  delivery: ReceivedMessage;
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
  /** The offset of the next record to read. */
  position: bigint;
  /** What was fetched and is not read, if there is any. */
  unread: Unread | undefined;
  /** Why the batch at this position cannot be read, and whether that will be tried again later. */
  stopped: { reason: string; position: bigint; isWaiting: boolean } | undefined;
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

/** Batches of a response that are being read. */
export interface Unread {
  /** Reads a group of records with each `next`, and returns its size in bytes. Throws if a batch cannot be read. */
  groups: AsyncGenerator<number, void>;
  /** The memory of the batches, as they were sent. */
  bytes: number;
  /** True if it has its turn, or waits for it. */
  hasTurn: boolean;
}

export const newPartition = (
  { topic, topicId, index, committed, next }: PartitionOffsets,
  isRetry: boolean,
): Partition => ({
  ...{ topic, topicId, index, isRetry, committed, position: next, arrivedAt: 0 },
  ...{ unread: undefined, stopped: undefined },
  ...{ id: randomUUID(), arrived: [], unacknowledged: new Map(), bytes: 0 },
});

/** Memory for a message in addition to its value, approximately, in bytes. */
const messageOverhead = 500;

/**
 * Adds the messages of one group with each `next`, moves the position behind them, and returns the size of the group in
 * bytes. A broker sends whole batches, also the part before the position, and the batches of aborted transactions. Throws
 * for an operator what stands at the position and cannot be read.
 */
export async function* read(
  partition: Partition,
  { batches, abortedTransactions }: FetchedPartition,
): AsyncGenerator<number, void> {
  const aborted = abortedTransactions.toSorted((one, other) => Number(one.firstOffset - other.firstOffset));
  /** The producers in an aborted transaction. A control record ends it. */
  const aborting = new Set<bigint>();
  for (const batch of batches) {
    const { isControl, producerId, nextOffset } = batch;
    for (; aborted[0] && aborted[0].firstOffset < nextOffset; aborted.shift())
      aborting.add(aborted[0].producerId);
    if (isControl) aborting.delete(producerId);
    else if (!aborting.has(producerId)) yield* readMessages(partition, batch);
    if (nextOffset > partition.position) partition.position = nextOffset;
  }
}

async function* readMessages(partition: Partition, batch: Batch): AsyncGenerator<number, void> {
  try {
    for await (const { records, bytes } of recordsOf(batch)) {
      for (const record of records) add(partition, batch, record);
      yield bytes;
      await letOthersRun();
    }
  } catch (error) {
    throw unreadable(partition, batch, error);
  }
}

function unreadable({ topic, index }: Partition, batch: Batch, cause: unknown): Error {
  const { firstOffset, nextOffset, compression } = batch;
  return new Error(
    `topic ${topic}, partition ${index}: the batch at offset ${firstOffset} (${compressionName(compression)}) cannot be ` +
      `read, and all behind it waits: ${(cause as Error).message}. To give it up, delete the records before offset ` +
      `${nextOffset} with kafka-delete-records.sh`,
    { cause },
  );
}

function add(partition: Partition, { firstOffset, firstTimestamp }: Batch, record: KafkaRecord): void {
  const offset = firstOffset + BigInt(record.offsetDelta);
  if (offset < partition.position) return;
  const message = messageOf(partition, offset, record, firstTimestamp);
  partition.arrived.push(message);
  partition.unacknowledged.set(message.delivery.receipt, message);
  partition.bytes += message.value.length + messageOverhead;
  partition.position = offset + 1n;
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

export function retryHeaders({ id, attempt, sentAt }: ReceivedMessage, dueAt: number): Map<Buffer, Buffer> {
  const texts = [
    [headerNames.id, id],
    [headerNames.attempts, String(attempt)],
    [headerNames.sentAt, String(sentAt)],
    [headerNames.dueAt, String(dueAt)],
  ] as const;
  return new Map(texts.map(([name, text]) => [Buffer.from(name), Buffer.from(text)]));
}

/** A copy, unless the bytes are most of the memory of which they are a view: all of it stays in memory with a view. */
const ownBytes = (view: Buffer) => (2 * view.length > view.buffer.byteLength ? view : Buffer.from(view));

function messageOf(
  partition: Partition,
  offset: bigint,
  record: KafkaRecord,
  firstTimestamp: bigint,
): Message {
  const { topic, topicId, index } = partition;
  const value = ownBytes(record.value ?? Buffer.of());
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
