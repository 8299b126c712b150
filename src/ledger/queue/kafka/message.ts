import { isUtf8 } from "node:buffer";
import type { KafkaRecord } from "@platformatic/kafka";
import type { ReceivedMessage } from "../queue.ts";

/** A partition that this process has been assigned. */
export interface Assignment {
  topic: string;
  /** The id of the topic. A topic that is created again has another. */
  topicId: string;
  index: number;
  /** True if the partition has retried messages. */
  isRetry: boolean;
  /** Identifies this assignment in receipts. An earlier assignment can have had the same offsets. */
  id: string;
}

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
const headerNames = { id: "id", attempts: "attempts", sentAt: "sent-at", dueAt: "due-at" };

export function retryHeaders({ id, attempt, sentAt }: ReceivedMessage, dueAt: number): Map<Buffer, Buffer> {
  const values = {
    [headerNames.id]: id,
    [headerNames.attempts]: attempt,
    [headerNames.sentAt]: sentAt,
    [headerNames.dueAt]: dueAt,
  };
  return new Map(
    Object.entries(values).map(([name, value]) => [Buffer.from(name), Buffer.from(String(value))]),
  );
}

/** A copy, unless the bytes are most of the memory of which they are a view: all of it stays in memory with a view. */
const ownBytes = (view: Buffer) => (2 * view.length > view.buffer.byteLength ? view : Buffer.from(view));

export function messageOf(
  { topic, topicId, index, isRetry, id }: Assignment,
  offset: bigint,
  record: KafkaRecord,
  firstTimestamp: bigint,
): Message {
  const value = ownBytes(record.value ?? Buffer.of());
  // Only retry topics have these headers from the ledger: producers can set any.
  const headers = new Map(isRetry ? record.headers.map(([name, text]) => [`${name}`, `${text}`]) : []);
  const numberIn = (name: string) => Number(headers.get(name)) || 0;
  return {
    offset,
    value,
    dueAt: numberIn(headerNames.dueAt),
    received: {
      // With the id of the topic: one that is created again has the same offsets.
      id: headers.get(headerNames.id) ?? [topic, index, offset, topicId].join("-"),
      // Decoded on demand, so that a waiting message takes no more memory than its bytes.
      get body() {
        return value.toString();
      },
      size: value.length,
      ...(!isUtf8(value) && { bytes: value }),
      attempt: 1 + numberIn(headerNames.attempts),
      receipt: `${id} ${offset}`,
      sentAt: numberIn(headerNames.sentAt) || Number(firstTimestamp + record.timestampDelta),
    },
  };
}
