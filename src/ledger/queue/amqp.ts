import { isUtf8 } from "node:buffer";
import { createHash, randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import amqp, { type Channel, type ChannelModel, type ConfirmChannel, type ConsumeMessage } from "amqplib";
import { hostOf, type Warn } from "../../process/adapter.ts";
import { messageOf } from "../../process/describe-error.ts";
import { inTime } from "../../process/with-timeout.ts";
import type { Delivery, Queue } from "./queue.ts";

export const prefetchOtherwise = 400;
/** About what the messages may take that have arrived and are not acknowledged; what is stored of them comes on top. */
const unacknowledgedBytesMax = 32 * 2 ** 20;
/** Of a message, until its size is known: what no producer should go beyond. */
const messageBytesMax = 2 ** 20;
const connectMaxMs = 5000;
/** A broker gives up a silent connection after 2 to 3 of these, and delivers to others what was in hand there. */
const heartbeatSeconds = 5;
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
  /** By the name of a retry queue, when the broker is sure to keep it. */
  retryQueues: Map<string, Promise<void>>;
  /** Tells of an arrival, and of the end of the link. */
  events: EventEmitter<{ change: [] }>;
  closed: boolean;
  /** From when on nothing more is taken. */
  leaving: boolean;
  queue: string;
  /** How many messages may be unacknowledged, and how many if they are small. */
  prefetch: number;
  prefetchMax: number;
  /** Of the messages of late, in bytes. */
  largest: number;
  consuming?: Promise<{ consumerTag: string }>;
}

/**
 * A RabbitMQ queue: a quorum queue is made when there is none, any other is used as it is. The connection is opened
 * when it is needed, and anew when it broke. A retry delay is a wait in a queue beside it, from which messages come back.
 * Warns once of a queue that drops messages which are delivered too often.
 */
export async function open(url: URL, _others: URL[], warn: Warn): Promise<Queue> {
  const queue = url.searchParams.get("queue") ?? "payment-events";
  const prefetch = Number(url.searchParams.get("prefetch") ?? prefetchOtherwise);
  let current: Promise<Link> | undefined;
  let hasWarned = false;

  const warnOnce = (text: string) => {
    if (!hasWarned) warn(text);
    hasWarned = true;
  };

  function linked(): Promise<Link> {
    if (current) return current;
    const forget = () => {
      if (current === opening) current = undefined;
    };
    const opening = openLink(url, queue, prefetch, warnOnce, forget);
    opening.catch(forget);
    current = opening;
    return opening;
  }

  return {
    async receive(max, waitMs, stop) {
      const link = await linked();
      link.consuming ??= consume(link);
      await link.consuming.catch((error) => {
        if (!link.closed) throw error;
      });
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
      const retryQueue = await assertRetryQueue(link, pauseMs);
      await Promise.all(deliveries.map((delivery) => passOn(link, retryQueue, delivery, delivery.attempt)));
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
      const left = leave(link).finally(() => link.connection.close());
      await inTime(left, leaveMaxMs, new Error("the broker is silent")).catch(() => {});
    },
  };
}

/**
 * What arrived and was not taken is sent to the queue again: returned, it would count as failed, and a broker throws
 * away what failed often. A quorum queue takes acknowledgements in on its own time, and forgets those that are under way
 * when their channel ends.
 */
async function leave(link: Link): Promise<void> {
  const { channel, arrived, queue } = link;
  link.leaving = true;
  if (!link.consuming) return;
  await channel.cancel((await link.consuming).consumerTag);
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

async function openLink(
  url: URL,
  queue: string,
  prefetch: number,
  warn: Warn,
  onClosed: () => void,
): Promise<Link> {
  const connection = await connect(url);
  try {
    connection.on("error", () => {});
    await assertQueue(connection, queue, warn);
    const channel = await connection.createChannel();
    const link: Link = {
      id: randomUUID(),
      connection,
      channel,
      arrived: [],
      inHand: new Map(),
      returned: new Set(),
      retryQueues: new Map(),
      events: new EventEmitter(),
      closed: false,
      leaving: false,
      queue,
      prefetch: prefetchFor(messageBytesMax, prefetch),
      prefetchMax: prefetch,
      largest: messageBytesMax,
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
async function assertQueue(connection: ChannelModel, queue: string, warn: Warn): Promise<void> {
  const looking = await openTrial(connection);
  try {
    await looking.checkQueue(queue);
    await looking.close();
  } catch (error) {
    if ((error as { code?: number }).code !== notFound) throw error;
    const making = await connection.createChannel();
    await making.assertQueue(queue, { arguments: argumentsFor(connection) });
    await sleep(notedWithinMs);
    await making.close();
    return;
  }
  await warnOfLimit(connection, queue, warn);
}

/** A channel for what can fail, and so close it. */
async function openTrial(connection: ChannelModel): Promise<Channel> {
  const channel = await connection.createChannel();
  return channel.on("error", () => {});
}

/** Of a queue that drops what was returned to it too often: a receiver that is killed returns what it had in hand. */
async function warnOfLimit(connection: ChannelModel, queue: string, warn: Warn): Promise<void> {
  try {
    const limit = await droppingLimit(connection, queue);
    if (limit === undefined) return;
    const what = `drops a message that was returned to it more than ${limit} times, as by receivers that were killed`;
    warn(`the queue ${queue} has no dead-letter exchange, and ${what}; ${unlessPolicy}`);
  } catch (error) {
    // Without an answer of the broker there is no connection any more: the next one looks again.
    if (typeof (error as { code?: unknown }).code !== "number") throw error;
    const what = "drops a message that was returned to it too often";
    warn(`it is not known whether the queue ${queue} ${what}: ${messageOf(error)}`);
  }
}
const unlessPolicy = "unless a policy of the broker, which cannot be read here, says otherwise";

type Arguments = Record<string, unknown>;
const limitArgument = "x-delivery-limit";

/** From version 4 on a quorum queue without a limit has one of 20; one of -1, before that, drops what comes back at all. */
const argumentsFor = (connection: ChannelModel): Arguments => ({
  "x-queue-type": "quorum",
  ...(hasLimitUnlessSet(connection) && { [limitArgument]: -1 }),
});
const hasLimitUnlessSet = ({ connection }: ChannelModel) =>
  Number.parseInt(connection.serverProperties.version, 10) >= 4;
const limitUnlessSet = 20;

/** With one of these a queue has no delivery limit, since it is no quorum queue, or dead-letters what has reached it. */
const harmless = ["durable", "auto_delete", "x-queue-type", "x-dead-letter-exchange"];

/** How a broker says that a queue differs from its declaration; what it quotes can have quotes in it. */
const difference =
  /inequivalent arg '([\w-]+)' for .* but current is (?:none|(?:the value )?'(.*?)'(?: of type '(\w+)')?)"?$/s;
const readArgument = (value?: string, type?: string) => {
  if (value === undefined || type === "longstr") return value;
  return type === "bool" ? value === "true" : Number(value);
};
/** Beyond all arguments that a quorum queue can have. */
const declarationsMax = 30;

/**
 * The limit of returns beyond which a queue that is there drops a message; undefined when it does not. AMQP cannot ask
 * for the arguments of a queue, but a declaration that differs fails with the name and the value of one of them. So the
 * queue is declared again with what the last answer said, until nothing differs.
 */
async function droppingLimit(connection: ChannelModel, queue: string): Promise<number | undefined> {
  const known = argumentsFor(connection);
  for (let times = 1; ; times += 1) {
    const channel = await openTrial(connection);
    try {
      await channel.assertQueue(queue, { arguments: known });
      await channel.close();
      break;
    } catch (error) {
      const [, name, value, type] = difference.exec((error as Error).message) ?? [];
      if (name && harmless.includes(name)) return undefined;
      if (!name || times === declarationsMax) throw error;
      known[name] = readArgument(value, type);
    }
  }
  const limit = known[limitArgument] ?? (hasLimitUnlessSet(connection) ? limitUnlessSet : undefined);
  return limit === -1 && hasLimitUnlessSet(connection) ? undefined : (limit as number | undefined);
}

/**
 * The queue from which messages go back after this delay. It stays when it is out of use: one that expires takes with it
 * what the main queue does not accept. Nobody tells whether it is new, so that the first to use it waits until it is noted.
 */
async function assertRetryQueue({ channel, queue, retryQueues }: Link, delayMs: number): Promise<string> {
  const name = `${queue}.retry.${delayMs}`;
  await channel.assertQueue(name, {
    messageTtl: delayMs,
    deadLetterExchange: "",
    deadLetterRoutingKey: queue,
    arguments: {
      "x-queue-type": "quorum",
      "x-dead-letter-strategy": "at-least-once",
      "x-overflow": "reject-publish",
    },
  });
  if (!retryQueues.has(name)) retryQueues.set(name, sleep(notedWithinMs));
  await retryQueues.get(name);
  return name;
}

async function consume(link: Link): Promise<{ consumerTag: string }> {
  await link.channel.prefetch(link.prefetch);
  return link.channel.consume(link.queue, (message) => message && take(link, message));
}

/**
 * A broker counts messages, not bytes: how many it may deliver follows the largest of late, which counts a tenth less with
 * each message. A consumer keeps the number with which it began, so another takes its place.
 */
function fitPrefetch(link: Link, size: number): void {
  link.largest = Math.max(size, link.largest * 0.9);
  const fitting = prefetchFor(link.largest, link.prefetchMax);
  const isNear = link.prefetch < 2 * fitting && fitting < 2 * link.prefetch;
  const isFit = isNear && (fitting < link.prefetchMax || link.prefetch === link.prefetchMax);
  if (isFit || link.leaving) return;
  link.prefetch = fitting;
  const { consuming: before, channel } = link;
  link.consuming = (async () => {
    const consumer = await before;
    if (consumer) await channel.cancel(consumer.consumerTag);
    return consume(link);
  })();
  // Whoever receives next hears of it.
  link.consuming.catch(() => {});
}

const prefetchFor = (bytes: number, max: number) =>
  Math.max(1, Math.min(max, Math.floor(unacknowledgedBytesMax / bytes)));

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
  fitPrefetch(link, content.length);
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
