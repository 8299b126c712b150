import fc from "fast-check";
import { Registry } from "prom-client";
import { beforeEach, describe, expect, test, vi } from "vitest";
import contract from "../../../generated/ledger.json" with { type: "json" };
import type { components } from "../../../generated/ledger.ts";
import { eventually } from "../../../testing/eventually.ts";
import { message } from "../../../testing/messages.ts";
import { openLog } from "../../process/log.ts";
import { pounds } from "../../values/currency.ts";
import { openIntake } from "../intake/intake.ts";
import { readMessage } from "../intake/message.ts";
import type { Queue } from "../queue/queue.ts";
import { openQueue } from "../queue/queues.ts";
import { type DeadLetter, discardDeadLetters, saveDeadLetters } from "../tables/dead-letter.ts";
import { addToFreshnessMinutes } from "../tables/freshness-minute.ts";
import { addToIntakeMinutes } from "../tables/intake-minute.ts";
import { ledgerOfFile, openApp } from "./ledger.fixture.ts";

type Freshness = components["schemas"]["Freshness"];
type Fault = components["schemas"]["Fault"];

const ledger = await ledgerOfFile();
const { database } = ledger;
beforeEach(async () => {
  await ledger.saveIntake();
  await database.run("truncate intake_minute, freshness_minute; truncate dead_letter restart identity");
});

/** Saves these bodies as dead letters, as the receiver does, and returns their numbers. */
async function saveBodies(...bodies: (string | Uint8Array)[]): Promise<bigint[]> {
  const batch = `${Date.now()}-${Math.random()}-`;
  const saved = bodies.map((body, index): DeadLetter => {
    const read = typeof body === "string" ? readMessage(body, pounds) : undefined;
    const reason = read?.kind === "invalid" ? read.reason : "a test";
    return { source_id: batch + String(index).padStart(6, "0"), body: Buffer.from(body), reason };
  });
  await saveDeadLetters(database, saved);
  const rows = await database.query<{ id: bigint }>(
    "select id from dead_letter where starts_with(source_id, $1) order by source_id",
    [batch],
  );
  return rows.map(({ id }) => id);
}

async function detailOf(body: string | Uint8Array) {
  const [id] = await saveBodies(body);
  return ledger.get(`/v1/dead-letter/${id}`);
}

/** The numbers of all minutes together. */
async function intakeTotals() {
  const { minutes } = (await ledger.get("/v1/intake")) as { minutes: Record<string, number>[] };
  const names = ["stored", "duplicate", "rebuilt", "dead_letter", "retried"];
  const totalOf = (name: string) => minutes.reduce((sum, minute) => sum + (minute[name] ?? 0), 0);
  return Object.fromEntries(names.map((name) => [name, totalOf(name)]));
}

/** How many events have become visible in each destination. */
const visibleEvents = (freshness: Freshness[]): string[] =>
  freshness.map(({ destination, events }) => `${destination} ${events}`);

describe("the intake", () => {
  test("has what became of the messages in each minute, and the open dead letters", async () => {
    const begun = Date.now();
    const empty = { messages_waiting: 0, open_dead_letters: 0, minutes: [], freshness: [] };
    expect(await ledger.get("/v1/intake")).toEqual(empty);
    const one = message({ resource_external_id: "one" });
    await ledger.store([one]);
    await ledger.send(one, message({ resource_external_id: "one", reproject_domain_object: true }));
    await ledger.sendText("{", "[]");
    const expected = { stored: 1, duplicate: 1, rebuilt: 1, dead_letter: 2, retried: 0 };
    await eventually(async () => {
      await ledger.saveIntake();
      expect(await intakeTotals()).toEqual(expected);
      const { freshness } = await ledger.get("/v1/intake");
      expect(visibleEvents(freshness)).toEqual(["feed 1", "lookup 1", "report 1"]);
    });
    const { minutes, freshness: _, ...others } = await ledger.get("/v1/intake");
    expect(others).toEqual({ messages_waiting: 0, open_dead_letters: 2 });
    for (const { minute, lag_ms_average, lag_ms_max } of minutes) {
      expect(minute).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/);
      expect(Date.parse(minute)).toBeGreaterThan(begun - 60_000);
      expect(lag_ms_average).toBeLessThanOrEqual(lag_ms_max);
      expect(lag_ms_max).toBeLessThanOrEqual(Date.now() - begun);
    }
  });

  test("has how long events took until they were visible, of all processes, in this minute and the one before", async () => {
    await ledger.store([
      message({ resource_external_id: "fresh" }),
      message({ resource_external_id: "fresher" }),
    ]);
    const begun = Date.now() - 60_000;
    await eventually(async () => {
      await ledger.saveIntake();
      const { freshness } = await ledger.get("/v1/intake");
      expect(visibleEvents(freshness)).toEqual(["feed 2", "lookup 2", "report 2"]);
      for (const { p50_ms, p99_ms } of freshness) {
        expect(p50_ms).toBeLessThanOrEqual(p99_ms);
        expect(p99_ms).toBeLessThan(Date.now() - begun);
      }
    });
    const rows = [1, 2, 3].flatMap((minutes) => [
      { destination: "target shop", visible_ms: 5 * minutes, events: 90 },
      { destination: "target shop", visible_ms: 200, events: 10 },
      { destination: "target shop", visible_ms: 100, events: minutes },
    ]);
    await database.run("truncate freshness_minute");
    const now = new Date().toISOString();
    for (const row of rows) await addToFreshnessMinutes(database, [{ minute: now, ...row }]);
    await addToFreshnessMinutes(database, [
      { minute: new Date(Date.now() - 180_000).toISOString(), destination: "feed", visible_ms: 1, events: 1 },
    ]);
    expect((await ledger.get("/v1/intake")).freshness).toEqual([
      { destination: "target shop", p50_ms: 10, p99_ms: 200, events: 306 },
    ]);
  });

  test("has no lag for messages whose time of sending is unknown", async () => {
    const intake = openIntake(database, pounds, new Registry(), openLog("silent"));
    await intake.store({ events: [], rebuilds: [], deadLetters: [] }, [{}]);
    await addToIntakeMinutes(database, intake.minutes.take());
    const { minutes } = await ledger.get("/v1/intake");
    expect(minutes).toMatchObject([{ stored: 0, lag_ms_average: null, lag_ms_max: null }]);
  });

  test("has the minutes of the last hour only", async () => {
    await database.run(`
      insert into intake_minute select date_trunc('minute', now()) - n * interval '1 minute', n, 0, 0, 0, 0, 0, 0, 0
      from generate_series(-5, 200) as n`);
    const { minutes } = await ledger.get("/v1/intake");
    expect(minutes.length).toBeLessThanOrEqual(61);
    const stored = minutes.map((minute: { stored: number }) => minute.stored);
    expect(stored.slice(0, -2)).toEqual(
      Array.from({ length: stored.length - 2 }, (_, index) => stored[0] - index),
    );
    expect(stored.at(-1)).toBeLessThanOrEqual(1);
  });

  /** Requests at the same time to an API with this queue. */
  async function requestWith(queue: Partial<Queue>, count = 1) {
    await using real = await openQueue("memory:");
    await using api = await openApp({ database, queue: { ...real, ...queue } });
    return await Promise.all(Array.from({ length: count }, () => api.app.inject("/v1/intake")));
  }

  test.each([
    ["cannot be reached", () => Promise.reject(new Error("it is down"))],
    ["does not respond", () => new Promise<never>(() => {})],
  ])("has no number of waiting messages if the queue %s", async (_state, countWaiting) => {
    const [response] = await requestWith({ countWaiting });
    expect(response?.statusCode).toBe(200);
    expect(response?.json()).toMatchObject({ messages_waiting: null, open_dead_letters: 0 });
  });

  test("is read once for requests at the same time", async () => {
    const countWaiting = vi.fn(async () => 7);
    const responses = await requestWith({ countWaiting }, 50);
    expect(new Set(responses.map(({ body }) => body)).size).toBe(1);
    expect(responses[0]?.json()).toMatchObject({ messages_waiting: 7 });
    expect(countWaiting.mock.calls.length).toBeLessThan(10);
  });
});

describe("the list of dead letters", () => {
  test("has those of the queue, newest first, without their messages", async () => {
    const bodies = ["{", JSON.stringify(message({ timestamp: "noon" })), "é".repeat(600_000)];
    for (const [index, body] of bodies.entries()) {
      await ledger.sendText(body);
      await ledger.until("/v1/intake", { open_dead_letters: index + 1 });
    }
    expect(await ledger.get("/v1/dead-letter")).toEqual({
      dead_letters: [
        { reason: "the message is larger than 1 MiB", size: 1_200_000 },
        {
          reason: "timestamp must be an instant with a UTC offset, such as 2024-03-05T09:14:22Z",
          size: Buffer.byteLength(bodies[1] as string),
        },
        { reason: "the message is not JSON", size: 1 },
      ].map((members, index) => ({
        dead_letter_id: 3 - index,
        created_date: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
        source_id: expect.stringMatching(/./),
        discarded_date: null,
        note: null,
        target: null,
        ...members,
      })),
    });
  });

  test("separates open and discarded ones", async () => {
    const [first, second, third] = await saveBodies("{", "}", '{"event_type":"A"}');
    await discardDeadLetters(database, [second as bigint], "a test of the producer");
    const listOf = async (query: string) => (await ledger.get(`/v1/dead-letter${query}`)).dead_letters;
    // A database may number those of one batch in any order.
    const numbers = [Number(first), Number(third)].sort((one, other) => other - one);
    const open = numbers.map((dead_letter_id) => ({ dead_letter_id }));
    expect(await listOf("")).toMatchObject(open);
    expect(await listOf("?state=open")).toMatchObject(open);
    const discarded_date = expect.stringMatching(/\.\d{6}Z$/);
    expect(await listOf("?state=discarded")).toMatchObject([
      { dead_letter_id: Number(second), discarded_date, note: "a test of the producer" },
    ]);
    expect((await ledger.get("/v1/intake")).open_dead_letters).toBe(2);
  });

  test.each([
    { state: "open", size: 20, length: 20 },
    { state: "open", size: 1000, length: 100 },
    { state: "discarded", size: 10, length: 10 },
  ])("is read page by page, each once, also while others arrive: %j", async ({ state, size, length }) => {
    // Every third one is discarded.
    const rows = await database.query<{ id: bigint; discarded: boolean }>(`
      insert into dead_letter (source_id, body, reason, discarded_at, note)
      select 'page' || n, 'x', 'reason ' || n,
        case when n % 3 = 0 then now() end, case when n % 3 = 0 then 'note ' || n end
      from generate_series(1, 160) as n returning id, discarded_at is not null as discarded`);
    const ids = rows
      .filter(({ discarded }) => discarded === (state === "discarded"))
      .map(({ id }) => Number(id));
    const path = `/v1/dead-letter?state=${state}&display_size=${size}`;
    const pages = await ledger.pages(path, undefined, async () => void (await saveBodies("{")));
    const found = pages.map((page) =>
      page.dead_letters.map((one: { dead_letter_id: number }) => one.dead_letter_id),
    );
    expect(found.flat()).toEqual(ids.toSorted((one, other) => other - one));
    expect(found.slice(0, -1).every((page) => page.length === length)).toBe(true);
    expect(pages[0]?._links?.next_cursor?.href).toContain(`state=${state}&display_size=${size}&cursor=`);
  });

  test.each(["x", "WyIwIl0", "WzE3XQ", "WyIxNyIsMV0", "WyItMSJd", "WyI5OTk5OTk5OTk5OTk5OTk5OTk5OTkiXQ"])(
    "rejects the cursor %s",
    async (cursor) => {
      const message = "query parameter cursor must be from a header Link";
      expect(await ledger.getError(`/v1/dead-letter?cursor=${cursor}`)).toEqual([400, message]);
    },
  );

  test("has less than 2 MiB on a page of the longest texts", async () => {
    const wrong = Object.fromEntries(
      Object.keys(contract.components.schemas.EventDetails.properties).map((name) => [name, { wrong: name }]),
    );
    const longest = JSON.stringify({ ...message({}), event_type: "", live: 5, event_details: wrong });
    const [id] = await saveBodies(longest);
    const note = "\u0001".repeat(1000);
    await database.query(
      `insert into dead_letter (source_id, body, reason, discarded_at, note)
       select repeat('i', 250) || n, 'x', reason, now(), $2
       from dead_letter, generate_series(1, 101) as n where id = $1`,
      [id, note],
    );
    const { text, json } = await ledger.request("/v1/dead-letter?state=discarded");
    expect(json.dead_letters).toHaveLength(100);
    expect(json._links).toBeDefined();
    expect(Buffer.byteLength(text)).toBeGreaterThan(600_000);
    expect(Buffer.byteLength(text)).toBeLessThan(2 * 2 ** 20);
  });
});

describe("a dead letter", () => {
  test.each([
    ["17", 404, "Dead letter with id [17] not found"],
    ["-1", 404, "Dead letter with id [-1] not found"],
    ["9223372036854775807", 404, "Dead letter with id [9223372036854775807] not found"],
    ["9223372036854775808", 404, "Not Found"],
    ["first", 400, "path parameter deadLetterId must be a 64-bit integer"],
  ])("%s is not found: %i", async (id, status, message) => {
    expect(await ledger.getError(`/v1/dead-letter/${id}`)).toEqual([status, message]);
  });

  test("is shown with its reason, its masked message and what a replay would do", async () => {
    const body = JSON.stringify(
      message({ event_type: undefined, event_details: { amount: 4250, email: "angler@example.org" } }),
    );
    const masked = message({ event_type: undefined, event_details: { amount: 4250, email: "(text)" } });
    const reason = "event_type is required";
    expect(await detailOf(body)).toEqual({
      dead_letter_id: 1,
      created_date: expect.any(String),
      source_id: expect.any(String),
      reason,
      size: Buffer.byteLength(body),
      discarded_date: null,
      note: null,
      target: null,
      message: JSON.stringify(masked, null, 2),
      replay: {
        outcome: "dead_letter",
        reason,
        errors: [{ pointer: "/event_type", rule: { required: true }, detail: reason }],
      },
    });
  });

  test("has the faults of its message, with the remedies that show no personal data", async () => {
    const event_details = { amount: [4250], email: ["angler@example.org"] };
    const { replay } = await detailOf(JSON.stringify(message({ live: "TRUE", event_details })));
    const to = (path: string, value: unknown) => [{ op: "replace", path, value }];
    expect(replay.errors.map(({ pointer, remedy }: Fault) => [pointer, remedy])).toEqual([
      ["/live", to("/live", true)],
      ["/event_details/amount", to("/event_details/amount", 4250)],
      ["/event_details/email", undefined],
    ]);
    expect(replay.reason).toBe(replay.errors.map(({ detail }: Fault) => detail).join("; "));
  });

  test("has remedies for misspelt members, from their numbers in the masked message", async () => {
    const { event_type, timestamp, ...others } = message({});
    const misspelt = { "angler@example.org": 1, Event_Type: event_type, ...others, "time/stamp": timestamp };
    for (const body of [misspelt, { specversion: "1.0", data: misspelt }]) {
      const detail = await detailOf(JSON.stringify(body));
      const shown = JSON.parse(detail.message);
      const [first, second] = detail.replay.errors.map(({ remedy }: Fault) => remedy?.[0]);
      expect(first).toEqual({ op: "move", from: "/(member 2)", path: "/event_type" });
      expect(second).toEqual({ op: "move", from: "/(member 3)", path: "/timestamp" });
      expect(Object.keys(shown).filter((name) => name.startsWith("(member "))).toHaveLength(3);
      expect(JSON.stringify(detail)).not.toMatch(/angler|Event_Type|time\/stamp/);
    }
  });

  test("has a reason of at most 4,000 characters, although an earlier release has recorded a longer one", async () => {
    const [id] = await saveBodies("{}");
    await database.query("update dead_letter set reason = repeat('x', 100000) where id = $1", [id]);
    const { reason } = await ledger.get(`/v1/dead-letter/${id}`);
    expect(reason).toHaveLength(4000);
  });

  test("that is valid now would be stored, or rebuild a projection, and the preview changes nothing", async () => {
    const members = { resource_external_id: "previewed" };
    expect((await detailOf(JSON.stringify(message(members)))).replay).toEqual({ outcome: "stored" });
    const rebuild = JSON.stringify(message({ ...members, reproject_domain_object: true }));
    expect((await detailOf(rebuild)).replay).toEqual({ outcome: "rebuilt" });
    expect(await database.query("select from event where resource_external_id = 'previewed'")).toEqual([]);
    expect(await database.query("select from dead_letter")).toHaveLength(2);
  });

  test("that was discarded is shown, and no replay takes it", async () => {
    const [id] = await saveBodies(JSON.stringify(message({})));
    await discardDeadLetters(database, [id as bigint], "a test");
    expect(await ledger.get(`/v1/dead-letter/${id}`)).toMatchObject({
      note: "a test",
      message: expect.stringContaining('"event_type": "PAYMENT_CREATED"'),
      replay: { outcome: "dead_letter", reason: "it was discarded" },
    });
  });

  test.each([
    ["is not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), "the message is not valid UTF-8"],
    ["is not JSON", '{"email":"angler@example.org"', "the message is not JSON"],
    ["is nested deeply", "[".repeat(2 ** 20), "the message is nested more than 100 levels deep"],
    ["is too large", `"${"x".repeat(2 ** 20)}"`, "the message is larger than 1 MiB"],
    ["is an envelope of text", '{"Type":"Notification","Message":"A. Angler"}', "the message is not JSON"],
  ])("whose message %s has no message", async (_case, body, reason) => {
    expect(await detailOf(body)).toMatchObject({
      size: Buffer.byteLength(body),
      message: null,
      replay: { outcome: "dead_letter", reason },
    });
  });

  test("in an envelope of Amazon SNS is shown without it", async () => {
    const inner = message({ event_details: { email: "angler@example.org" } });
    const envelope = {
      Type: "Notification",
      Subject: "A. Angler",
      Message: JSON.stringify(inner),
      Signature: "secret",
    };
    const { message: shown, replay } = await detailOf(JSON.stringify(envelope));
    expect(JSON.parse(shown)).toEqual({ ...inner, event_details: { email: "(text)" } });
    expect(replay).toEqual({ outcome: "stored" });
  });

  test("of 1 MiB is shown, also to several callers at the same time", async () => {
    const ends = Buffer.byteLength(JSON.stringify(message({ event_details: { language: "", email: "" } })));
    const language = '"'.repeat((2 ** 20 - ends) / 4);
    const email = "\u0001".repeat((2 ** 20 - ends) / 12);
    const body = JSON.stringify(message({ event_details: { language, email } }));
    expect(Buffer.byteLength(body)).toBeGreaterThan(2 ** 20 - 20);
    const [id] = await saveBodies(body);
    const shown = await Promise.all(Array.from({ length: 5 }, () => ledger.get(`/v1/dead-letter/${id}`)));
    for (const { message } of shown)
      expect(JSON.parse(message).event_details).toEqual({ language: "(text)", email: "(text)" });
  });
});

/** A text of a person, which no response may contain in any form. */
const personal = "Quixotry";
const { EventMessage, EventDetails } = contract.components.schemas;
const text = fc.constantFrom(
  ...[personal, `${personal}@example.org`, `\u0000${personal}`, `"${personal}\\`, personal.repeat(99)],
);
const known = [...Object.keys(EventMessage.properties), ...Object.keys(EventDetails.properties)];
const unknown = ["__proto__", "Email", "toString", "cardholderName", "Message"];
const name = fc.oneof(text, fc.string({ maxLength: 8 }), fc.constantFrom(...known, ...unknown));
const { any } = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    ...[text, fc.jsonValue({ maxDepth: 1 })],
    ...[fc.array(tie("any"), { maxLength: 3 }), fc.dictionary(name, tie("any"), { maxKeys: 3 })],
  ),
}));
/** Members in which the text is, also in those that are shown. */
const hiding = fc.dictionary(name, any, { maxKeys: 6 });
const noObject = any.filter((value) => typeof value !== "object" || Array.isArray(value));
const detailsHiding = fc.oneof(...Array(5).fill(hiding), noObject);
const objectHiding = fc
  .tuple(hiding, detailsHiding, fc.boolean())
  .map(([members, event_details, isValid]) => ({ ...members, ...(isValid && message({})), event_details }));
const messageHiding = fc
  .oneof(...Array(6).fill(objectHiding), noObject)
  .map((value) => JSON.stringify(value));
const notificationHiding = fc
  .tuple(messageHiding, any)
  .map(([Message, Subject]) => JSON.stringify({ Type: "Notification", Subject, Message }));
const notJson = messageHiding.map((body) => body.slice(0, -1));
const bodyHiding = fc.oneof(messageHiding, messageHiding, notificationHiding, notJson);

test("no response contains personal data, wherever a message has it", async () => {
  let shown = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(bodyHiding, { minLength: 1, maxLength: 20 }), async (bodies) => {
      await database.run("truncate dead_letter");
      const ids = await saveBodies(...bodies);
      const paths = ["/v1/dead-letter", "/v1/intake", ...ids.map((id) => `/v1/dead-letter/${id}`)];
      for (const { status, text, json } of await Promise.all(paths.map((path) => ledger.request(path)))) {
        expect(status).toBe(200);
        expect(text).not.toMatch(new RegExp(personal.slice(1), "i"));
        if (json.message) shown += 1;
      }
    }),
    { numRuns: 20 },
  );
  expect(shown).toBeGreaterThan(20);
});

test("no reason contains a text of the message, wherever it has it", () => {
  const members = fc.dictionary(name, any, { maxKeys: 8 });
  let rejected = 0;
  fc.assert(
    fc.property(members, members, (outer, event_details) => {
      const read = readMessage(JSON.stringify({ ...message({}), ...outer, event_details }), pounds);
      if (read.kind !== "invalid") return;
      expect(read.reason).not.toContain(personal);
      rejected += 1;
    }),
    { numRuns: 500 },
  );
  expect(rejected).toBeGreaterThan(200);
});
