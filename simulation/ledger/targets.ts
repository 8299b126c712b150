import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import amqp from "amqplib";
import { fileName } from "../../src/ledger/publishing/targets/file.ts";
import type { Random } from "../../testing/random.ts";
import { openWebhook, type Reply } from "../../testing/webhook.ts";
import type { Fault } from "../faults.ts";
import { Violation } from "../violation.ts";
import { valuesByResource } from "./feed.ts";
import { eventKey, type LedgerEvent } from "./messages.ts";

/** A target to which the ledgers publish events. */
export interface PublishingTarget extends AsyncDisposable {
  url: string;
  faults: Fault[];
  /** The events that have arrived, in order. Any of them can be there again. */
  events(): Promise<LedgerEvent[]>;
}

const parameters = "from=beginning";

/**
 * A webhook that responds with errors now and then, and takes nothing for some time. It takes an event in the second attempt:
 * the fourth would be after five minutes.
 */
export async function openWebhookTarget(random: Random): Promise<PublishingTarget> {
  let isAway = false;
  const failed = new Set<string>();
  const webhook = await openWebhook(({ id }) => {
    if (failed.has(id) || !(isAway || random.chance(0.02))) return 200;
    failed.add(id);
    return isAway ? 503 : random.pick(["closed", 400, 429, 500, 502] as Reply[]);
  });
  return {
    url: `${webhook.url}?${parameters}&name=webhook`,
    faults: [
      {
        component: "webhook",
        kind: "webhook away",
        async inject() {
          isAway = true;
          await sleep(random.integer(0, awayMaxMs));
          isAway = false;
        },
      },
    ],
    events: async () => webhook.received.map(({ body }) => JSON.parse(body)),
    [Symbol.asyncDispose]: () => webhook[Symbol.asyncDispose](),
  };
}
const awayMaxMs = 5000;

/** A file on a disk that can be full. */
export const openFileTarget = (folder: string): PublishingTarget => ({
  url: `file:${folder}?${parameters}&name=file&format=cloudevents`,
  faults: [],
  async events() {
    const lines = (await readFile(join(folder, fileName), "utf8")).split("\n");
    return lines.slice(0, -1).map((line) => JSON.parse(line).data);
  },
  async [Symbol.asyncDispose]() {},
});

/** An exchange of a broker with a queue. Its `publisherUrl` can have faults. */
export async function openExchangeTarget(url: string, publisherUrl: string): Promise<PublishingTarget> {
  const exchange = "published";
  const queue = "published-events";
  const connection = await amqp.connect(url);
  const channel = await connection.createChannel();
  await channel.assertExchange(exchange, "topic", { durable: true });
  await channel.assertQueue(queue, { arguments: { "x-queue-type": "quorum" } });
  await channel.bindQueue(queue, exchange, "#");
  await connection.close();
  const events: LedgerEvent[] = [];
  return {
    url: `${publisherUrl}/?${parameters}&name=exchange&exchange=${exchange}`,
    faults: [],
    async events() {
      const reading = await amqp.connect(url);
      const reader = await reading.createChannel();
      for (;;) {
        const message = await reader.get(queue, { noAck: true });
        if (!message) break;
        events.push(JSON.parse(message.content.toString()));
      }
      await reading.close();
      return events;
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** A target that took nothing can wait for a minute, and an event that was rejected for 5 seconds. */
const publishedWithinMs = 120_000;

/** Waits until each target has every event. Throws a violation if it does not, or if a resource's events are not in order. */
export async function verifyTargets(targets: PublishingTarget[], inOrder: LedgerEvent[]): Promise<number> {
  const giveUpAt = Date.now() + publishedWithinMs;
  const expected = ordersOf(inOrder);
  let count = 0;
  for (const target of targets) {
    const name = /name=(\w+)/.exec(target.url)?.[1];
    for (;;) {
      const events = await target.events();
      const violation = violationOf(ordersOf(events), expected);
      if (violation === undefined) {
        count += events.length;
        break;
      }
      if (Date.now() > giveUpAt) throw new Violation(`the target ${name} ${violation}`);
      await sleep(500);
    }
  }
  return count;
}

/** The keys of each resource's events, each once. */
const ordersOf = (events: LedgerEvent[]) => valuesByResource(events, eventKey);

function violationOf(
  published: Map<string, Set<string>>,
  expected: Map<string, Set<string>>,
): string | undefined {
  const unknown = [...published.keys()].find((resource) => !expected.has(resource));
  if (unknown) return `has events of ${unknown}, which has none`;
  for (const [resource, events] of expected) {
    const found = [...(published.get(resource) ?? [])];
    const missing = [...events].find((key) => !found.includes(key));
    if (missing) return `lacks ${missing}`;
    if (found.join() !== [...events].join()) return `has the events of ${resource} in another order`;
  }
  return undefined;
}
