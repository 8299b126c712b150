import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import type { Channel, ChannelModel, ConsumeMessage } from "amqplib";
import type { Address } from "../../../engines/adapter.ts";
import { connect } from "../../../rabbitmq/connect.ts";
import { onDemand } from "../../../waiting/on-demand.ts";
import { withTimeout } from "../../../waiting/with-timeout.ts";
import type { RabbitmqParameters } from "../parameters.ts";
import type { ReceivedMessage } from "../queue.ts";
import { assertQueue, durableWithinMs } from "./declaration.ts";

/** Limit for the bytes of messages that have arrived and are not acknowledged, approximately. */
const unacknowledgedBytesMax = 32 * 2 ** 20;
/** The assumed size of a message until messages have arrived. */
const assumedMessageBytes = 2 ** 20;
/** How long a broker may need to declare a queue, and to begin to deliver from it. A queue can be without a leader. */
export const queueMaxMs = 15_000;
export const queueSilent = new Error("the broker does not respond about the queue");

/** A connection to the broker. When it breaks, the broker delivers the in-flight messages again. */
export type Connection = ReturnType<typeof newConnection>;

function newConnection(model: ChannelModel, channel: Channel, queue: string, prefetchMax: number) {
  const returned = new Set<string>();
  return {
    id: randomUUID(),
    model,
    /** Delivers and acknowledges messages. */
    channel,
    /** Sends messages. It is a channel of its own, since a queue that does not confirm blocks its whole channel. */
    sending: onDemand((forget) => openSending(model, returned, forget)),
    /** Messages that `receive` has not returned yet. */
    arrived: [] as ReceivedMessage[],
    /** By receipt. */
    inFlight: new Map<string, ConsumeMessage>(),
    /** Ids of publications that no queue has accepted. */
    returned,
    /** By name of a queue that can be new: when the broker has it on disk, in milliseconds of `performance.now()`. */
    durableAt: new Map<string, number>(),
    /** Emits at an arrival and at the end of the connection. */
    events: new EventEmitter<{ change: [] }>().setMaxListeners(0),
    phase: "open" as "open" | "closing" | "closed",
    queue,
    /** The maximum number of unacknowledged messages now, and for small messages. */
    prefetch: prefetchFor(assumedMessageBytes, prefetchMax),
    prefetchMax,
    /** A moving maximum of message sizes, in bytes. */
    largest: assumedMessageBytes,
    consuming: undefined as Promise<{ consumerTag: string }> | undefined,
  };
}

/** Connects to the broker and declares the queue. Calls `onClosed` when the connection ends. */
export async function openConnection(
  { url, parameters: { queue, prefetch }, warn }: Address<RabbitmqParameters>,
  onClosed: () => unknown,
): Promise<Connection> {
  const model = await connect(url, "payment-ledger");
  try {
    model.on("error", () => {});
    const isNew = await withTimeout(assertQueue(model, queue, warn), queueMaxMs, queueSilent);
    const channel = await model.createChannel();
    const connection = newConnection(model, channel, queue, prefetch);
    if (isNew) connection.durableAt.set(queue, performance.now() + durableWithinMs);
    channel.on("error", () => {});
    channel.on("cancel", () => model.close().catch(() => {}));
    channel.on("close", () => {
      connection.phase = "closed";
      onClosed();
      connection.events.emit("change");
      model.close().catch(() => {});
    });
    return connection;
  } catch (error) {
    await model.close().catch(() => {});
    throw error;
  }
}

/** Identifies a publication that no queue accepts, since producers can reuse message ids. */
export const publicationHeader = "x-publication";

/** `forget` makes the next message open another channel. It returns true unless that is so already. */
async function openSending(model: ChannelModel, returned: Set<string>, forget: () => boolean) {
  const channel = await model.createConfirmChannel();
  channel.on("error", forget);
  channel.on("return", ({ properties }) => returned.add(properties.headers?.[publicationHeader]));
  return { channel, forget };
}

/** As many messages of this size as may be unacknowledged. */
export const prefetchFor = (bytes: number, max: number) =>
  Math.max(1, Math.min(max, Math.floor(unacknowledgedBytesMax / bytes)));
