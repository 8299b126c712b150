import { once } from "node:events";
import { ProduceAcks } from "@platformatic/kafka";
import type { Address } from "../../../engines/adapter.ts";
import { hostAndPort } from "../../../engines/url.ts";
import { inChunks } from "../../../values/chunks.ts";
import type { OnDemand } from "../../../waiting/on-demand.ts";
import { withTimeout } from "../../../waiting/with-timeout.ts";
import type { KafkaParameters } from "../parameters.ts";
import type { Queue } from "../queue.ts";
import {
  type Clients,
  clientOptions,
  clientsOnDemand,
  closeClients,
  defaultPort,
  silent,
  withClients,
} from "./connections.ts";
import { joinGroup } from "./group.ts";
import { longestFailure, type Member } from "./member.ts";
import { acknowledge, type Message, retryHeaders, take } from "./partition.ts";
import { type InFlight, inFlight } from "./settlement.ts";
import { explained, listOffsets, retryTopicFor, type Topics } from "./topics.ts";

/** Limit for the messages of one request: brokers count those of a partition together. A larger message is sent alone. */
const sentBytesMax = 512 * 1024;
const closeMaxMs = 5000;
/** A new topic, and one whose leader was lost, is available after about this time. */
const availableWithinMs = 3000;

/**
 * A topic of Kafka, from which the processes of a group receive. Missing topics are created. Connections are opened on
 * demand. Retried messages wait in topics of the group.
 */
export async function open(address: Address<KafkaParameters>): Promise<Queue> {
  const { url, others, parameters, warn } = address;
  const topics: Topics = { main: url.pathname.slice(1), group: parameters.group };
  const options = clientOptions(address);
  const clients = clientsOnDemand(options, topics);
  /** Since the first call of `receive`: senders are no members of the group. */
  let member: Member | undefined;

  /** Closes all connections. The next call opens others. */
  async function close(): Promise<void> {
    const [left, opened] = [member, clients.opened()];
    member = undefined;
    clients.forget();
    const closed = Promise.allSettled([left?.leave(), closeClients(await opened)]);
    await withTimeout(closed, closeMaxMs, silent).catch(() => {});
  }
  const onLost = (lost: Member) => {
    if (member === lost) void close();
  };

  return {
    address: {
      kind: "kafka",
      url: [url, ...others].map((each) => hostAndPort(each, defaultPort)).join(),
      topic: topics.main,
    },
    async receive(max, waitMs, stop) {
      await clients.open();
      member ??= joinGroup(options(), topics, onLost, warn);
      return receive(member, max, waitMs, stop);
    },
    async acknowledge(received) {
      for (const { partition, message } of inFlight(member, received)) acknowledge(partition, message);
      member?.advance();
    },
    async retry(received, delayMs) {
      await retry(clients, inFlight(member, received), retryTopicFor(topics, delayMs), delayMs);
      member?.advance();
    },
    send: (bodies) =>
      publish(
        clients,
        bodies.map((body) => ({ topic: topics.main, value: Buffer.from(body) })),
      ),
    async countWaiting() {
      const offsets = await withClients(clients, ({ admin }) => listOffsets(admin, topics));
      return offsets.reduce((sum, { next, end }) => sum + Number(end - next), 0);
    },
    problem: () => member?.partitions.values().find(({ problem }) => problem)?.problem?.reason,
    [Symbol.asyncDispose]: close,
  };
}

type SentMessage = { topic: string; value: Buffer; headers?: Map<Buffer, Buffer> };

async function publish(clients: OnDemand<Clients>, messages: SentMessage[]): Promise<void> {
  for (const chunk of inChunks(messages, ({ value }) => value.length, sentBytesMax)) {
    await withClients(clients, ({ producer }) => producer.send({ messages: chunk, acks: ProduceAcks.ALL }));
  }
}

async function receive(member: Member, max: number, waitMs: number, stop: AbortSignal) {
  const timeout = AbortSignal.any([stop, AbortSignal.timeout(waitMs)]);
  for (;;) {
    const messages = stop.aborted ? [] : takeFrom(member, max);
    if (messages.length > 0) return messages.map(({ received }) => received);
    if (timeout.aborted || member.isLeaving) break;
    // A message that waits for its due time does not emit anything.
    const wake = AbortSignal.any([timeout, AbortSignal.timeout(dueWithinMs(member))]);
    await once(member.events, "change", { signal: wake }).catch(() => {});
  }
  const failure = stop.aborted ? undefined : longestFailure(member);
  if (failure && performance.now() - failure.since > availableWithinMs) throw explained(failure.error);
  return [];
}

/** Up to `max` messages that are due, from all partitions in turn. */
function takeFrom({ partitions }: Member, max: number): Message[] {
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
function dueWithinMs({ partitions }: Member): number {
  const dueAt = [...partitions.values()].flatMap(({ arrived }) => (arrived[0] ? [arrived[0].dueAt] : []));
  return Math.max(1, Math.min(...dueAt, Date.now() + 60_000) - Date.now());
}

/** Sends the messages to a retry topic. If that fails, they are delivered again from memory. */
async function retry(clients: OnDemand<Clients>, retried: InFlight[], topic: string, delayMs: number) {
  const dueAt = Date.now() + delayMs;
  const messages = retried.map(({ message: { value, received } }) => ({
    ...{ topic, value, headers: retryHeaders(received, dueAt) },
  }));
  try {
    await publish(clients, messages);
  } catch (error) {
    for (const { partition, message } of retried) partition.arrived.unshift(message);
    throw error;
  }
  for (const { partition, message } of retried) acknowledge(partition, message);
}
