import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Address } from "../../../engines/adapter.ts";
import { withTimeout } from "../../../waiting/with-timeout.ts";
import type { RabbitmqParameters } from "../parameters.ts";
import type { Queue } from "../queue.ts";
import { type Connection, consume, openConnection, stopConsuming } from "./connection.ts";
import { forward, publish } from "./publish.ts";
import { assertRetryQueue } from "./retry-delay.ts";

/** How long a silent broker is waited for at the end. */
const closeMaxMs = 5000;

/**
 * A RabbitMQ queue. A quorum queue is declared if there is none; any other queue is used as it is. The connection is
 * opened on demand, and again when it broke. Retried messages wait in a queue of their own for each delay. Warns once of a
 * queue that drops messages after a number of deliveries.
 */
export async function open({ url, parameters, warn }: Address<RabbitmqParameters>): Promise<Queue> {
  const { queue, prefetch } = parameters;
  let current: Promise<Connection> | undefined;
  let hasWarned = false;

  const warnOnce = (text: string) => {
    if (!hasWarned) warn(text);
    hasWarned = true;
  };

  function connected(): Promise<Connection> {
    if (current) return current;
    const forget = () => {
      if (current === opening) current = undefined;
    };
    const opening = openConnection(url, queue, prefetch, warnOnce, forget);
    opening.catch(forget);
    current = opening;
    return opening;
  }

  return {
    address: { kind: "rabbitmq", url: addressOf(url), queue },
    async receive(max, waitMs, stop) {
      const connection = await connected();
      connection.consuming ??= consume(connection);
      await connection.consuming.catch((error) => {
        if (!connection.isClosed) throw error;
      });
      const timeout = AbortSignal.any([stop, AbortSignal.timeout(waitMs)]);
      while (connection.arrived.length === 0 && !connection.isClosed && !timeout.aborted) {
        await once(connection.events, "change", { signal: timeout }).catch(() => {});
      }
      if (connection.isClosed) throw new Error("the connection to the queue was lost");
      return stop.aborted ? [] : connection.arrived.splice(0, max);
    },
    async acknowledge(deliveries) {
      const connection = await connected();
      for (const { receipt } of deliveries) {
        // Messages of an earlier connection are not in flight here; the broker delivers them again.
        const message = connection.inFlight.get(receipt);
        connection.inFlight.delete(receipt);
        if (message) connection.channel.ack(message);
      }
    },
    async retry(deliveries, delayMs) {
      const connection = await connected();
      const retryQueue = await assertRetryQueue(connection, delayMs);
      await Promise.all(
        deliveries.map((delivery) => forward(connection, retryQueue, delivery, delivery.attempt)),
      );
    },
    async send(bodies) {
      const connection = await connected();
      const timestamp = Math.floor(Date.now() / 1000);
      await Promise.all(
        bodies.map((body) =>
          publish(connection, queue, Buffer.from(body), { messageId: randomUUID(), timestamp }),
        ),
      );
    },
    async countWaiting() {
      const { channel } = await connected();
      return (await channel.checkQueue(queue)).messageCount;
    },
    async [Symbol.asyncDispose]() {
      const connection = await current?.catch(() => undefined);
      if (!connection || connection.isClosed) return;
      const closed = stopConsuming(connection).finally(() => connection.model.close());
      await withTimeout(closed, closeMaxMs, new Error("the broker does not respond")).catch(() => {});
    },
  };
}

/** Only the scheme, the host and the virtual host. Clients disagree about a lone slash, so there is none. */
const addressOf = ({ protocol, host, pathname }: URL) =>
  `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
