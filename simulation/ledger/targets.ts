import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import amqp from "amqplib";
import { fileName } from "../../src/ledger/publishing/targets/file.ts";
import { exchangeViolation, fileViolation } from "../../testing/delivery-check.ts";
import type { Random } from "../../testing/random.ts";
import { openWebhook, type Received, type Reply } from "../../testing/webhook.ts";
import type { Fault } from "../faults.ts";
import { Violation } from "../violation.ts";
import { keyOf, valuesByResource } from "./feed.ts";
import { eventKey, type LedgerEvent } from "./messages.ts";

/** A target to which the ledgers publish events. */
export interface PublishingTarget extends AsyncDisposable {
  url: string;
  faults: Fault[];
  /** The events that have arrived, in order. Any of them can be there again. */
  events(): Promise<LedgerEvent[]>;
  /** The resource whose events it rejects for ever from some event on. Default: none. */
  rejected?(): string | undefined;
}

const parameters = "from=beginning";

/** The state of a webhook. While it is `limited`, it takes some requests a second. */
type Mode = "here" | "away" | "broken" | "limited";
const limitedPerSecond = 20;
const awayMaxMs = 5000;
/**
 * It is broken until requests have come for this time: for longer than the delay of the second attempt and a suspension of the
 * publisher. If attempts counted meanwhile, the third would be after five minutes.
 */
const brokenMs = 12_000;
/** A longer pause between requests shows that no process publishes: another one takes over from a killed one later. */
const pauseMaxMs = 6000;
/** After this time it ends in the next such pause. An error just before the end could count as an attempt. */
const brokenMaxMs = 40_000;
const noRequests = { from: 0, to: Number.NEGATIVE_INFINITY };

/**
 * A webhook that responds with errors now and then, for some time or to some events, and sometimes to none or not at all. While
 * it is here, an event fails once, since its third attempt is after five minutes.
 */
export async function openWebhookTarget(random: Random): Promise<PublishingTarget> {
  let mode: Mode = "here";
  let hangsNext = false;
  let rejectsNext = false;
  let rejected: string | undefined;
  let second = { number: 0, requests: 0 };
  /** The first and the last request while it is broken, since the last pause. */
  let requests = noRequests;
  const failed = new Set<string>();

  function limit(): Reply {
    const number = Math.floor(performance.now() / 1000);
    second = { number, requests: number === second.number ? second.requests + 1 : 1 };
    return second.requests <= limitedPerSecond ? 200 : { status: 429, retryAfter: "1" };
  }

  const isPausedAt = (now: number) => now - requests.to > pauseMaxMs;

  function breakDown(): Reply {
    const to = performance.now();
    requests = { from: isPausedAt(to) ? to : requests.from, to };
    return 500;
  }

  function replyTo({ id, body }: Received): Reply {
    const { resource_type, resource_external_id } = JSON.parse(body);
    const resource = keyOf(resource_type, resource_external_id);
    if (rejectsNext) [rejectsNext, rejected] = [false, resource];
    if (resource === rejected) return 422;
    if (mode === "away") return 503;
    if (mode === "broken") return breakDown();
    if (mode === "limited") return limit();
    if (failed.has(id) || !(hangsNext || random.chance(0.02))) return 200;
    failed.add(id);
    // 429 would stop everything for a second each time.
    if (!hangsNext) return random.pick<Reply>(["closed", 400, 500, 502]);
    hangsNext = false;
    return "hangs";
  }

  const webhook = await openWebhook(replyTo);
  const fault = (kind: string, inject: () => Promise<unknown>): Fault => ({
    component: "webhook",
    kind: `webhook ${kind}`,
    inject,
  });
  const during = (some: Mode, minMs: number, maxMs: number) => async () => {
    mode = some;
    await sleep(random.integer(minMs, maxMs));
    mode = "here";
  };
  async function beBroken(): Promise<void> {
    requests = noRequests;
    mode = "broken";
    const giveUpAt = performance.now() + brokenMaxMs;
    const isOverAt = (now: number) =>
      requests.to - requests.from >= brokenMs || (now >= giveUpAt && isPausedAt(now));
    while (!isOverAt(performance.now())) await sleep(100);
    mode = "here";
  }
  return {
    url: `${webhook.url}?${parameters}&name=webhook`,
    faults: [
      { ...fault("broken", beBroken), isFirst: true },
      fault("away", during("away", 0, awayMaxMs)),
      fault("limited", during("limited", awayMaxMs, awayMaxMs)),
      fault("without a response", async () => {
        hangsNext = true;
      }),
      fault("rejects a resource", async () => {
        rejectsNext = rejected === undefined;
      }),
    ],
    events: async () => webhook.received.map(({ body }) => JSON.parse(body)),
    rejected: () => rejected,
    [Symbol.asyncDispose]: () => webhook[Symbol.asyncDispose](),
  };
}

function throwIf(target: string, violation: string | undefined): void {
  if (violation) throw new Violation(`a delivery to the ${target} violates the contract: ${violation}`);
}

/** A file on a disk that can be full. */
export const openFileTarget = (folder: string): PublishingTarget => ({
  url: `file:${folder}?${parameters}&name=file&format=cloudevents`,
  faults: [],
  async events() {
    const text = await readFile(join(folder, fileName), "utf8");
    throwIf("file", fileViolation(text));
    const lines = text.split("\n");
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
      const violations: (string | undefined)[] = [];
      for (;;) {
        const message = await reader.get(queue, { noAck: true });
        if (!message) break;
        violations.push(exchangeViolation(message));
        events.push(JSON.parse(message.content.toString()));
      }
      await reading.close();
      throwIf("exchange", violations.find(Boolean));
      return events;
    },
    async [Symbol.asyncDispose]() {},
  };
}

/**
 * A target that took nothing gets a request every 5 seconds, an event that was rejected waits for 5 seconds, one without a
 * response for 20, and a process that ends is replaced within 13. An event with two attempts would wait for 5 minutes.
 */
const silentMaxMs = 120_000;

/**
 * Waits until each target has every event, without those behind a rejected one of their resource. Throws a violation, with the
 * state of the targets that `readHealth` resolves with, if one lacks an event although nothing has arrived for two minutes, or
 * if a resource's events are not in order.
 */
export async function verifyTargets(
  targets: PublishingTarget[],
  inOrder: LedgerEvent[],
  readHealth: () => Promise<string>,
): Promise<number> {
  const expected = ordersOf(inOrder);
  let count = 0;
  for (const target of targets) {
    const name = /name=(\w+)/.exec(target.url)?.[1];
    let last = { arrived: -1, at: 0 };
    for (;;) {
      const events = await target.events();
      if (events.length > last.arrived) last = { arrived: events.length, at: performance.now() };
      const violation = violationOf(ordersOf(events), expected, target.rejected?.());
      if (violation === undefined) {
        count += events.length;
        break;
      }
      if (performance.now() > last.at + silentMaxMs) {
        throw new Violation(`the target ${name} ${violation}; the health is ${await readHealth()}`);
      }
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
  rejected: string | undefined,
): string | undefined {
  const unknown = [...published.keys()].find((resource) => !expected.has(resource));
  if (unknown) return `has events of ${unknown}, which has none`;
  for (const [resource, events] of expected) {
    const found = [...(published.get(resource) ?? [])];
    const due = resource === rejected ? [...events].slice(0, found.length) : [...events];
    const missing = due.find((key) => !found.includes(key));
    if (missing) return `lacks ${missing}`;
    if (found.join() !== due.join()) return `has the events of ${resource} in another order`;
  }
  return undefined;
}
