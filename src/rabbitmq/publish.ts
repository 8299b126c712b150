import type { ConfirmChannel, Options } from "amqplib";
import { withTimeout } from "../waiting/with-timeout.ts";

const confirmMaxMs = 10_000;

/**
 * Publishes a message. Resolves when the broker confirms it, and rejects when the broker rejects it. Rejects with
 * `unconfirmed` if the broker does neither within 10 seconds.
 */
export function publishConfirmed(
  channel: ConfirmChannel,
  exchange: string,
  routingKey: string,
  content: Buffer,
  options: Options.Publish,
  unconfirmed: Error,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  channel.publish(exchange, routingKey, content, options, (error) => (error ? reject(error) : resolve()));
  return withTimeout(promise, confirmMaxMs, unconfirmed);
}
