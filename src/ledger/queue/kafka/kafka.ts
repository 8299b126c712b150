import { once } from "node:events";
import { isIP } from "node:net";
import { Admin, type BaseOptions, ProduceAcks, Producer } from "@platformatic/kafka";
import type { Address } from "../../../engines/adapter.ts";
import { hostAndPort, hostOf } from "../../../engines/url.ts";
import { inChunks } from "../../../values/chunks.ts";
import { withTimeout } from "../../../waiting/with-timeout.ts";
import type { KafkaParameters } from "../parameters.ts";
import type { Queue, ReceivedMessage } from "../queue.ts";
import { acknowledge, type Message, type Partition, retryHeaders, take } from "./partition.ts";
import { type Receiving, startReceiving } from "./receiving.ts";
import { createMissing, explained, isTimeout, listOffsets, retryTopicFor, type Topics } from "./topics.ts";

/** Limit for the messages of one request: brokers count those of a partition together. A larger message is sent alone. */
const sentBytesMax = 512 * 1024;
const requestMaxMs = 5000;
const workMaxMs = 15_000;
const closeMaxMs = 5000;
/** A new topic, and one whose leader was lost, is available after about this time. */
const availableWithinMs = 3000;

const silent = new Error("the brokers do not respond");

interface Clients {
  admin: Admin;
  producer: Producer;
}
type Sent = { topic: string; value: Buffer; headers?: Map<Buffer, Buffer> };

/**
 * A topic of Kafka, from which the processes of a group receive. Missing topics are created. Connections are opened on
 * demand. Retried messages wait in topics of the group.
 */
export async function open({ url, others, parameters, warn }: Address<KafkaParameters>): Promise<Queue> {
  const brokers = [url, ...others].map((each) => ({ host: hostOf(each), port: Number(each.port || 9092) }));
  function options(): BaseOptions {
    // The client begins with the first host, which may accept connections and not respond: another one the next time.
    brokers.push(...brokers.splice(0, 1));
    return optionsFor([...brokers], url, parameters);
  }
  const topics: Topics = { main: url.pathname.slice(1), group: parameters.group };
  let current: Promise<Clients> | undefined;
  /** Since the first call of `receive`: senders are no members of the group. */
  let receiving: Receiving | undefined;

  function connected(): Promise<Clients> {
    if (current) return current;
    const opening = openClients(options(), topics);
    opening.catch(() => {
      if (current === opening) current = undefined;
    });
    current = opening;
    return opening;
  }

  /** Closes all connections. The next call opens others. */
  async function close(): Promise<void> {
    const [own, opening] = [receiving, current];
    receiving = undefined;
    current = undefined;
    const clients = await opening?.catch(() => undefined);
    const closed = Promise.allSettled([own?.close(), clients?.producer.close(), clients?.admin.close()]);
    await withTimeout(closed, closeMaxMs, silent).catch(() => {});
  }

  /** Does work with the clients. If a broker is silent, the next call opens other connections. */
  async function withClients<Result>(work: (clients: Clients) => Promise<Result>): Promise<Result> {
    const opening = connected();
    const clients = await opening;
    try {
      return await withTimeout(work(clients), workMaxMs, silent);
    } catch (error) {
      if (current === opening && (error === silent || isTimeout(error))) {
        current = undefined;
        Promise.allSettled([clients.producer.close(), clients.admin.close()]);
      }
      throw explained(error);
    }
  }

  async function publish(messages: Sent[]): Promise<void> {
    for (const chunk of inChunks(messages, ({ value }) => value.length, sentBytesMax)) {
      await withClients(({ producer }) => producer.send({ messages: chunk, acks: ProduceAcks.ALL }));
    }
  }

  return {
    address: {
      kind: "kafka",
      url: [url, ...others].map((each) => hostAndPort(each, 9092)).join(),
      topic: topics.main,
    },
    async receive(max, waitMs, stop) {
      await connected();
      const onLost = (lost: Receiving) => {
        if (receiving === lost) close();
      };
      receiving ??= startReceiving(options(), topics, onLost, warn);
      const own = receiving;
      const timeout = AbortSignal.any([stop, AbortSignal.timeout(waitMs)]);
      for (;;) {
        const messages = stop.aborted ? [] : takeFrom(own, max);
        if (messages.length > 0) return messages.map(({ delivery }) => delivery);
        if (timeout.aborted || receiving !== own) break;
        // A message that waits for its due time does not emit anything.
        const wake = AbortSignal.any([timeout, AbortSignal.timeout(dueWithinMs(own))]);
        await once(own.events, "change", { signal: wake }).catch(() => {});
      }
      const failure = stop.aborted ? undefined : own.failure();
      const failingMs = failure ? performance.now() - failure.since : 0;
      if (failure && failingMs > availableWithinMs) throw explained(failure.error);
      return [];
    },
    async acknowledge(deliveries) {
      for (const { partition, message } of inFlight(receiving, deliveries)) acknowledge(partition, message);
      receiving?.advance();
    },
    async retry(deliveries, delayMs) {
      const retried = inFlight(receiving, deliveries);
      const dueAt = Date.now() + delayMs;
      const topic = retryTopicFor(topics, delayMs);
      try {
        await publish(
          retried.map(({ message: { value, delivery } }) => ({
            ...{ topic, value, headers: retryHeaders(delivery, dueAt) },
          })),
        );
      } catch (error) {
        // They are delivered again from memory.
        for (const { partition, message } of retried) partition.arrived.unshift(message);
        throw error;
      }
      for (const { partition, message } of retried) acknowledge(partition, message);
      receiving?.advance();
    },
    send: (bodies) => publish(bodies.map((body) => ({ topic: topics.main, value: Buffer.from(body) }))),
    async countWaiting() {
      const offsets = await withClients(({ admin }) => listOffsets(admin, topics));
      return offsets.reduce((sum, { next, end }) => sum + Number(end - next), 0);
    },
    problem: () => receiving?.problem(),
    [Symbol.asyncDispose]: close,
  };
}

async function openClients(options: BaseOptions, topics: Topics): Promise<Clients> {
  const admin = new Admin(options);
  try {
    await createMissing(admin, topics);
  } catch (error) {
    await admin.close();
    throw explained(error);
  }
  return { admin, producer: new Producer({ ...options, ...sending }) };
}

/** A message that is sent again, because its confirmation was lost, is stored once. A new leader is available after seconds. */
const sending = { idempotent: true, retries: 10, retryDelay: 500 };

function optionsFor(
  bootstrapBrokers: BaseOptions["bootstrapBrokers"],
  url: URL,
  { sasl: mechanism }: KafkaParameters,
): BaseOptions {
  const username = decodeURIComponent(url.username);
  return {
    clientId: "payment-ledger",
    bootstrapBrokers,
    ...(url.protocol === "kafkas:" && { tls: {}, tlsServerName: isIP(hostOf(url)) === 0 }),
    ...(username && { sasl: { mechanism, username, password: decodeURIComponent(url.password) } }),
    connectTimeout: requestMaxMs,
    requestTimeout: requestMaxMs,
    timeout: requestMaxMs,
    retries: 2,
    retryDelay: 200,
  };
}

/** Up to `max` messages that are due, from all partitions in turn. */
function takeFrom({ partitions }: Receiving, max: number): Message[] {
  const messages: Message[] = [];
  for (const [key, partition] of [...partitions]) {
    messages.push(...take(partition, max - messages.length, Date.now()));
    // It is the last the next time.
    partitions.delete(key);
    partitions.set(key, partition);
    if (messages.length === max) break;
  }
  return messages;
}

/** The time until the next message of a retry topic is due, in milliseconds. */
function dueWithinMs({ partitions }: Receiving): number {
  const dueAt = [...partitions.values()].flatMap(({ arrived }) => (arrived[0] ? [arrived[0].dueAt] : []));
  return Math.max(1, Math.min(...dueAt, Date.now() + 60_000) - Date.now());
}

/** The messages of these deliveries. Those of an earlier assignment of their partition are delivered again, to its receiver. */
function inFlight(receiving: Receiving | undefined, deliveries: ReceivedMessage[]) {
  const partitions = [...(receiving?.partitions.values() ?? [])];
  return deliveries.flatMap(({ receipt }): { partition: Partition; message: Message }[] => {
    const partition = partitions.find(({ unacknowledged }) => unacknowledged.has(receipt));
    const message = partition?.unacknowledged.get(receipt);
    return partition && message ? [{ partition, message }] : [];
  });
}
