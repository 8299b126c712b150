import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ConsumeMessage } from "amqplib";
import { withTimeout } from "../../../waiting/with-timeout.ts";
import { type Connection, prefetchFor, queueMaxMs, queueSilent } from "./connection.ts";
import { attemptsHeader, forward } from "./publish.ts";

/** How long a broker may need to process acknowledgements before their channel closes. */
const acknowledgeMaxMs = 300;

/** Begins to receive messages. If it fails, the connection is closed. */
export async function consume(connection: Connection): Promise<{ consumerTag: string }> {
  const { channel, model, queue, prefetch } = connection;
  try {
    await channel.prefetch(prefetch);
    const consuming = channel.consume(queue, (message) => message && accept(connection, message));
    return await withTimeout(consuming, queueMaxMs, queueSilent);
  } catch (error) {
    model.close().catch(() => {});
    throw error;
  }
}

/**
 * Stops receiving. Messages that have arrived and were not returned by `receive` are sent to the queue again: if they were
 * returned to it, it would count a failure, and a broker drops messages that have failed often. A quorum queue processes
 * acknowledgements asynchronously and loses those that are under way when their channel closes.
 */
export async function stopConsuming(connection: Connection): Promise<void> {
  const { channel, arrived, queue } = connection;
  connection.phase = "closing";
  if (!connection.consuming) return;
  await channel.cancel((await connection.consuming).consumerTag);
  await Promise.all(
    arrived.splice(0).map((message) => forward(connection, queue, message, message.attempt - 1)),
  );
  await sleep(acknowledgeMaxMs);
  await channel.close();
}

function accept(connection: Connection, message: ConsumeMessage): void {
  const { content, properties, fields } = message;
  const receipt = `${connection.id} ${fields.deliveryTag}`;
  const headers: Record<string, unknown> = properties.headers ?? {};
  const sentAt = Number(properties.timestamp) * 1000;
  connection.inFlight.set(receipt, message);
  connection.arrived.push({
    id: idOf(message),
    // Decoded on demand, so that a waiting message takes no more memory than its bytes.
    get body() {
      return content.toString();
    },
    ...contentOf(content, properties.contentEncoding),
    attempt: 1 + countIn(headers[attemptsHeader]) + countIn(headers["x-delivery-count"]),
    receipt,
    ...(sentAt > 0 && { sentAt }),
  });
  fitPrefetch(connection, content.length);
  connection.events.emit("change");
}

/** Names that clients give to the charset, and the names of no encoding. */
const plainEncodings = ["", "identity", "utf-8", "utf8"];

/** A body with an encoding is decoded later, since that takes time. */
function contentOf(content: Buffer, encoding: unknown) {
  const contentEncoding = typeof encoding === "string" ? encoding.trim().toLowerCase() : "";
  if (plainEncodings.includes(contentEncoding))
    return { size: content.length, ...(!isUtf8(content) && { bytes: content }) };
  // Gzip ends with the size of what it contains (RFC 1952).
  const declared =
    contentEncoding === "gzip" && content.length >= 4 ? content.readUInt32LE(content.length - 4) : 0;
  return { size: Math.max(content.length, declared), bytes: content, contentEncoding };
}

/** The count in a header. Producers can set any value. */
const countIn = (header: unknown): number =>
  Number.isSafeInteger(header) && (header as number) > 0 ? (header as number) : 0;

/** An id from the contents of a message: the broker assigns none, and producers can reuse theirs. */
const idOf = ({ properties: { messageId }, content }: ConsumeMessage): string => {
  const digest = createHash("sha256").update(content).digest("hex");
  return messageId ? `${messageId.replaceAll(/\p{Cc}/gu, "?")} ${digest}` : digest;
};

/**
 * Adapts the prefetch to the size of the messages, since a broker counts messages, not bytes. The largest recent message
 * decides; its weight falls by a tenth with each message. A consumer keeps its prefetch, so it is replaced.
 */
function fitPrefetch(connection: Connection, size: number): void {
  connection.largest = Math.max(size, connection.largest * 0.9);
  const fitting = prefetchFor(connection.largest, connection.prefetchMax);
  const isNear = connection.prefetch < 2 * fitting && fitting < 2 * connection.prefetch;
  const isFit =
    isNear && (fitting < connection.prefetchMax || connection.prefetch === connection.prefetchMax);
  if (isFit || connection.phase !== "open") return;
  connection.prefetch = fitting;
  const { consuming: before, channel } = connection;
  connection.consuming = (async () => {
    const consumer = await before;
    if (consumer) await channel.cancel(consumer.consumerTag);
    return consume(connection);
  })();
  // The next call of `receive` handles the rejection.
  connection.consuming.catch(() => {});
}
