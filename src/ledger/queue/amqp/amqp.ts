import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { Address } from "../../../engines/adapter.ts";
import { onDemand } from "../../../waiting/on-demand.ts";
import { withTimeout } from "../../../waiting/with-timeout.ts";
import type { RabbitmqParameters } from "../parameters.ts";
import type { Queue } from "../queue.ts";
import { type Connection, openConnection } from "./connection.ts";
import { consume, stopConsuming } from "./consumer.ts";
import { assertRetryQueue, forward, publish } from "./publish.ts";

/** How long a silent broker is waited for at the end. */
const closeMaxMs = 5000;

/**
 * A RabbitMQ queue. A quorum queue is declared if there is none; any other queue is used as it is. The connection is
 * opened on demand, and again when it broke. Retried messages wait in a queue of their own for each delay. Warns once of a
 * queue that drops messages after a number of deliveries.
 */
export async function open(address: Address<RabbitmqParameters>): Promise<Queue> {
  const { queue } = address.parameters;
  let hasWarned = false;
  const warn = (text: string) => {
    if (!hasWarned) address.warn(text);
    hasWarned = true;
  };
  const connection = onDemand((forget) => openConnection({ ...address, warn }, forget));

  return {
    address: { kind: "rabbitmq", url: addressOf(address.url), queue },
    receive: async (max, waitMs, stop) => receive(await connection.open(), max, waitMs, stop),
    async acknowledge(messages) {
      const { channel, inFlight } = await connection.open();
      for (const { receipt } of messages) {
        // Messages of an earlier connection are not in flight here; the broker delivers them again.
        const message = inFlight.get(receipt);
        inFlight.delete(receipt);
        if (message) channel.ack(message);
      }
    },
    async retry(messages, delayMs) {
      const opened = await connection.open();
      const retryQueue = await assertRetryQueue(opened, delayMs);
      await Promise.all(messages.map((message) => forward(opened, retryQueue, message, message.attempt)));
    },
    async send(bodies) {
      const opened = await connection.open();
      const timestamp = Math.floor(Date.now() / 1000);
      await Promise.all(
        bodies.map((body) =>
          publish(opened, queue, Buffer.from(body), { messageId: randomUUID(), timestamp }),
        ),
      );
    },
    async countWaiting() {
      const { channel } = await connection.open();
      return (await channel.checkQueue(queue)).messageCount;
    },
    async [Symbol.asyncDispose]() {
      const opened = await connection.opened();
      if (!opened || opened.phase === "closed") return;
      const closed = stopConsuming(opened).finally(() => opened.model.close());
      await withTimeout(closed, closeMaxMs, new Error("the broker does not respond")).catch(() => {});
    },
  };
}

async function receive(connection: Connection, max: number, waitMs: number, stop: AbortSignal) {
  const { arrived, events } = connection;
  const isClosed = () => connection.phase === "closed";
  connection.consuming ??= consume(connection);
  await connection.consuming.catch((error) => {
    if (!isClosed()) throw error;
  });
  const timeout = AbortSignal.any([stop, AbortSignal.timeout(waitMs)]);
  while (arrived.length === 0 && !isClosed() && !timeout.aborted) {
    await once(events, "change", { signal: timeout }).catch(() => {});
  }
  if (isClosed()) throw new Error("the connection to the queue was lost");
  return stop.aborted ? [] : arrived.splice(0, max);
}

/** Only the scheme, the host and the virtual host. Clients disagree about a lone slash, so there is none. */
const addressOf = ({ protocol, host, pathname }: URL) =>
  `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
