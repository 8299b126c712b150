import { isUtf8 } from "node:buffer";
import { createHash, randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import amqp, { type Channel, type ChannelModel, type ConfirmChannel, type ConsumeMessage } from "amqplib";
import { hostOf } from "../../service/adapter.ts";
import { inTime } from "../../service/in-time.ts";
import type { Delivery, Queue } from "./queue.ts";

export const prefetchOtherwise = 400;
const connectMaxMs = 5000;
const heartbeatSeconds = 10;
/** How long a queue in which messages pause outlives the longest pause in it. */
const unusedMs = 3_600_000;
const attemptsHeader = "x-attempts";
/** By which a message that no queue took is told from others; producers may give many the same id. */
const publicationHeader = "x-publication";
const acknowledgedWithinMs = 300;
/**
 * A broker notes on disk that there is a new quorum queue half a second after it has confirmed it, and messages that were
 * put into the queue before. When it is killed until then, they are lost.
 */
const notedWithinMs = 1000;
const confirmMaxMs = 10_000;
/** For how long a broker that says nothing is waited for when we leave it. */
const leaveMaxMs = 5000;

/** A connection and what is under way on it; when it breaks, the broker delivers again what was in hand. */
interface Link {
  id: string;
  connection: ChannelModel;
  /** What messages arrive by, and are acknowledged. */
  channel: Channel;
  /** What messages are sent by, since a queue that does not confirm them makes its whole channel wait. */
  sending?: Promise<ConfirmChannel> | undefined;
  /** Deliveries that nobody has taken yet. */
  arrived: Delivery[];
  /** By receipt. */
  inHand: Map<string, ConsumeMessage>;
  /** Publications that no queue took. */
  returned: Set<string>;
  /** By the queue in which messages pause, when it can be relied on. */
  pausing: Map<string, Promise<void>>;
  /** Tells of an arrival, and of the end of the link. */
  events: EventEmitter<{ change: [] }>;
  closed: boolean;
  consuming?: Promise<{ consumerTag: string }>;
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
    if (current) return current;
    const forget = () => {
      if (current === opening) current = undefined;
    };
    const opening = openLink(url, queue, prefetch, forget);
    opening.catch(forget);
    current = opening;
    return opening;
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
      for (const { receipt } of deliveries) {
        // The broker delivers again what was in hand when its link broke.
        const message = link.inHand.get(receipt);
        link.inHand.delete(receipt);
        if (message) link.channel.ack(message);
      }
    },
    async putBack(deliveries, pauseMs) {
      const link = await linked();
      const pausing = await assertPause(link, queue, pauseMs);
      await Promise.all(deliveries.map((delivery) => passOn(link, pausing, delivery, delivery.attempt)));
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
      if (!link || link.closed) return;
      const left = leave(link, queue).finally(() => link.connection.close());
      await inTime(left, leaveMaxMs, new Error("the broker is silent")).catch(() => {});
    },
  };
}

/**
 * What arrived and was not taken is sent to the queue again: returned, it would count as failed, and a broker throws
 * away what failed often. A quorum queue takes acknowledgements in on its own time, and forgets those that are under way
 * when their channel ends.
 */
async function leave(link: Link, queue: string): Promise<void> {
  const { channel, arrived, consuming } = link;
  if (!consuming) return;
  await channel.cancel((await consuming).consumerTag);
  await Promise.all(arrived.splice(0).map((delivery) => passOn(link, queue, delivery, delivery.attempt - 1)));
  await sleep(acknowledgedWithinMs);
  await channel.close();
}

/**
 * Sends what is in hand to a queue, told how often it was tried, and is done with it when that is confirmed. None of its
 * producer's headers goes along: the broker obeys some of them (`CC` and `BCC` route copies to any queue), and keeps count
 * of a message's history in others, which begins anew.
 */
async function passOn(link: Link, to: string, { receipt }: Delivery, attempts: number): Promise<void> {
  const message = link.inHand.get(receipt);
  link.inHand.delete(receipt);
  if (message === undefined) return;
  const { messageId, timestamp, contentType } = message.properties;
  const headers = { [attemptsHeader]: attempts };
  try {
    await publish(link, to, message.content, { messageId, timestamp, contentType, headers });
    link.channel.ack(message);
  } catch (error) {
    if (!link.closed) link.channel.nack(message);
    throw error;
  }
}

/**
 * Resolves when the broker has the message, in a queue and on disk. A quorum queue without a leader, as there is one
 * after a kill that came too soon, takes messages and confirms none.
 */
async function publish(
  link: Link,
  to: string,
  body: Buffer,
  properties: amqp.Options.Publish,
): Promise<void> {
  const channel = await sendingChannel(link);
  const publication = randomUUID();
  const headers = { ...properties.headers, [publicationHeader]: publication };
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const common = { persistent: true, mandatory: true, contentType: "application/json" };
  channel.publish("", to, body, { ...common, ...properties, headers }, (error) =>
    error ? reject(error) : resolve(),
  );
  await inTime(promise, confirmMaxMs, unconfirmed).catch((error) => {
    if (error === unconfirmed) giveUpSending(link);
    throw error;
  });
  if (link.returned.delete(publication)) throw new Error(`there is no queue ${to}`);
}

const unconfirmed = new Error("the broker does not confirm a message");

function sendingChannel(link: Link): Promise<ConfirmChannel> {
  link.sending ??= openSending(link);
  return link.sending;
}

async function openSending(link: Link): Promise<ConfirmChannel> {
  try {
    const channel = await link.connection.createConfirmChannel();
    channel.on("error", () => giveUpSending(link));
    channel.on("return", ({ properties }) => link.returned.add(properties.headers?.[publicationHeader]));
    return channel;
  } catch (error) {
    link.sending = undefined;
    throw error;
  }
}

/** The next message goes by another channel. The broker may take a minute to close the one that waits. */
function giveUpSending(link: Link): void {
  const given = link.sending;
  link.sending = undefined;
  given?.then((channel) => channel.close()).catch(() => {});
}

async function openLink(url: URL, queue: string, prefetch: number, onClosed: () => void): Promise<Link> {
  const connection = await connect(url);
  try {
    connection.on("error", () => {});
    await assertQueue(connection, queue);
    const channel = await connection.createChannel();
    const link: Link = {
      id: randomUUID(),
      connection,
      channel,
      arrived: [],
      inHand: new Map(),
      returned: new Set(),
      pausing: new Map(),
      events: new EventEmitter(),
      closed: false,
    };
    link.events.setMaxListeners(0);
    channel.on("error", () => {});
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

function connect(url: URL): Promise<ChannelModel> {
  const { protocol, port, username, password, pathname } = url;
  const vhost = decodeURIComponent(pathname.slice(1)) || "/";
  return amqp.connect(
    {
      protocol: protocol.slice(0, -1),
      hostname: hostOf(url),
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
    await sleep(notedWithinMs);
    await making.close();
  }
}

/**
 * The queue from which messages go back after this pause; one that is out of use goes away by itself. Nobody tells
 * whether it is new, so that the first to use it waits until it is noted.
 */
async function assertPause(
  { channel, pausing: known }: Link,
  queue: string,
  pauseMs: number,
): Promise<string> {
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
  if (!known.has(pausing)) {
    known.set(pausing, sleep(notedWithinMs));
    setTimeout(() => known.delete(pausing), unusedMs).unref();
  }
  await known.get(pausing);
  return pausing;
}

function take(link: Link, message: ConsumeMessage): void {
  const { content, properties, fields } = message;
  const receipt = `${link.id} ${fields.deliveryTag}`;
  const headers: Record<string, unknown> = properties.headers ?? {};
  const sentAt = Number(properties.timestamp) * 1000;
  link.inHand.set(receipt, message);
  link.arrived.push({
    id: idOf(message),
    // Made when it is asked for: a message that waits takes no more memory than it has bytes.
    get body() {
      return content.toString();
    },
    size: content.length,
    ...(!isUtf8(content) && { bytes: content }),
    attempt: 1 + countIn(headers[attemptsHeader]) + countIn(headers["x-delivery-count"]),
    receipt,
    ...(sentAt > 0 && { sentAt }),
  });
  link.events.emit("change");
}

/** Producers set what headers they like. */
const countIn = (header: unknown): number =>
  Number.isSafeInteger(header) && (header as number) > 0 ? (header as number) : 0;

/** A broker gives no ids, and producers may give the same one to many messages: what a message says tells it apart. */
const idOf = ({ properties: { messageId }, content }: ConsumeMessage): string => {
  const digest = createHash("sha256").update(content).digest("hex");
  return messageId ? `${messageId.replaceAll(/\p{Cc}/gu, "?")} ${digest}` : digest;
};
