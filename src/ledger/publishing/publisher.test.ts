import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { nameOf, openWebhook, type Received } from "../../../testing/webhook.ts";
import type { Database } from "../../database/database.ts";
import { openLog } from "../../process/log.ts";
import { ingest } from "../intake/ingest.ts";
import { readMessage } from "../intake/message.ts";
import type { NewEvent } from "../tables/event.ts";
import { event as eventAt, feedIsComplete } from "../tables/feed.fixture.ts";
import { openLedgerDatabase } from "../tables/ledger-database.fixture.ts";
import { startPublishing } from "./publisher.ts";
import { targetSettingOf } from "./target.ts";

let database: Database;
beforeAll(async () => {
  database = await openLedgerDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(() =>
  database.run(`truncate event, event_feed, transaction, transaction_outline, payout, agreement, payment_instrument,
    dead_letter, publication, deferred_delivery`),
);

const event = (id: string, second: number, more: Partial<NewEvent> = {}) =>
  eventAt(id, second, { live: true, event_details: { amount: 100 }, ...more });
const store = (...events: NewEvent[]) => ingest(database, { events, rebuilds: [], deadLetters: [] });
const publish = (url: string, parameters = "from=beginning", delaysMs?: number[]) =>
  startPublishing({
    database,
    setting: targetSettingOf(`${url}?${parameters}`),
    log: openLog("silent"),
    ...(delaysMs && { delaysMs }),
  });
const namesOf = (received: Received[]) => received.map(({ body }) => nameOf(body));
const ofResource = (names: string[], id: string) => names.filter((name) => name.startsWith(`${id} `));

test("every stored event is published, in order per resource, and each is a message that can be stored again", async () => {
  await using webhook = await openWebhook();
  const events = Array.from({ length: 30 }, (_, index) => event(`p${index % 4}`, index));
  await store(...events.slice(0, 15));
  await using _publishing = publish(webhook.url);
  await store(...events.slice(15));
  await eventually(() => expect(webhook.received).toHaveLength(30));
  const names = namesOf(webhook.received);
  for (const id of ["p0", "p1", "p2", "p3"])
    expect(ofResource(names, id)).toEqual(
      ofResource(
        events.map((one) => nameOf(JSON.stringify(one))),
        id,
      ),
    );
  expect(webhook.received.map(({ body }) => readMessage(body))).toEqual(
    expect.arrayContaining(events.map((one) => ({ kind: "event", event: one }))),
  );
  expect(JSON.parse(webhook.received[0]?.body ?? "")).toEqual({
    resource_type: "payment",
    resource_external_id: "p0",
    timestamp: "2024-01-01T00:00:00.000000Z",
    event_type: "PAYMENT_CREATED",
    live: true,
    event_details: { amount: 100 },
  });
});

test("many events of any size are published, those of a resource in order", async () => {
  await using webhook = await openWebhook();
  const sizes = [0, 10, 2000];
  const events = Array.from({ length: 450 }, (_, index) => {
    const length = index % 90 === 0 ? 600_000 : sizes[index % 3];
    return event(`p${index % 7 === 0 ? 0 : index}`, 0, {
      timestamp: new Date(Date.UTC(2024, 0, 1) + index).toISOString().replace("Z", "000Z"),
      event_details: { description: "x".repeat(length as number) },
    });
  });
  for (let index = 0; index < events.length; index += 150) await store(...events.slice(index, index + 150));
  await using _publishing = publish(webhook.url);
  await eventually(() => expect(webhook.received).toHaveLength(450));
  const timesOf = (bodies: object[], id?: string) =>
    (bodies as NewEvent[])
      .filter(({ resource_external_id }) => !id || resource_external_id === id)
      .map(({ timestamp }) => timestamp);
  const received = webhook.received.map(({ body }) => JSON.parse(body));
  expect(timesOf(received, "p0")).toEqual(timesOf(events, "p0"));
  expect(timesOf(received).sort()).toEqual(timesOf(events));
});

test("a target that rejects every event gets no more than 1,200 until it takes them", async () => {
  let isRejected = true;
  await using webhook = await openWebhook(() => (isRejected ? 400 : 200));
  const events = Array.from({ length: 1500 }, (_, index) => event(`p${index}`, 1));
  for (let index = 0; index < events.length; index += 300) await store(...events.slice(index, index + 300));
  await using _publishing = publish(webhook.url, "from=beginning", [3_600_000, 3_600_000]);
  await eventually(() => expect(webhook.attempts.length).toBeGreaterThanOrEqual(1000));
  await sleep(1500);
  expect(webhook.attempts.length).toBeLessThanOrEqual(1200);
  isRejected = false;
  await database.run("update deferred_delivery set next_attempt_at = now()");
  await eventually(() => expect(webhook.received).toHaveLength(1500));
  expect(await database.query("select from dead_letter")).toEqual([]);
});

test("a target begins with the events that are stored from now on, unless it begins with all", async () => {
  await using webhook = await openWebhook();
  await store(event("old", 1));
  await feedIsComplete(database);
  await using _publishing = publish(webhook.url, "format=event");
  await eventually(async () => expect(await database.query("select from publication")).toHaveLength(1));
  await store(event("new", 1));
  await eventually(() => expect(namesOf(webhook.received)).toEqual(["new 1"]));
});

test("filters resource types, and wraps events as CloudEvents", async () => {
  await using webhook = await openWebhook();
  await store(
    event("r1", 1, { resource_type: "refund", event_details: { gateway_account_id: "57" } }),
    event("p1", 1),
  );
  await using _publishing = publish(
    webhook.url,
    "from=beginning&format=cloudevents&resource_types=refund,dispute",
  );
  await eventually(() => expect(webhook.received).toHaveLength(1));
  const [{ body, contentType, id }] = webhook.received as [Received];
  expect(contentType).toBe("application/cloudevents+json");
  expect(JSON.parse(body)).toEqual({
    specversion: "1.0",
    id,
    source: "/payment-ledger",
    type: "PAYMENT_CREATED",
    subject: "refund/r1",
    time: "2024-01-01T00:00:01.000000Z",
    datacontenttype: "application/json",
    gatewayaccountid: "57",
    data: expect.objectContaining({ resource_external_id: "r1" }),
  });
  expect(readMessage(body)).toMatchObject({ kind: "event", event: { resource_external_id: "r1" } });
});

test("one of several processes publishes, and another one goes on after it", async () => {
  await using webhook = await openWebhook();
  await store(event("p1", 1));
  const first = publish(webhook.url);
  await eventually(() => expect(webhook.received).toHaveLength(1));
  await using _second = publish(webhook.url);
  await store(event("p1", 2), event("p2", 1));
  await eventually(() => expect(webhook.received).toHaveLength(3));
  // The position moves after the confirmations.
  await eventually(async () =>
    expect(
      await database.query(`select from publication where not exists (
        select from event_feed
        where (event_feed.sql_transaction, event_feed.event_id) > (publication.sql_transaction, publication.event_id)
      )`),
    ).toHaveLength(1),
  );
  await first[Symbol.asyncDispose]();
  await store(event("p1", 3));
  await eventually(() => expect(webhook.received).toHaveLength(4));
  await sleep(500);
  expect(namesOf(webhook.received).toSorted()).toEqual(["p1 1", "p1 2", "p1 3", "p2 1"]);
});

test("while the target takes nothing, events wait; then all arrive in order", async () => {
  let isAway = true;
  await using webhook = await openWebhook(() => (isAway ? 503 : 200));
  await store(event("p1", 1), event("p2", 1));
  await using _publishing = publish(webhook.url);
  await eventually(() => expect(webhook.attempts.length).toBeGreaterThan(3));
  await store(event("p1", 2));
  expect(await database.query("select from deferred_delivery")).toEqual([]);
  isAway = false;
  await eventually(() => expect(webhook.received).toHaveLength(3));
  expect(ofResource(namesOf(webhook.received), "p1")).toEqual(["p1 1", "p1 2"]);
});

test("an event that is rejected holds up its resource only, and becomes a dead letter after the last attempt", async () => {
  await using webhook = await openWebhook(({ body }) => (nameOf(body) === "bad 1" ? 400 : 200));
  await store(event("bad", 1), event("good", 1), event("bad", 2));
  const never = 3_600_000;
  await using _publishing = publish(webhook.url, "from=beginning", [never, 100]);
  await eventually(() => expect(namesOf(webhook.received)).toEqual(["good 1"]));
  await store(event("bad", 3), event("good", 2));
  await eventually(() => expect(namesOf(webhook.received)).toEqual(["good 1", "good 2"]));
  await database.run("update deferred_delivery set next_attempt_at = now()");
  await eventually(() => expect(webhook.received).toHaveLength(4));
  expect(namesOf(webhook.received).slice(2)).toEqual(["bad 2", "bad 3"]);
  expect(namesOf(webhook.attempts).filter((name) => name === "bad 1")).toHaveLength(3);
  const [deadLetter, ...others] = await database.query(
    "select target, reason, source_id, event_id from dead_letter",
  );
  expect(others).toEqual([]);
  const [{ id }] = (await database.query(
    "select id from event where resource_external_id = 'bad' order by id limit 1",
  )) as [{ id: bigint }];
  const target = webhook.url.replace(/:[^/]*@/, "");
  expect(deadLetter).toEqual({
    target,
    event_id: id,
    source_id: `${target} ${id}`,
    reason: "the target rejects it: the target responded with 400",
  });
  // They are removed after the confirmation.
  await eventually(async () => expect(await database.query("select from deferred_delivery")).toEqual([]));
});

test("whatever the target does, each event arrives, in order per resource, or is a dead letter", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(200, 200, 200, 400, 500, 503), { minLength: 1, maxLength: 40 }),
      fc.array(fc.constantFrom("p1", "p2", "p3"), { minLength: 1, maxLength: 15 }),
      async (statuses, resources) => {
        await database.run(
          "truncate event, event_feed, transaction, transaction_outline, dead_letter, publication, deferred_delivery",
        );
        let requests = 0;
        await using webhook = await openWebhook(() => statuses[requests++] ?? 200);
        const events = resources.map((id, index) => event(id, index));
        await using _publishing = publish(webhook.url, "from=beginning", [10, 10, 10, 10]);
        for (const one of events) await store(one);
        await eventually(async () => {
          const dead = await database.query<{ body: Uint8Array }>("select body from dead_letter");
          const deadNames = dead.map(({ body }) => nameOf(Buffer.from(body).toString()));
          const arrived = namesOf(webhook.received);
          const expected = events.map((one) => nameOf(JSON.stringify(one)));
          expect([...arrived, ...deadNames].toSorted()).toEqual(expected.toSorted());
          for (const id of ["p1", "p2", "p3"])
            expect(ofResource(arrived, id)).toEqual(
              ofResource(expected, id).filter((name) => !deadNames.includes(name)),
            );
        });
      },
    ),
    { numRuns: 8 },
  );
});
