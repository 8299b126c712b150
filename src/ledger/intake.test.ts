import fc from "fast-check";
import { Registry } from "prom-client";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import contract from "../../generated/ledger.json" with { type: "json" };
import { eventually } from "../../testing/eventually.ts";
import { message } from "../../testing/messages.ts";
import { openLog } from "../process/log.ts";
import { ledgerApp } from "./app.ts";
import { openIntake } from "./intake/intake.ts";
import { startSavingIntakeMinutes } from "./intake/intake-minutes.ts";
import { readMessage } from "./intake/message.ts";
import { startLedger } from "./ledger.fixture.ts";
import { openQueue, type Queue } from "./queue/queue.ts";
import { type DeadLetter, discardDeadLetters, saveDeadLetters } from "./tables/dead-letter.ts";

type Ledger = Awaited<ReturnType<typeof startLedger>>;
/** For tests without messages in the queue, whose numbers would be saved during another test. */
let ledger: Ledger;
beforeAll(async () => {
  ledger = await startLedger();
});
afterAll(() => ledger[Symbol.asyncDispose]());
beforeEach(async () => {
  await ledger.database.run("truncate intake_minute; truncate dead_letter restart identity");
});

const log = openLog("silent");

/** Saves these bodies as dead letters, as the receiver does, and returns their numbers. */
async function saveBodies(...bodies: (string | Uint8Array)[]): Promise<bigint[]> {
  const saved = bodies.map((body, index): DeadLetter => {
    const source_id = `${Date.now()}-${Math.random()}-${String(index).padStart(6, "0")}`;
    const read = typeof body === "string" ? readMessage(body) : undefined;
    return { source_id, body: Buffer.from(body), reason: read?.kind === "invalid" ? read.reason : "a test" };
  });
  for (const one of saved) await saveDeadLetters(ledger.database, [one]);
  const ids = await ledger.database.query<{ id: bigint; source_id: string }>(
    "select id, source_id from dead_letter where source_id = any($1)",
    [saved.map(({ source_id }) => source_id)],
  );
  const idOf = new Map(ids.map(({ id, source_id }) => [source_id, id]));
  return saved.map(({ source_id }) => idOf.get(source_id) as bigint);
}

async function detailOf(body: string | Uint8Array) {
  const [id] = await saveBodies(body);
  const { status, json } = await ledger.request(`/v1/dead-letter/${id}`);
  expect(status).toBe(200);
  return json;
}

/** The numbers of all minutes together. */
async function intakeTotals({ request }: Ledger) {
  const { minutes } = (await request("/v1/intake")).json as { minutes: Record<string, number>[] };
  const totals: Record<string, number> = {};
  for (const minute of minutes) {
    for (const name of ["stored", "duplicate", "rebuilt", "dead_letter", "retried"])
      totals[name] = (totals[name] ?? 0) + (minute[name] ?? 0);
  }
  return totals;
}

describe("the intake", () => {
  test("has what became of the messages in each minute, and the open dead letters", async () => {
    await using own = await startLedger();
    const begun = Date.now();
    expect((await own.request("/v1/intake")).json).toEqual({
      messages_waiting: 0,
      open_dead_letters: 0,
      minutes: [],
    });
    const one = message({ resource_external_id: "one" });
    await own.store([one]);
    await own.send(one, message({ resource_external_id: "one", reproject_domain_object: true }));
    await own.sendText("{", "[]");
    await eventually(async () =>
      expect(await intakeTotals(own)).toEqual({
        stored: 1,
        duplicate: 1,
        rebuilt: 1,
        dead_letter: 2,
        retried: 0,
      }),
    );
    const { json } = await own.request("/v1/intake");
    expect(json).toMatchObject({ messages_waiting: 0, open_dead_letters: 2 });
    for (const { minute, lag_ms_average, lag_ms_max } of json.minutes) {
      expect(minute).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/);
      expect(Date.parse(minute)).toBeGreaterThan(begun - 60_000);
      expect(lag_ms_average).toBeLessThanOrEqual(lag_ms_max);
      expect(lag_ms_max).toBeLessThan(Date.now() - begun);
    }
  });

  test("counts deliveries that are retried", async () => {
    await using own = await startLedger();
    await own.database.run("alter table event rename to event_renamed");
    await own.send(message({ resource_external_id: "later" }));
    await eventually(async () => expect((await intakeTotals(own)).retried).toBeGreaterThan(0));
    await own.database.run("alter table event_renamed rename to event");
    await own.until("/v1/transaction/later?account_id=57", { transaction_id: "later" });
  });

  test("adds up the numbers of all processes, which none counts twice", async () => {
    const empty = { events: [], rebuilds: [], deadLetters: [] };
    const deadLetter = (source_id: string) => ({ source_id, body: Buffer.from("{"), reason: "a test" });
    for (const process of ["a", "b"]) {
      const intake = openIntake(ledger.database, new Registry(), log);
      await using _saving = startSavingIntakeMinutes(ledger.database, intake.minutes, log);
      for (const part of [1, 2]) {
        await intake.store({ ...empty, deadLetters: [deadLetter(`${process}${part}`)] }, [
          { sentAt: Date.now() - 1000 * part },
        ]);
      }
      intake.metrics.retried([]);
    }
    const { open_dead_letters, minutes } = (await ledger.request("/v1/intake")).json;
    expect(open_dead_letters).toBe(4);
    expect(await intakeTotals(ledger)).toMatchObject({ stored: 0, dead_letter: 4 });
    const longest = Math.max(...minutes.map(({ lag_ms_max }: { lag_ms_max: number }) => lag_ms_max));
    expect(longest).toBeGreaterThanOrEqual(2000);
  });

  test("has no lag for messages whose time of sending is unknown", async () => {
    const intake = openIntake(ledger.database, new Registry(), log);
    {
      await using _saving = startSavingIntakeMinutes(ledger.database, intake.minutes, log);
      await intake.store({ events: [], rebuilds: [], deadLetters: [] }, [{}]);
    }
    const { minutes } = (await ledger.request("/v1/intake")).json;
    expect(minutes).toMatchObject([{ stored: 0, lag_ms_average: null, lag_ms_max: null }]);
  });

  test("has the minutes of the last hour only", async () => {
    await ledger.database.run(`
      insert into intake_minute select date_trunc('minute', now()) - n * interval '1 minute', n, 0, 0, 0, 0, 0, 0, 0
      from generate_series(-5, 200) as n`);
    const { minutes } = (await ledger.request("/v1/intake")).json;
    expect(minutes.length).toBeLessThanOrEqual(61);
    const stored = minutes.map((minute: { stored: number }) => minute.stored);
    expect(stored.slice(0, -2)).toEqual(
      Array.from({ length: stored.length - 2 }, (_, index) => stored[0] - index),
    );
    expect(stored.at(-1)).toBeLessThanOrEqual(1);
  });

  /** An API on the database of the ledger and this queue. */
  async function requestWith(queue: Partial<Queue>, count = 1) {
    await using real = await openQueue("memory:");
    await using app = await ledgerApp({
      database: ledger.database,
      queue: { ...real, ...queue },
      statementTimeoutMs: 10_000,
      log,
    });
    return await Promise.all(Array.from({ length: count }, () => app.inject("/v1/intake")));
  }

  test.each([
    ["cannot be reached", () => Promise.reject(new Error("it is down"))],
    ["does not respond", () => new Promise<never>(() => {})],
  ])("has no number of waiting messages if the queue %s", async (_state, check) => {
    const start = performance.now();
    const [response] = await requestWith({ check });
    expect([response?.statusCode, response?.json()]).toMatchObject([
      200,
      { messages_waiting: null, open_dead_letters: 0 },
    ]);
    expect(performance.now() - start).toBeLessThan(30_000);
  });

  test("is read once for requests at the same time", async () => {
    const check = vi.fn(async () => ({ waiting: 7 }));
    const responses = await requestWith({ check }, 50);
    expect(new Set(responses.map(({ body }) => body)).size).toBe(1);
    expect(responses[0]?.json()).toMatchObject({ messages_waiting: 7 });
    expect(check.mock.calls.length).toBeLessThan(10);
  });
});

describe("the list of dead letters", () => {
  test("has those of the queue, newest first, without their messages", async () => {
    await using own = await startLedger();
    const bodies = ["{", JSON.stringify(message({ timestamp: "noon" })), `${"é".repeat(600_000)}`];
    for (const [index, body] of bodies.entries()) {
      await own.sendText(body);
      await own.until("/v1/intake", { open_dead_letters: index + 1 });
    }
    const { json } = await own.request("/v1/dead-letter");
    expect(json).toEqual({
      dead_letters: [
        { reason: "the message is larger than 1 MiB", size: 1_200_000 },
        {
          reason: expect.stringMatching(/^timestamp must match pattern .*; timestamp must be an instant/),
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
    await discardDeadLetters(ledger.database, [second as bigint], "a test of the producer");
    const idsOf = async (query: string) =>
      (await ledger.request(`/v1/dead-letter${query}`)).json.dead_letters.map(
        ({ dead_letter_id }: { dead_letter_id: number }) => BigInt(dead_letter_id),
      );
    expect(await idsOf("")).toEqual([third, first]);
    expect(await idsOf("?state=open")).toEqual([third, first]);
    const { json } = await ledger.request("/v1/dead-letter?state=discarded");
    expect(json.dead_letters).toMatchObject([
      {
        dead_letter_id: Number(second),
        discarded_date: expect.stringMatching(/\.\d{6}Z$/),
        note: "a test of the producer",
      },
    ]);
    expect((await ledger.request("/v1/intake")).json.open_dead_letters).toBe(2);
  });

  test("is read page by page, each dead letter once, also while others arrive and are discarded", async () => {
    // Every third one is discarded, and sizes are mixed.
    await ledger.database.run(`
      insert into dead_letter (source_id, body, reason, discarded_at, note)
      select 'page' || n, convert_to(repeat('x', n * 7919 % 30000), 'UTF8'), 'reason ' || n,
        case when n % 3 = 0 then now() end, case when n % 3 = 0 then 'note ' || n end
      from generate_series(1, 330) as n`);
    const all = await ledger.database.query<{ id: bigint; discarded: boolean }>(
      "select id, discarded_at is not null as discarded from dead_letter order by id desc",
    );
    for (const [state, size, length] of [
      ["open", 7, 7],
      ["open", 100, 100],
      ["open", 1000, 100],
      ["discarded", 110, 100],
      ["discarded", 55, 55],
    ] as const) {
      const expected = all.filter(({ discarded }) => discarded === (state === "discarded"));
      const pages: number[][] = [];
      let path = `/v1/dead-letter?state=${state}&display_size=${size}`;
      while (path) {
        const { status, json } = await ledger.request(path);
        expect(status).toBe(200);
        pages.push(json.dead_letters.map((one: { dead_letter_id: number }) => one.dead_letter_id));
        const { href } = json._links?.next_cursor ?? {};
        path = href?.slice(ledger.base.length) ?? "";
        if (href) expect(href).toContain(`state=${state}&display_size=${size}&cursor=`);
        await saveBodies("{");
      }
      expect(pages.flat()).toEqual(expected.map(({ id }) => Number(id)));
      expect(pages.slice(0, -1).every((page) => page.length === length)).toBe(true);
      expect(pages.at(-1)).not.toEqual([]);
      // They are newer than the first page.
      await ledger.database.run("delete from dead_letter where source_id not like 'page%'");
    }
  });

  test.each(["x", "WyIwIl0", "WzE3XQ", "WyIxNyIsMV0", "WyItMSJd", "WyI5OTk5OTk5OTk5OTk5OTk5OTk5OTkiXQ"])(
    "rejects the cursor %s",
    async (cursor) => {
      const { status, json } = await ledger.request(`/v1/dead-letter?cursor=${cursor}`);
      expect([status, json.message]).toEqual([
        400,
        ["query parameter cursor must be from a link next_cursor"],
      ]);
    },
  );

  test("has less than 2 MiB on a page of the longest texts", async () => {
    const wrong = Object.fromEntries(
      Object.keys(contract.components.schemas.EventDetails.properties).map((name) => [name, { wrong: name }]),
    );
    const longest = JSON.stringify({ ...message({}), event_type: "", live: 5, event_details: wrong });
    const [id] = await saveBodies(longest);
    const note = "\u0001".repeat(1000);
    await ledger.database.query(
      `insert into dead_letter (source_id, body, reason, discarded_at, note)
       select repeat('i', 250) || n, convert_to(repeat('x', 300000), 'UTF8'), reason, now(), $2
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
  test.each(["17", "0", "-1", "9223372036854775807"])("that does not exist is a 404: %s", async (id) => {
    const { status, json } = await ledger.request(`/v1/dead-letter/${id}`);
    expect([status, json.message]).toEqual([404, [`Dead letter with id [${id}] not found`]]);
  });

  test("with a number beyond 64 bits is a 404, and one that is no number a 400", async () => {
    expect((await ledger.request("/v1/dead-letter/9223372036854775808")).status).toBe(404);
    expect((await ledger.request("/v1/dead-letter/first")).status).toBe(400);
  });

  test("is shown with its reason, its masked message and what a replay would do", async () => {
    const body = JSON.stringify(
      message({ event_type: undefined, event_details: { amount: 4250, email: "angler@example.org" } }),
    );
    expect(await detailOf(body)).toEqual({
      dead_letter_id: 1,
      created_date: expect.any(String),
      source_id: expect.any(String),
      reason: "event_type is required",
      size: Buffer.byteLength(body),
      discarded_date: null,
      note: null,
      target: null,
      message: JSON.stringify(
        message({ event_type: undefined, event_details: { amount: 4250, email: "(text)" } }),
        null,
        2,
      ),
      replay: { outcome: "dead_letter", reason: "event_type is required" },
    });
  });

  test("that is valid now would be stored, or rebuild a projection, and the preview changes nothing", async () => {
    expect((await detailOf(JSON.stringify(message({})))).replay).toEqual({ outcome: "stored" });
    const rebuild = JSON.stringify(message({ reproject_domain_object: true }));
    expect((await detailOf(rebuild)).replay).toEqual({ outcome: "rebuilt" });
    expect(await ledger.database.query("select from event")).toEqual([]);
    expect(await ledger.database.query("select from dead_letter")).toHaveLength(2);
  });

  test("that was discarded is shown, and no replay takes it", async () => {
    const [id] = await saveBodies(JSON.stringify(message({})));
    await discardDeadLetters(ledger.database, [id as bigint], "a test");
    const { json } = await ledger.request(`/v1/dead-letter/${id}`);
    expect(json).toMatchObject({
      note: "a test",
      message: expect.stringContaining('"event_type": "PAYMENT_CREATED"'),
      replay: { outcome: "dead_letter", reason: "it was discarded" },
    });
  });

  test.each([
    ["is not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), "the message is not valid UTF-8"],
    ["is not JSON", '{"email":"angler@example.org"', "the message is not JSON"],
    ["is empty", "", "the message is not JSON"],
    ["has a byte order mark", "\ufeff{}", "the message is not JSON"],
    ["is nested deeply", "[".repeat(2 ** 20), "the message is nested more than 100 levels deep"],
    [
      "has too many members",
      `[${"1,".repeat(1000)}1]`,
      "the message has more than 1,000 members and elements",
    ],
    ["is too large", `"${"x".repeat(2 ** 20)}"`, "the message is larger than 1 MiB"],
    [
      "is an envelope without JSON",
      '{"Type":"Notification","Message":"Hello A. Angler"}',
      "the message is not JSON",
    ],
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

  test("of 1 MiB is shown, and many of them delay no other request for long", async () => {
    const ends = Buffer.byteLength(JSON.stringify(message({ event_details: { language: "", email: "" } })));
    const body = JSON.stringify(
      message({
        event_details: {
          language: '"'.repeat((2 ** 20 - ends) / 4),
          email: "\u0001".repeat((2 ** 20 - ends) / 12),
        },
      }),
    );
    expect(Buffer.byteLength(body)).toBeGreaterThan(2 ** 20 - 20);
    const { dead_letter_id: id, message: shown } = await detailOf(body);
    expect(JSON.parse(shown).event_details).toEqual({
      language: '"'.repeat((2 ** 20 - ends) / 4),
      email: "(text)",
    });
    const large = Promise.all(
      Array.from({ length: 20 }, async () => (await ledger.request(`/v1/dead-letter/${id}`)).status),
    );
    expect((await ledger.request("/v1/event/1")).status).toBe(404);
    expect(new Set(await large)).toEqual(new Set([200]));
  });
});

/** A text of a person, which no response may contain in any form. */
const personal = "Quixotry";
const { EventMessage, EventDetails } = contract.components.schemas;
const namesOf = (properties: Record<string, object>, isPersonal: boolean) =>
  Object.entries(properties)
    .filter(([, schema]) => "x-personal-data" in schema === isPersonal)
    .map(([name]) => name);
const known = new Set([...Object.keys(EventMessage.properties), ...Object.keys(EventDetails.properties)]);

const text = fc.constantFrom(
  personal,
  `${personal}@example.org`,
  `\u0000${personal}`,
  `"${personal}\\`,
  personal.repeat(99),
);
/** Objects and lists that contain it, as a value or as a name. */
const nested = fc.letrec<{ any: unknown; object: unknown }>((tie) => ({
  any: fc.oneof({ depthSize: "small" }, text, fc.jsonValue({ maxDepth: 1 }), tie("object")),
  object: fc.oneof(
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom(...known, "__proto__")), tie("any"), { maxKeys: 3 }),
  ),
}));
const unknownName = fc
  .oneof(text, fc.string({ maxLength: 8 }), fc.constantFrom("Email", "toString", "cardholderName", "Message"))
  .filter((name) => !known.has(name));
/** Members of an object in which the text may be: personal and unknown ones with any value, others with an object or list. */
const hiding = (personalNames: string[], shownNames: string[]) =>
  fc
    .tuple(
      fc.dictionary(
        personalNames.length > 0 ? fc.oneof(fc.constantFrom(...personalNames), unknownName) : unknownName,
        fc.oneof(text, nested.any),
        { maxKeys: 4 },
      ),
      fc.dictionary(fc.constantFrom(...shownNames), nested.object, { maxKeys: 2 }),
    )
    .map(([masked, shown]) => ({ ...masked, ...shown }));
const detailsHiding = fc.oneof(
  {
    arbitrary: hiding(namesOf(EventDetails.properties, true), namesOf(EventDetails.properties, false)),
    weight: 5,
  },
  { arbitrary: nested.any.filter((value) => typeof value !== "object" || Array.isArray(value)), weight: 1 },
);
const shownInMessage = namesOf(EventMessage.properties, false).filter((name) => name !== "event_details");
const messageHiding = fc.oneof(
  {
    arbitrary: fc
      .tuple(hiding([], shownInMessage), detailsHiding, fc.boolean())
      .map(([members, event_details, isValid]) => ({
        ...members,
        ...(isValid && message({})),
        event_details,
      })),
    weight: 6,
  },
  { arbitrary: nested.any.filter((value) => typeof value !== "object" || Array.isArray(value)), weight: 1 },
);
const bodyHiding = fc.oneof(
  { arbitrary: messageHiding.map((value) => JSON.stringify(value)), weight: 5 },
  {
    arbitrary: fc
      .tuple(messageHiding, fc.oneof(text, nested.any))
      .map(([inner, Subject]) =>
        JSON.stringify({ Type: "Notification", Subject, Message: JSON.stringify(inner) }),
      ),
    weight: 2,
  },
  { arbitrary: messageHiding.map((value) => JSON.stringify(value).slice(0, -1)), weight: 1 },
);

test("no response contains personal data, wherever a message has it", async () => {
  let shown = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(bodyHiding, { minLength: 1, maxLength: 20 }), async (bodies) => {
      await ledger.database.run("truncate dead_letter");
      const ids = await saveBodies(...bodies);
      const paths = ["/v1/dead-letter", "/v1/intake", ...ids.map((id) => `/v1/dead-letter/${id}`)];
      for (const path of paths) {
        const response = await ledger.request(path);
        expect(response.status).toBe(200);
        expect(response.text).not.toMatch(new RegExp(personal.slice(1), "i"));
        if (response.json.message) shown += 1;
      }
    }),
    { numRuns: 30 },
  );
  expect(shown).toBeGreaterThan(100);
});

test("no reason contains a text of the message, wherever it has it", async () => {
  const members = fc.dictionary(fc.oneof(text, fc.constantFrom(...known)), nested.any, { maxKeys: 8 });
  const anyMessage = fc
    .tuple(members, members)
    .map(([outer, event_details]) => JSON.stringify({ ...message({}), ...outer, event_details }));
  await fc.assert(
    fc.asyncProperty(fc.array(anyMessage, { minLength: 1, maxLength: 40 }), async (texts) => {
      await ledger.database.run("truncate dead_letter");
      const ids = await saveBodies(...texts);
      const list = await ledger.request("/v1/dead-letter");
      expect(list.text).not.toContain(personal);
      for (const id of ids) {
        const { reason, replay } = (await ledger.request(`/v1/dead-letter/${id}`)).json;
        expect(JSON.stringify([reason, replay])).not.toContain(personal);
      }
    }),
    { numRuns: 20 },
  );
});
