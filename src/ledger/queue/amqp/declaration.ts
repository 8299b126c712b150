import type { ChannelModel } from "amqplib";
import type { Warn } from "../../../engines/adapter.ts";
import { messageOf } from "../../../process/describe-error.ts";
import { declareMissing, onChannel } from "../../../rabbitmq/connect.ts";

/**
 * How long a quorum queue may be not durable after it was declared. A broker keeps the name of a new queue in a cache (of
 * Erlang's DETS), usually for a second, at most for three. If it is killed before, the messages of the queue are lost.
 */
export const durableWithinMs = 4000;

/**
 * Declares the queue if it does not exist, and returns whether it did not. An existing queue is used as it is; warns if it
 * drops messages after a number of deliveries.
 */
export async function assertQueue(model: ChannelModel, queue: string, warn: Warn): Promise<boolean> {
  const isNew = await declareMissing(
    model,
    (channel) => channel.checkQueue(queue),
    (channel) => channel.assertQueue(queue, { arguments: argumentsFor(model) }),
  );
  if (!isNew) await warnOfLimit(model, queue, warn);
  return isNew;
}

/** Warns of a queue with a delivery limit: a receiver that is killed returns its in-flight messages. */
async function warnOfLimit(model: ChannelModel, queue: string, warn: Warn): Promise<void> {
  try {
    const limit = await deliveryLimitOf(model, queue);
    if (limit === undefined) return;
    warn(
      `the queue ${queue} has no dead-letter exchange and drops a message that was returned more than ${limit} times, ` +
        "for example by receivers that were killed; a policy of the broker, which cannot be read here, may change that",
    );
  } catch (error) {
    // An error without a code means that the connection broke; the next connection checks again.
    if (typeof (error as { code?: unknown }).code !== "number") throw error;
    warn(
      `it is unknown whether the queue ${queue} drops a message that was returned too often: ${messageOf(error)}`,
    );
  }
}

const limitArgument = "x-delivery-limit";
/** The delivery limit of RabbitMQ 4 for quorum queues without one. */
const defaultLimit = 20;

/** RabbitMQ 4 needs a limit of -1 for no limit. Earlier versions have none by default, and would drop every retry at -1. */
const argumentsFor = (model: ChannelModel): Record<string, unknown> => ({
  "x-queue-type": "quorum",
  ...(hasDefaultLimit(model) && { [limitArgument]: -1 }),
});
const hasDefaultLimit = ({ connection }: ChannelModel) =>
  Number.parseInt(connection.serverProperties.version, 10) >= 4;

/** If one of these differs, the queue is not a quorum queue and has no limit, or it dead-letters messages at the limit. */
const safeDifferences = ["durable", "auto_delete", "x-queue-type", "x-dead-letter-exchange"];

/** The broker's message about a declaration that differs. The quoted value can contain quotes. */
const difference =
  /inequivalent arg '([\w-]+)' for .* but current is (?:none|(?:the value )?'(.*?)'(?: of type '(\w+)')?)"?$/s;
const readArgument = (value?: string, type?: string) => {
  if (value === undefined || type === "longstr") return value;
  return type === "bool" ? value === "true" : Number(value);
};
/** More than a quorum queue has arguments. */
const declarationsMax = 30;

/**
 * The number of returns after which an existing queue drops a message; undefined if it does not. AMQP cannot read the
 * arguments of a queue, but a declaration that differs fails with the name and value of one of them. So the queue is
 * declared repeatedly with the arguments learnt so far, until nothing differs.
 */
async function deliveryLimitOf(model: ChannelModel, queue: string): Promise<number | undefined> {
  const known = argumentsFor(model);
  for (let times = 1; ; times += 1) {
    try {
      await onChannel(model, (channel) => channel.assertQueue(queue, { arguments: known }));
      break;
    } catch (error) {
      const [, name, value, type] = difference.exec((error as Error).message) ?? [];
      if (name && safeDifferences.includes(name)) return undefined;
      if (!name || times === declarationsMax) throw error;
      known[name] = readArgument(value, type);
    }
  }
  const limit = known[limitArgument] ?? (hasDefaultLimit(model) ? defaultLimit : undefined);
  return limit === -1 && hasDefaultLimit(model) ? undefined : (limit as number | undefined);
}
