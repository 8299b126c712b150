import fc from "fast-check";
import { beforeEach, expect, test, vi } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { nameOf, openWebhook, type Received, type Reply } from "../../../testing/webhook.ts";
import type { Database } from "../../database/database.ts";
import { openLog } from "../../process/log.ts";
import { pounds } from "../../values/currency.ts";
import { openNews } from "../../waiting/news.ts";
import { ingest } from "../intake/ingest.ts";
import { readMessage } from "../intake/message.ts";
import type { NewEvent } from "../tables/event.ts";
import { event as eventAt, feedIsComplete } from "../tables/feed/feed.fixture.ts";
import { feedStart } from "../tables/feed/feed.ts";
import { claimPublication, publicationStates } from "../tables/feed/publication.ts";
import { ledgerDatabaseOfFile } from "../tables/ledger-database.fixture.ts";
import { standardDelaysMs, startPublishing } from "./publisher.ts";
import { openPublishingLog } from "./publishing-log.ts";
import { openSession } from "./session.ts";
import { runSession } from "./session-loop.ts";
import { targetSettingOf } from "./targets.ts";

const database = await ledgerDatabaseOfFile();
const empty = () =>
  database.run(`truncate event, event_feed, transaction, transaction_outline, payout, agreement, payment_instrument,
    dead_letter, publication, deferred_delivery`);
beforeEach(empty);

const event = (id: string, second: number, more: Partial<NewEvent> = {}) =>
  eventAt(id, second, { live: true, event_details: { amount: 100 }, ...more });
const store = (...events: NewEvent[]) => ingest(database, { events, rebuilds: [], deadLetters: [] });

const ledgerIds = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"] as const;

/** Publishes at a fast pace. Counts what it does to the database. */
function publish(
  url: string,
  parameters = "from=beginning",
  delaysMs?: number[],
  {
    ledgerId = ledgerIds[0] as string,
    renewEveryMs = 100,
    idleDelayMs = 10,
    news = openNews(),
    accepted = [] as unknown[],
  } = {},
) {
  const query = vi.fn(database.query);
  const transaction = vi.fn(database.transaction<void>);
  const publishing = startPublishing({
    database: {
      ...database,
      query: query as Database["query"],
      transaction: transaction as unknown as Database["transaction"],
    },
    setting: targetSettingOf(`${url}?${parameters}`),
    origin: { ledgerId, source: "/ledgers/test" },
    log: openLog("silent"),
    intervals: { awayDelayMs: 10, idleDelayMs, renewEveryMs, deferredEveryMs: 10 },
    news,
    arrived: (instants) => accepted.push(...instants),
    ...(delaysMs && { delaysMs }),
  });
  return {
    ...publishing,
    /** The number of its statements that begin like this. */
    count: (beginning: string) => query.mock.calls.filter(([text]) => text.startsWith(beginning)).length,
    transaction,
  };
}

/** Events that arrived more than once, for example since the database was away after they were sent, are listed once. */
const namesOf = (received: Received[]) => [...new Set(received.map(({ body }) => nameOf(body)))];
const ofResource = (names: string[], id: string) => names.filter((name) => name.startsWith(`${id} `));
const never = 3_600_000;

/** Stores an event of each of these payments. */
const storeMany = (from: number, to: number, id: string, second = 0) =>
  database.run(`
    insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
    select 'payment', ${id}, timestamptz '2024-01-01Z' + ${second} * interval '1 second', 'PAYMENT_CREATED', '{}'
    from generate_series(${from}, ${to}) as n`);
const rows = <Row>(statement: string) => database.query<Row>(statement);
/** The state of the only target. */
async function stateOf({ url }: { url: string }) {
  const [state] = await publicationStates(database, [targetSettingOf(url).name]);
  return state;
}
/** The events behind the position of the only target; all of them before its first publisher has begun. */
const unpublished = () =>
  rows(`select from event_feed left join publication on true where target is null
    or (event_feed.sql_transaction, event_feed.event_id) > (publication.sql_transaction, publication.event_id)`);

test("many events of any size are published, those of a resource in order, as messages that can be stored again", async () => {
  await using webhook = await openWebhook();
  const sizes = [0, 10, 2000];
  const events = Array.from({ length: 250 }, (_, index) => {
    const length = index % 80 === 0 ? 600_000 : sizes[index % 3];
    return event(`p${index % 7 === 0 ? 0 : index}`, 0, {
      timestamp: new Date(Date.UTC(2024, 0, 1) + index).toISOString().replace("Z", "000Z"),
      event_details: { description: "x".repeat(length as number) },
      ...(index % 3 === 1 && { other_members: { gateway_account_id: 57, trace: { id: "t" } } }),
    });
  });
  await store(...events.slice(0, 150));
  await using _publishing = publish(webhook.url);
  await store(...events.slice(150));
  const published = () => {
    const bodies = new Set(webhook.received.map(({ body }) => body));
    return [...bodies]
      .map((body) => readMessage(body, pounds))
      .map((one) => one.kind === "event" && one.event);
  };
  await eventually(() => expect(published()).toHaveLength(250));
  const inOrder = (published() as NewEvent[]).toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
  expect(inOrder).toEqual(events);
  const timesOf = (all: NewEvent[]) =>
    all.flatMap((one) => (one.resource_external_id === "p0" ? one.timestamp : []));
  expect(timesOf(published() as NewEvent[])).toEqual(timesOf(events));
  expect(JSON.parse(webhook.received.find(({ body }) => body.includes('"p1"'))?.body ?? "")).toEqual({
    resource_type: "payment",
    resource_external_id: "p1",
    timestamp: "2024-01-01T00:00:00.001000Z",
    event_type: "PAYMENT_CREATED",
    live: true,
    event_details: { description: "x".repeat(10) },
    gateway_account_id: 57,
    trace: { id: "t" },
  });
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
    source: "/ledgers/test",
    type: "PAYMENT_CREATED",
    subject: "refund/r1",
    time: "2024-01-01T00:00:01.000000Z",
    datacontenttype: "application/json",
    gatewayaccountid: "57",
    data: expect.objectContaining({ resource_external_id: "r1" }),
  });
  expect(readMessage(body, pounds)).toMatchObject({ kind: "event", event: { resource_external_id: "r1" } });
});

test("the id of an event is that of no other event, also of another ledger or an older state of the database", async () => {
  await using webhook = await openWebhook();
  await store(event("p1", 1), event("p1", 2), event("p2", 1));
  const bodies = () => webhook.received.map(({ body }) => body);
  const ids = () => webhook.received.map(({ id }) => id);
  {
    await using _one = publish(webhook.url);
    await eventually(() => expect(bodies()).toHaveLength(3));
  }
  // The same events have other numbers.
  await empty();
  await store(event("p2", 1), event("p3", 1), event("p1", 2));
  {
    await using _again = publish(webhook.url);
    await eventually(() => expect(bodies()).toHaveLength(6));
  }
  const idsByBody = Map.groupBy(webhook.received, ({ body }) => body);
  for (const received of idsByBody.values()) expect(new Set(received.map(({ id }) => id)).size).toBe(1);
  expect([idsByBody.size, new Set(ids()).size]).toEqual([4, 4]);
  expect(ids().every((id) => id.startsWith(`${ledgerIds[0]}-`) && id.length <= 128)).toBe(true);
  await using _other = publish(webhook.url, "from=beginning&name=other", undefined, {
    ledgerId: ledgerIds[1],
  });
  await eventually(() => expect(bodies()).toHaveLength(9));
  expect(new Set(ids()).size).toBe(7);
});

test("nothing is written while there is nothing to publish, but that the process is the owner", async () => {
  await using webhook = await openWebhook();
  await store(event("p1", 1));
  await using publishing = publish(webhook.url);
  await eventually(async () => expect(await unpublished()).toEqual([]));
  const writes = publishing.transaction.mock.calls.length;
  const pages = publishing.count("with entry");
  await eventually(() => expect(publishing.count("with entry")).toBeGreaterThan(pages + 5));
  expect(publishing.transaction.mock.calls).toHaveLength(writes);
});

test("one of several processes publishes, and another one goes on after it", async () => {
  await using webhook = await openWebhook();
  await store(event("p1", 1));
  const first = publish(webhook.url);
  await eventually(() => expect(namesOf(webhook.received)).toEqual(["p1 1"]));
  await using second = publish(webhook.url);
  await eventually(() => expect(second.count("insert into publication")).toBeGreaterThan(2));
  await store(event("p1", 2), event("p2", 1));
  // The position moves after the confirmations.
  await eventually(async () =>
    expect(
      await database.query(`select from publication where not exists (
        select from event_feed
        where (event_feed.sql_transaction, event_feed.event_id) > (publication.sql_transaction, publication.event_id)
      )`),
    ).toHaveLength(1),
  );
  expect(namesOf(webhook.received).toSorted()).toEqual(["p1 1", "p1 2", "p2 1"]);
  expect(second.transaction).not.toHaveBeenCalled();
  await first[Symbol.asyncDispose]();
  webhook.received.splice(0);
  await store(event("p1", 3));
  await eventually(() => expect(namesOf(webhook.received)).toEqual(["p1 3"]));
});

test("an event that is rejected holds up its resource only, and becomes a dead letter after the last attempt", async () => {
  await using webhook = await openWebhook(({ body }) => (nameOf(body) === "bad 1" ? 400 : 200));
  await store(event("bad", 1), event("good", 1), event("bad", 2));
  await using _publishing = publish(webhook.url, "from=beginning", [never, 10]);
  await eventually(() => expect(namesOf(webhook.received)).toEqual(["good 1"]));
  await store(event("bad", 3), event("good", 2));
  await eventually(() => expect(namesOf(webhook.received)).toEqual(["good 1", "good 2"]));
  await database.run("update deferred_delivery set next_attempt_at = now()");
  await eventually(() => expect(namesOf(webhook.received).slice(2)).toEqual(["bad 2", "bad 3"]));
  // One attempt more than there are delays.
  expect(webhook.attempts.filter(({ body }) => nameOf(body) === "bad 1")).toHaveLength(3);
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

test("a target that limits what it takes gets every event, and no attempt counts", async () => {
  const limits: Reply[] = [429, { status: 429, retryAfter: "0" }, 503, { status: 503, retryAfter: "0" }];
  let count = 0;
  await using webhook = await openWebhook(() => {
    count += 1;
    // It takes seven events, and limits the next three.
    return count % 10 < 7 ? 200 : (limits[count % limits.length] as Reply);
  });
  await storeMany(1, 100, "'p' || n");
  // An attempt that counts would be the last one for long.
  await using _publishing = publish(webhook.url, "from=beginning", [never, never]);
  await eventually(() => expect(namesOf(webhook.received)).toHaveLength(100));
  await eventually(async () => expect(await unpublished()).toEqual([]));
  expect(await rows("select from deferred_delivery")).toEqual([]);
});

test.each([500, 404, "closed"] as const)(
  "a target that takes nothing (%s) gets one request at a time, and every event when it takes some, in order",
  async (reply) => {
    let isAway = true;
    await using webhook = await openWebhook(() => (isAway ? reply : 200));
    for (let second = 0; second < 3; second += 1) await storeMany(1, 20, "'q' || n", second);
    await using _publishing = publish(webhook.url, "from=beginning", [never, never]);
    await eventually(async () =>
      expect((await stateOf(webhook))?.problem).toMatch(/^The target takes nothing: /),
    );
    // Probes go on, and change nothing.
    const attempts = webhook.attempts.length;
    await eventually(() => expect(webhook.attempts.length).toBeGreaterThan(attempts + 3));
    expect(await rows("select from deferred_delivery")).toEqual([]);
    isAway = false;
    await eventually(async () => expect(await unpublished()).toEqual([]));
    const names = namesOf(webhook.received);
    for (let id = 1; id <= 20; id += 1)
      expect(ofResource(names, `q${id}`)).toEqual([`q${id} 0`, `q${id} 1`, `q${id} 2`]);
    await eventually(async () => expect((await stateOf(webhook))?.problem).toBeNull());
    expect(await rows("select from deferred_delivery")).toEqual([]);
  },
);

test("what waits behind a rejected event costs no other a place, and is sent when it is taken", async () => {
  let isRejected = true;
  await using webhook = await openWebhook(({ body }) =>
    isRejected && nameOf(body).startsWith("bad ") ? 422 : 200,
  );
  await store(event("bad", 0));
  await using _publishing = publish(webhook.url, "from=beginning", [never, never]);
  await eventually(() => expect(webhook.attempts).toHaveLength(1));
  await database.run(`
    insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
    select 'payment', 'bad', timestamptz '2024-01-02Z' + n * interval '1 second', 'PAYMENT_CREATED', '{}'
    from generate_series(1, 1200) as n`);
  await storeMany(1, 50, "'good' || n");
  await eventually(() => expect(webhook.received).toHaveLength(50));
  await eventually(async () => expect(await unpublished()).toEqual([]));
  expect(await stateOf(webhook)).toMatchObject({
    problem: null,
    deferred: 1,
    waiting: [
      {
        resource_type: "payment",
        resource_external_id: "bad",
        attempts: 1,
        reason: "the target responded with 422",
      },
    ],
  });
  isRejected = false;
  await database.run("update deferred_delivery set next_attempt_at = now() where attempts = 1");
  await eventually(async () => expect(await rows("select from deferred_delivery")).toEqual([]));
  const bodies = [...new Set(webhook.received.map(({ body }) => body))].filter((body) =>
    body.includes('"bad"'),
  );
  const timestamps = bodies.map((body) => JSON.parse(body).timestamp);
  expect(timestamps).toHaveLength(1201);
  expect(timestamps).toEqual(timestamps.toSorted());
});

test("events that this process has stored are published after news of them, without a look of the clock", async () => {
  await using webhook = await openWebhook();
  const news = openNews();
  await using _publishing = publish(webhook.url, "from=beginning", undefined, { idleDelayMs: never, news });
  for (const id of ["p1", "p2", "p3"]) {
    await store(event(id, 1));
    // Another transaction of the server can keep the event out of the feed for a while.
    await eventually(() => {
      news.emit("news");
      expect(namesOf(webhook.received)).toContain(`${id} 1`);
    });
  }
});

test("the time at which an event was accepted is reported once the target has taken the event", async () => {
  const accepted: unknown[] = [];
  let isRejected = true;
  await using webhook = await openWebhook(() => (isRejected ? 422 : 200));
  await using _publishing = publish(webhook.url, "from=beginning", [never], { accepted });
  const accepted_at = "2024-03-05T09:14:00.123000Z";
  await store(event("p1", 1, { accepted_at }));
  await eventually(async () => expect(await rows("select from deferred_delivery")).toHaveLength(1));
  expect(accepted).toEqual([]);
  isRejected = false;
  await database.run("update deferred_delivery set next_attempt_at = now()");
  await eventually(() => expect(accepted).toEqual([accepted_at]));
  expect(webhook.received.at(-1)?.body).not.toContain("accepted_at");
});

test("a session ends when nothing is in flight any more, and records what the target has taken until then", async () => {
  const { promise: taken, resolve: take } = Promise.withResolvers<undefined[]>();
  const send = vi.fn(() => taken);
  const owner = ledgerIds[0];
  await store(event("p1", 1));
  await claimPublication(database, "slow", { owner, previous: owner }, feedStart);
  const session = openSession({
    database,
    // Like an exchange, it does not stop when it is to.
    target: { requestsAtATime: 1, eventsAtATime: 1, send, async [Symbol.asyncDispose]() {} },
    setting: targetSettingOf("file:/slow?name=slow"),
    origin: { ledgerId: ledgerIds[0], source: "/ledgers/test" },
    log: openPublishingLog(openLog("silent"), "slow"),
    ...{
      owner,
      position: feedStart,
      news: openNews(),
      arrived() {},
      delaysMs: [never],
      record: async () => {},
    },
    intervals: { awayDelayMs: 10, idleDelayMs: 10, deferredEveryMs: 10 },
  });
  const stop = new AbortController();
  const ended = vi.fn();
  const running = runSession(session, stop.signal).then(ended);
  await eventually(() => expect(send).toHaveBeenCalled());
  stop.abort();
  for (let count = 0; count < 3; count += 1) expect(await unpublished()).toHaveLength(1);
  expect(ended).not.toHaveBeenCalled();
  take([undefined]);
  await running;
  expect(await unpublished()).toEqual([]);
});

test("events that the previous release has left behind another one, without a time, are sent", async () => {
  await using webhook = await openWebhook();
  await store(event("p1", 1), event("p1", 2));
  await feedIsComplete(database);
  const { name } = targetSettingOf(webhook.url);
  await database.run(`
    insert into deferred_delivery
    select '${name}', sql_transaction, event_id, resource_type, resource_external_id, 0, 'infinity'
    from event_feed join event on event.id = event_id where not only_of_account;
    insert into publication (target, sql_transaction, event_id, timestamp)
    select '${name}', sql_transaction, event_id, '2024-01-01Z' from deferred_delivery order by event_id desc limit 1`);
  await using _publishing = publish(webhook.url);
  await eventually(() => expect(namesOf(webhook.received)).toEqual(["p1 1", "p1 2"]));
  await eventually(async () => expect(await rows("select from deferred_delivery")).toEqual([]));
});

test("a webhook gets up to `requests_at_a_time` events at the same time, none of them of the same resource", async () => {
  const inFlight: string[] = [];
  let most = 0;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await using webhook = await openWebhook(async ({ body }) => {
    const [resource = ""] = nameOf(body).split(" ");
    expect(inFlight).not.toContain(resource);
    most = Math.max(most, inFlight.push(resource));
    await released;
    inFlight.splice(inFlight.indexOf(resource), 1);
    return 200;
  });
  await storeMany(1, 20, "'p' || n");
  await storeMany(1, 20, "'p' || n", 1);
  await using _publishing = publish(webhook.url, "from=beginning&requests_at_a_time=7");
  await eventually(() => expect(most).toBe(7));
  release();
  await eventually(() => expect(namesOf(webhook.received)).toHaveLength(40));
  expect(most).toBe(7);
});

test("an attempt without a response holds up its resource only, and the position", async () => {
  await using webhook = await openWebhook(({ body }) => (nameOf(body) === "slow 1" ? "hangs" : 200));
  await store(event("slow", 1), event("slow", 2), ...["a", "b", "c"].map((id) => event(id, 1)));
  {
    await using _publishing = publish(webhook.url);
    await eventually(() => expect(namesOf(webhook.received).toSorted()).toEqual(["a 1", "b 1", "c 1"]));
    await store(event("a", 2), event("d", 1));
    await eventually(() => expect(namesOf(webhook.received)).toHaveLength(5));
    expect(await unpublished()).toHaveLength(7);
  }
  expect(ofResource(namesOf(webhook.received), "slow")).toEqual([]);
  expect(await rows("select from deferred_delivery")).toEqual([]);
});

test("rejected events of many resources stop nothing", async () => {
  await using webhook = await openWebhook(({ body }) => (nameOf(body).startsWith("bad") ? 413 : 200));
  await storeMany(1, 1200, "'bad' || n");
  await using _publishing = publish(webhook.url, "from=beginning", [never]);
  await storeMany(1, 5, "'good' || n");
  await eventually(() => expect(webhook.received).toHaveLength(5));
  await eventually(async () => expect(await unpublished()).toEqual([]));
  const state = await stateOf(webhook);
  expect(state).toMatchObject({ problem: null, deferred: 1000 });
  expect(state?.waiting).toHaveLength(10);
});

test("an event of many that all fail for themselves has ten attempts, like each of the others", async () => {
  await using webhook = await openWebhook(({ body }) => {
    const name = nameOf(body);
    return name.startsWith("bad") ? (name.startsWith("bad1") ? 500 : 400) : 200;
  });
  await storeMany(1, 12, "'bad' || n");
  await using _publishing = publish(webhook.url, "from=beginning", Array(9).fill(1));
  let second = 0;
  // Without other events, nothing shows that the target is there.
  await eventually(async () => {
    second += 1;
    await storeMany(1, 1, "'good'", second);
    expect(await rows("select from dead_letter")).toHaveLength(12);
  });
  const attemptsFor = (id: string) =>
    webhook.attempts.filter(({ body }) => nameOf(body).startsWith(`${id} `)).length;
  expect(attemptsFor("bad2")).toBe(10);
  expect(attemptsFor("bad1")).toBeGreaterThanOrEqual(10);
  expect(await rows("select from deferred_delivery")).toEqual([]);
});

test("the ten attempts for an event take three days, as Standard Webhooks recommends", () => {
  const minutes = standardDelaysMs.map((delay) => delay / 60_000);
  const hours = [2, 5, 10, 14, 20, 24].map((count) => count * 60);
  expect(minutes).toEqual([5 / 60, 5, 30, ...hours]);
});

test("the database has the problem of a target at once, also if the ownership is renewed later", async () => {
  let reply: Reply = 429;
  await using webhook = await openWebhook(() => reply);
  await store(event("p1", 1));
  await using _publishing = publish(webhook.url, "from=beginning", [never], { renewEveryMs: never });
  const problem = async () => (await stateOf(webhook))?.problem;
  await eventually(async () =>
    expect(await problem()).toMatch(
      /^Limited by the target: nothing is sent before \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: the target responded with 429$/,
    ),
  );
  reply = 500;
  const [{ id }] = (await rows("select id from event")) as [{ id: bigint }];
  await eventually(async () =>
    expect(await problem()).toBe(
      `The target has not taken event ${id} of payment/p1: the target responded with 500`,
    ),
  );
  await store(event("p2", 1));
  await eventually(async () =>
    expect(await problem()).toBe("The target takes nothing: the target responded with 500"),
  );
  reply = 200;
  await eventually(async () => expect(await problem()).toBeNull());
});

test("a target that responds after the ownership was lost does not move the position", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<Reply>();
  await using webhook = await openWebhook(() => released);
  await store(event("p1", 1), event("p1", 2));
  await using publishing = publish(webhook.url, "from=beginning", [never], { renewEveryMs: never });
  await eventually(() => expect(webhook.attempts).toHaveLength(1));
  await database.run(
    "update publication set owner = gen_random_uuid(), owned_until = now() + interval '1 hour', event_id = 0",
  );
  const before = await rows("select * from publication");
  const claims = publishing.count("insert into publication");
  release(200);
  await eventually(() => expect(publishing.count("insert into publication")).toBeGreaterThan(claims));
  expect(await rows("select * from publication")).toEqual(before);
  expect(await rows("select from deferred_delivery")).toEqual([]);
});

/**
 * As a failover that loses the last event: another one is stored instead, with a place before the lost one. The owner of the
 * publication stays.
 */
const failOver = () =>
  database.run(`
    delete from event where id = (select max(id) from event);
    update publication set (sql_transaction, event_id, timestamp) = (
      select sql_transaction, event_id, event.timestamp from event_feed join event on event.id = event_id
      order by sql_transaction desc, event_id desc limit 1
    );
    delete from event_feed where event_id not in (select id from event);
    insert into event (resource_type, resource_external_id, timestamp, event_type, event_details)
      values ('payment', 'instead', '2024-01-01Z', 'PAYMENT_CREATED', '{}');
    update event_feed set sql_transaction = (select sql_transaction from publication)
      where event_id = (select max(id) from event)`);

test("events that were stored after a failover are published, although their places are before those of lost ones", async () => {
  await using webhook = await openWebhook();
  await store(event("p1", 1));
  await using _publishing = publish(webhook.url);
  await eventually(async () => expect(await unpublished()).toEqual([]));
  await store(event("lost", 1));
  await eventually(() => expect(namesOf(webhook.received)).toEqual(["p1 1", "lost 1"]));
  await eventually(async () => expect(await unpublished()).toEqual([]));
  await failOver();
  await eventually(() => expect(namesOf(webhook.received)).toEqual(["p1 1", "lost 1", "instead 0"]));
  await eventually(async () => expect(await unpublished()).toEqual([]));
});

test("the position does not move to an event that a failover has lost", async () => {
  let isLost = false;
  await using webhook = await openWebhook();
  await store(event("p1", 1));
  await using publishing = publish(webhook.url);
  await eventually(async () => expect(await unpublished()).toEqual([]));
  publishing.transaction.mockImplementationOnce(async (work) => {
    await failOver();
    isLost = true;
    return database.transaction(work);
  });
  await store(event("lost", 1));
  await eventually(() => expect(isLost).toBe(true));
  await eventually(() => expect(namesOf(webhook.received)).toEqual(["p1 1", "lost 1", "instead 0"]));
  await eventually(async () => expect(await unpublished()).toEqual([]));
});

test("a publication whose event is lost goes on behind the one before it", async () => {
  await using webhook = await openWebhook();
  await store(event("p1", 1));
  {
    await using _before = publish(webhook.url);
    await eventually(async () => expect(await unpublished()).toEqual([]));
  }
  await database.run("update publication set sql_transaction = sql_transaction + 1000000");
  await using after = publish(webhook.url);
  await eventually(() => expect(after.count("with entry")).toBeGreaterThan(0));
  await store(event("p2", 1));
  await eventually(() => expect(namesOf(webhook.received)).toEqual(["p1 1", "p2 1"]));
});

test("whatever the target does, each event arrives, in order per resource, or is a dead letter", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom<Reply>(200, 200, 200, 400, 429, 500, 503, "closed"), {
        minLength: 1,
        maxLength: 40,
      }),
      fc.array(fc.constantFrom("p1", "p2", "p3"), { minLength: 1, maxLength: 15 }),
      async (statuses, resources) => {
        await empty();
        let requests = 0;
        await using webhook = await openWebhook(() => statuses[requests++] ?? 200);
        const events = resources.map((id, index) => event(id, index));
        await using _publishing = publish(webhook.url, "from=beginning", [10, 10, 10, 10]);
        for (const one of events) await eventually(() => store(one));
        await eventually(async () => {
          const dead = await database.query<{ body: Uint8Array }>("select body from dead_letter");
          const deadNames = dead.map(({ body }) => nameOf(Buffer.from(body).toString()));
          const arrived = namesOf(webhook.received);
          const expected = events.map((one) => nameOf(JSON.stringify(one)));
          expect([...new Set([...arrived, ...deadNames])].toSorted()).toEqual(expected.toSorted());
          const alive = (names: string[], id: string) =>
            ofResource(names, id).filter((name) => !deadNames.includes(name));
          for (const id of ["p1", "p2", "p3"]) expect(alive(arrived, id)).toEqual(alive(expected, id));
        });
      },
    ),
    { numRuns: 8 },
  );
});
