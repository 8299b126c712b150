import type { ConfirmChannel } from "amqplib";
import type { Address } from "../../../engines/adapter.ts";
import { connect, declareMissing } from "../../../rabbitmq/connect.ts";
import { publishConfirmed } from "../../../rabbitmq/publish.ts";
import { onDemand } from "../../../waiting/on-demand.ts";
import { withTimeout } from "../../../waiting/with-timeout.ts";
import type { RabbitmqParameters } from "../parameters.ts";
import { notResponded, reasons, respondedWith } from "../reason.ts";
import type { Failure, PublishedEvent, Target } from "../target.ts";

const declareMaxMs = 10_000;
const closeMaxMs = 5000;
const unconfirmed = new Error(reasons.unconfirmed);
/** The limit of the protocol. */
const routingKeyBytesMax = 255;
const longRoutingKey: Failure = { cause: "event", reason: reasons.longRoutingKey };
const silent = new Error(reasons.silent);
/** The texts of errors of the client that have no code. */
const rejected = "message nacked";
const handshakeEnded = /^Handshake terminated by server: (\d{3}) /;

/**
 * Publishes to an exchange of RabbitMQ, with the resource type and the event type as routing key, such as
 * `payment.PAYMENT_CREATED`. A missing exchange is declared: durable, of the type topic. A confirmed message is in every
 * queue that is bound to it.
 */
export async function open({ url, parameters }: Address<RabbitmqParameters>): Promise<Target> {
  const { exchange } = parameters;
  const connection = onDemand((forget) => openConnection(url, exchange, forget));
  return {
    // Confirms of a quorum queue take some milliseconds; meanwhile others are sent.
    requestsAtATime: 4,
    eventsAtATime: 100,
    async send(deliveries) {
      try {
        const { channel } = await connection.open();
        return await Promise.all(deliveries.map((delivery) => publish(channel, exchange, delivery)));
      } catch (error) {
        return deliveries.map(() => failureOf(error));
      }
    },
    async [Symbol.asyncDispose]() {
      const opened = await connection.opened();
      if (opened) await withTimeout(opened.model.close(), closeMaxMs, silent).catch(() => {});
    },
  };
}

async function openConnection(url: URL, exchange: string, onClosed: () => unknown) {
  const model = await connect(url, "payment-ledger publisher");
  model.on("error", () => {});
  model.on("close", onClosed);
  try {
    const declared = declareMissing(
      model,
      (channel) => channel.checkExchange(exchange),
      (channel) => channel.assertExchange(exchange, "topic", { durable: true }),
    );
    await withTimeout(declared, declareMaxMs, silent);
    const channel = await withTimeout(model.createConfirmChannel(), declareMaxMs, silent);
    channel.on("error", () => {});
    channel.on("close", () => model.close().catch(() => {}));
    return { model, channel };
  } catch (error) {
    model.close().catch(() => {});
    throw error;
  }
}

const failureOf = (error: unknown): Failure => ({ cause: "unknown", reason: reasonOf(error) });

/** The reply code of the broker, which the client has as a number, and of a handshake in its text alone. */
function reasonOf(error: unknown): string {
  const { code, message } = error as Error & { code?: unknown };
  if (error === unconfirmed || error === silent) return message;
  if (message === rejected) return reasons.rejected;
  const replyCode = typeof code === "number" ? code : handshakeEnded.exec(message)?.[1];
  return replyCode === undefined ? notResponded(error) : respondedWith(replyCode);
}

async function publish(channel: ConfirmChannel, exchange: string, event: PublishedEvent) {
  const { id, routingKey, body, contentType, timestamp } = event;
  if (Buffer.byteLength(routingKey) > routingKeyBytesMax) return longRoutingKey;
  const properties = {
    persistent: true,
    messageId: id,
    contentType,
    // The protocol has none before 1970.
    timestamp: Math.max(0, Math.floor(Date.parse(timestamp) / 1000)),
  };
  try {
    await publishConfirmed(channel, exchange, routingKey, Buffer.from(body), properties, unconfirmed);
    return undefined;
  } catch (error) {
    return failureOf(error);
  }
}
