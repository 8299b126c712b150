import { createHash, randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import amqp, { type ChannelModel, type ConfirmChannel, type ConsumeMessage } from "amqplib";
import type { Delivery, Queue } from "./queue.ts";

const prefetchOtherwise = 200;
const connectMaxMs = 5000;
const heartbeatSeconds = 10;
/** How long a queue in which messages pause outlives the longest pause in it. */
const unusedMs = 3_600_000;
const attemptsHeader = "x-attempts";

/** A connection and what is under way on it; when it breaks, the broker delivers again what was in hand. */
interface Link {
  id: string;
  connection: ChannelModel;
  channel: ConfirmChannel;
  /** Deliveries that nobody has taken yet. */
  arrived: Delivery[];
  /** By receipt. */
  inHand: Map<string, ConsumeMessage>;
  /** Ids of messages that no queue took. */
  returned: Set<string>;
  /** Tells of an arrival, and of the end of the link. */
  events: EventEmitter<{ change: [] }>;
  closed: boolean;
  consuming?: Promise<unknown>;
}

/**
 * A RabbitMQ queue: a quorum queue is made when there is none, any other is used as it is. The connection is opened
 * when it is needed, and anew when it broke. A pause is a wait in a queue beside it, from which messages come back.
 */
export async function open(url: URL): Promise<Queue> {
  const queue = url.searchParams.get("queue") ?? "payment-events";
  const prefetch = Number(url.searchParams.get("prefetch") ?? prefetchOtherwise);
  let current: Promise<Link> | undefined;

  function linked(): Promise<Link> {
    current ??= openLink(url, queue, prefetch, () => {
      current = undefined;
    }).catch((error) => {
      current = undefined;
      throw error;
    });
    return current;
  }

  /** The message in hand, as long as its link is there; the broker delivers it again when it is not. */
  const held = (link: Link, { receipt }: Delivery) => {
    const message = link.inHand.get(receipt);
    link.inHand.delete(receipt);
    return message;
  };

  async function publish(
    link: Link,
    to: string,
    body: Buffer,
    properties: amqp.Options.Publish,
  ): Promise<void> {
    const { channel } = link;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const options = { persistent: true, contentType: "application/json", ...properties, mandatory: true };
    channel.publish("", to, body, options, (error) => (error ? reject(error) : resolve()));
    await promise;
    if (link.returned.delete(properties.messageId ?? "")) throw new Error(`there is no queue ${to}`);
  }

  return {
    async receive(max, waitMs, stop) {
      const link = await linked();
      link.consuming ??= link.channel.consume(queue, (message) => message && take(link, message));
      await link.consuming;
      const late = AbortSignal.any([stop, AbortSignal.timeout(waitMs)]);
      while (link.arrived.length === 0 && !link.closed && !late.aborted) {
        await once(link.events, "change", { signal: late }).catch(() => {});
      }
      if (link.closed) throw new Error("the connection to the queue was lost");
      return stop.aborted ? [] : link.arrived.splice(0, max);
    },
    async acknowledge(deliveries) {
      const link = await linked();
      for (const delivery of deliveries) {
        const message = held(link, delivery);
        if (message) link.channel.ack(message);
      }
    },
    async putBack(deliveries, pauseMs) {
      const link = await linked();
      const pausing = await assertPause(link.channel, queue, pauseMs);
      const again = deliveries.map(async (delivery) => {
        const message = link.inHand.get(delivery.receipt);
        if (message === undefined) return;
        const { headers = {}, messageId = randomUUID(), timestamp, contentType } = message.properties;
        await publish(link, pausing, message.content, {
          messageId,
          timestamp,
          contentType,
          headers: { ...withoutHistory(headers), [attemptsHeader]: delivery.attempt },
        });
        held(link, delivery);
        link.channel.ack(message);
      });
      await Promise.all(again);
    },
    async send(bodies) {
      const link = await linked();
      const timestamp = Math.floor(Date.now() / 1000);
      await Promise.all(
        bodies.map((body) => publish(link, queue, Buffer.from(body), { messageId: randomUUID(), timestamp })),
      );
    },
    async check() {
      const { channel } = await linked();
      return { waiting: (await channel.checkQueue(queue)).messageCount };
    },
    async [Symbol.asyncDispose]() {
      const link = await current?.catch(() => undefined);
      // What was not acknowledged goes back to the queue as the connection closes.
      await link?.connection.close().catch(() => {});
    },
  };
}

async function openLink(url: URL, queue: string, prefetch: number, onClosed: () => void): Promise<Link> {
  const connection = await connect(url);
  try {
    connection.on("error", () => {});
    await assertQueue(connection, queue);
    const channel = await connection.createConfirmChannel();
    const link: Link = {
      id: randomUUID(),
      connection,
      channel,
      arrived: [],
      inHand: new Map(),
      returned: new Set(),
      events: new EventEmitter(),
      closed: false,
    };
    channel.on("error", () => {});
    channel.on("return", ({ properties }) => link.returned.add(properties.messageId));
    channel.on("cancel", () => connection.close().catch(() => {}));
    channel.on("close", () => {
      link.closed = true;
      onClosed();
      link.events.emit("change");
      connection.close().catch(() => {});
    });
    await channel.prefetch(prefetch);
    return link;
  } catch (error) {
    await connection.close().catch(() => {});
    throw error;
  }
}

function connect({ protocol, hostname, port, username, password, pathname }: URL): Promise<ChannelModel> {
  const vhost = decodeURIComponent(pathname.slice(1)) || "/";
  return amqp.connect(
    {
      protocol: protocol.slice(0, -1),
      hostname: hostname.replace(/^\[|\]$/g, ""),
      ...(port && { port: Number(port) }),
      ...(username && { username: decodeURIComponent(username), password: decodeURIComponent(password) }),
      vhost,
      heartbeat: heartbeatSeconds,
    },
    { timeout: connectMaxMs, clientProperties: { connection_name: "payment-ledger" } },
  );
}

const notFound = 404;

/** Looks first, on a channel of its own: a look that finds nothing closes its channel. */
async function assertQueue(connection: ChannelModel, queue: string): Promise<void> {
  const looking = await connection.createChannel();
  looking.on("error", () => {});
  try {
    await looking.checkQueue(queue);
    await looking.close();
  } catch (error) {
    if ((error as { code?: number }).code !== notFound) throw error;
    const making = await connection.createChannel();
    await making.assertQueue(queue, { arguments: { "x-queue-type": "quorum" } });
    await making.close();
  }
}

/** The queue from which messages go back after this pause; one that is out of use goes away by itself. */
async function assertPause(channel: ConfirmChannel, queue: string, pauseMs: number): Promise<string> {
  const pausing = `${queue}.pause.${pauseMs}`;
  await channel.assertQueue(pausing, {
    messageTtl: pauseMs,
    expires: pauseMs + unusedMs,
    deadLetterExchange: "",
    deadLetterRoutingKey: queue,
    arguments: {
      "x-queue-type": "quorum",
      "x-dead-letter-strategy": "at-least-once",
      "x-overflow": "reject-publish",
    },
  });
  return pausing;
}

/** The headers but for those in which the broker keeps count of what became of a message, which begins anew. */
const withoutHistory = (headers: object) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !/^x-(.*death|delivery-count)/.test(name)));

function take(link: Link, message: ConsumeMessage): void {
  const { content, properties, fields } = message;
  const receipt = `${link.id} ${fields.deliveryTag}`;
  const headers: Record<string, unknown> = properties.headers ?? {};
  const sentAt = Number(properties.timestamp) * 1000;
  link.inHand.set(receipt, message);
  link.arrived.push({
    id: idOf(message),
    body: content.toString(),
    attempt: 1 + Number(headers[attemptsHeader] ?? 0) + Number(headers["x-delivery-count"] ?? 0),
    receipt,
    ...(sentAt > 0 && { sentAt }),
  });
  link.events.emit("change");
}

/** A broker gives no ids, and producers may give the same one to many messages: what a message says tells it apart. */
const idOf = ({ properties: { messageId }, content }: ConsumeMessage): string => {
  const digest = createHash("sha256").update(content).digest("hex");
  return messageId ? `${messageId} ${digest}` : digest;
};
