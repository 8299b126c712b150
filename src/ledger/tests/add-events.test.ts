import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { childStory, message, story } from "../../../testing/messages.ts";
import type { Database } from "../../database/database.ts";
import { elementsOf } from "../../values/json.ts";
import { openLedgerDatabase } from "../tables/ledger-database.fixture.ts";
import { ledgerOfFile, startLedger } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile({ eventWrites: true });

const json = { "content-type": "application/json" };
const postText = (body: string | Buffer, headers: Record<string, string> = json) =>
  ledger.request("/v1/event", { method: "POST", headers, body });
const post = (body: unknown) => postText(JSON.stringify(body));
const storedOf = async (id: string) =>
  (await ledger.database.query("select from event where resource_external_id = $1", [id])).length;
const created = (id: string, details: object = {}) =>
  message({ resource_external_id: id, event_details: { gateway_account_id: "57", ...details } });

describe("an event that is added", () => {
  test("is stored and folded when the response arrives, with its number", async () => {
    const { status, json } = await post(created("one", { amount: 4250 }));
    expect([status, json]).toEqual([202, { events: [{ event_id: expect.any(Number), is_new: true }] }]);
    expect((await ledger.request("/v1/transaction/one?account_id=57")).json).toMatchObject({ amount: 4250 });
    expect((await ledger.request(`/v1/event/${json.events[0].event_id}`)).json).toMatchObject({
      resource_external_id: "one",
      event_details: { amount: 4250 },
    });
    const counted = /ledger_messages_total\{outcome="stored"\} [1-9]/;
    expect((await ledger.request("/metrics")).text).toMatch(counted);
    const again = await post(created("one", { amount: 1 }));
    expect([again.status, again.json.events]).toEqual([202, [{ ...json.events[0], is_new: false }]]);
    expect((await ledger.request("/v1/transaction/one?account_id=57")).json).toMatchObject({ amount: 4250 });
  });

  test("can be one of a list, in any order, some known, some twice", async () => {
    await post(created("known"));
    const { status, json } = await post([
      ...childStory("refund", "ref", "parent", ["11:00", "REFUND_SUBMITTED", { amount: 7 }]),
      created("parent", { reference: "R" }),
      created("known"),
      created("parent"),
      { ...created("known"), reproject_domain_object: true },
      ...story("agreement", "agr", ["09:00", "AGREEMENT_CREATED"]),
    ]);
    expect(status).toBe(202);
    const events: { event_id: number | null; is_new: boolean }[] = json.events;
    expect(events.map(({ is_new }) => is_new)).toEqual([...[true, true], ...[false, false, false], true]);
    expect([events[4]?.event_id, events[3]?.event_id]).toEqual([null, events[1]?.event_id]);
    const refund = await ledger.get("/v1/transaction/ref?account_id=57");
    expect(refund.payment_details).toMatchObject({ reference: "R" });
    expect((await ledger.get("/v1/agreement/agr?account_id=57")).status).toBe("CREATED");
    expect((await post([])).json).toEqual({ events: [] });
    expect((await postText(" [ ] ")).json).toEqual({ events: [] });
  });

  test("keeps all digits of its numbers", async () => {
    const text = JSON.stringify([created("digits", { fraction: 1 })]).replace(
      '"fraction":1',
      '"fraction":0.1000000000000000055511151231257827',
    );
    const { json } = await postText(text);
    expect((await ledger.request(`/v1/event/${json.events[0].event_id}`)).text).toContain(
      '"fraction": 0.1000000000000000055511151231257827',
    );
  });

  test("is one of up to 100 in a request", async () => {
    const many = Array.from({ length: 100 }, (_, n) => created(`many${n}`, { note: "n".repeat(n % 300) }));
    const { status, json } = await post(many);
    expect([status, json.events.length]).toEqual([202, 100]);
    const more = await post([...many, created("more")]);
    expect([more.status, more.json.message]).toEqual([400, ["the body has more than 100 events"]]);
    expect(await storedOf("more")).toBe(0);
  });
});

describe("an invalid request stores nothing and names each error", () => {
  const at = (index: number, text: string) => `event ${index}: ${text}`;
  const names = ["event_type", "resource_type", "resource_external_id", "timestamp"];
  const required = names.map((name) => `${name} is required`);
  const noObject = "the message must be an object";
  test.each<[string, unknown, string[]]>([
    ["a missing member", { ...created("bad"), timestamp: undefined }, ["timestamp is required"]],
    ["an empty object", {}, required],
    ["null", null, [noObject]],
    [
      "two of three events",
      [{ ...created("bad"), resource_type: "x" }, created("bad"), { ...created("bad"), timestamp: "noon" }],
      [
        expect.stringMatching(/^event 1: resource_type must be one of payment, .* or card_payment$/),
        at(3, "timestamp must be an instant with a UTC offset, such as 2024-03-05T09:14:22Z"),
      ],
    ],
    ["a list in a list", [[created("bad")]], [at(1, noObject)]],
  ])("%s", async (_title, body, messages) => {
    const { status, json } = await post(body);
    expect([status, json.message]).toEqual([400, messages]);
    expect(await storedOf("bad")).toBe(0);
  });

  test("a list, with the places and the remedies in the list", async () => {
    const { json } = await post([created("bad"), { ...created("bad"), resource_type: "Payment" }]);
    const path = "/1/resource_type";
    expect(json.type).toBe("/problems/invalid-request");
    expect(json.errors).toEqual([
      {
        pointer: path,
        rule: { enum: expect.arrayContaining(["payment"]) },
        detail: json.detail,
        remedy: [{ op: "replace", path, value: "payment" }],
      },
    ]);
    expect(await storedOf("bad")).toBe(0);
  });

  test("a required member that is misspelt", async () => {
    const { timestamp, ...others } = created("bad");
    const { status, json } = await post({ ...others, timestmp: timestamp });
    const remedy = [{ op: "move", from: "/timestmp", path: "/timestamp" }];
    expect([status, json.errors]).toMatchObject([
      400,
      [{ pointer: "/timestamp", rule: { required: true }, remedy }],
    ]);
    expect(await storedOf("bad")).toBe(0);
  });

  test("an event that makes its resource too large", async () => {
    const large = (n: number) => ({
      ...created("large", { [`m${n}`]: "m".repeat(1_000_000) }),
      event_type: `E${n}`,
    });
    expect((await post(large(0))).status).toBe(202);
    expect((await post(large(1))).status).toBe(202);
    const { status, json } = await post([created("beside"), created("large", { x: "m".repeat(200_000) })]);
    const reason = "the details of all events of the resource would be larger than 2 MiB together";
    expect([status, json.message]).toEqual([400, [reason]]);
    expect(await storedOf("beside")).toBe(0);
  });

  test("more than twenty faults", async () => {
    const { json } = await post(Array.from({ length: 60 }, () => ({})));
    // Five events have the first twenty faults.
    const named = [1, 2, 3, 4, 5].flatMap((index) => required.map((text) => at(index, text)));
    expect(json.message).toEqual([...named, "55 other events are invalid"]);
    expect(json.errors.map(({ detail }: { detail: string }) => detail)).toEqual(named);
  });

  const notJson = "the message is not JSON";
  test.each([
    ...["[", "[{]", "[{}", "[{}]]", '{"a": 1} []'].map((text): [string, string] => [text, notJson]),
    ["[{},]", `event 2: ${notJson}`],
    [`${"[".repeat(200)}${"]".repeat(200)}`, "event 1: the message is nested more than 100 levels deep"],
    [
      `{"event_details": {${Array.from({ length: 1001 }, (_, n) => `"m${n}":1`)}}}`,
      /more than 1,000 members/,
    ],
    ["", "the body is empty; it must be JSON"],
  ])("the text %j", async (text, expected) => {
    const { status, json } = await postText(text);
    expect(status).toBe(400);
    expect(json.message.at(-1)).toMatch(expected);
  });

  test("a body that is no JSON in UTF-8, or too large", async () => {
    const text = JSON.stringify(created("bad"));
    const statusOf = async (body: string | Buffer, headers: Record<string, string>) =>
      (await postText(body, headers)).status;
    expect(await statusOf(text, { "content-type": "text/plain" })).toBe(415);
    expect(await statusOf(text, { ...json, "content-encoding": "gzip" })).toBe(415);
    expect(await statusOf(text, { "content-type": "application/json; charset=utf-16" })).toBe(415);
    expect(await statusOf(Buffer.from([0x7b, 0xff, 0x7d]), json)).toBe(400);
    expect(await statusOf("x".repeat(2 ** 20 + 1), json)).toBe(413);
    expect((await ledger.request("/v1/event", { method: "POST" })).status).toBe(400);
    expect(
      (await ledger.request("/v1/event?x=1", { method: "POST", headers: json, body: text })).status,
    ).toBe(400);
    const other = await ledger.request("/v1/event", { method: "PUT" });
    expect([other.status, other.headers.allow]).toEqual([405, "GET, HEAD, POST"]);
  });
});

/** Maximum number of requests that wait, beside those whose events are being stored. */
const waitingMax = 20;

/** A ledger that stores the events of one request of a caller at a time. */
const startNarrow = (options: Parameters<typeof startLedger>[0] = {}, requestConnections = 3) =>
  startLedger({
    open: async () => ({ ...(await openLedgerDatabase()), requestConnections }),
    eventWrites: true,
    ...options,
  });

/** Lets no event be stored and no transaction be rebuilt until it is released, or the test ends. */
async function holdEvents(database: Database) {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = database.transaction(
    async (sql) => {
      await sql.run("lock table event, transaction in exclusive mode");
      held.resolve();
      await released.promise;
    },
    { idleMs: 600_000 },
  );
  await Promise.race([held.promise, holding]);
  const release = async () => {
    released.resolve();
    await holding;
  };
  return { release, [Symbol.asyncDispose]: release };
}

/** An error of the database while it stores an event that has its SQLSTATE. */
const failingEvents = `
  create function fail() returns trigger language plpgsql as $$ begin
    raise exception 'broken' using errcode = new.event_details ->> 'sqlstate';
  end $$;
  create trigger fail before insert on event
  for each row when (new.event_details ? 'sqlstate') execute function fail()`;

test("a request gives its place back, however it ends; beyond 20 that wait, others get 503", async () => {
  await using ledger = await startNarrow();
  const send = async (body: string, headers = json, signal: AbortSignal | null = null) =>
    (await ledger.request("/v1/event", { method: "POST", headers, body, signal })).status;
  await ledger.database.run(failingEvents);
  const failing = (sqlstate: string) => JSON.stringify(created(sqlstate, { sqlstate }));
  const failures: [status: number, body: string, headers?: typeof json][] = [
    [400, "{"],
    [400, JSON.stringify([created("invalid"), {}])],
    [400, failing("22000")],
    [413, "x".repeat(2 ** 20 + 1)],
    [415, "{}", { "content-type": "text/plain" }],
    [500, failing("XX000")],
    [503, failing("57P03")],
  ];
  for (const [status, body, headers] of failures)
    for (let times = 0; times < 2; times += 1) expect(await send(body, headers)).toBe(status);

  for (const areAborted of [true, false]) {
    await using held = await holdEvents(ledger.database);
    const clients = new AbortController();
    const all = Array.from({ length: waitingMax + 2 }, (_, n) =>
      send(JSON.stringify(created(`${areAborted} ${n}`)), json, clients.signal),
    );
    // One is rejected when all others have a place.
    expect(await Promise.race(all)).toBe(503);
    if (areAborted) clients.abort();
    await held.release();
    const outcomes = await Promise.allSettled(all);
    const statuses = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value : []));
    expect(statuses.toSorted()).toEqual([...Array(areAborted ? 0 : waitingMax + 1).fill(202), 503]);
    // When it has its turn, those before it have ended.
    await eventually(async () => expect(await send(JSON.stringify(created("last")))).toBe(202));
  }
});

describe("callers take turns:", () => {
  const trusting = { trustedProxies: ["127.0.0.1"] };
  /** The settled responses of a caller, with the number of its event if it was stored. */
  const sender = (ledger: Awaited<ReturnType<typeof startNarrow>>, caller: string) => {
    const responses: { status: number; id: number }[] = [];
    return {
      responses,
      stored: () => responses.filter(({ status }) => status === 202).length,
      async send(body: object) {
        const { status, json: content } = await ledger.request("/v1/event", {
          method: "POST",
          headers: { ...json, "x-forwarded-for": caller },
          body: JSON.stringify(body),
        });
        responses.push({ status, id: content.events?.[0]?.event_id });
      },
    };
  };
  const times = (count: number, work: (n: number) => Promise<void>) =>
    Array.from({ length: count }, (_, n) => work(n));

  test("while the requests of one fill the queue, an event of another is stored after two of them at most", async () => {
    await using ledger = await startNarrow(trusting);
    const [many, one] = [sender(ledger, "10.0.0.1"), sender(ledger, "10.0.0.2")];
    await using held = await holdEvents(ledger.database);
    const ofMany = times(waitingMax + 10, (n) => many.send(created(`many ${n}`)));
    await eventually(() => expect(many.responses).toHaveLength(9));
    const ofOne = times(3, (n) => one.send(created(`one ${n}`)));
    // The places of two were those of the newest requests of the other.
    await eventually(() => expect(many.responses).toHaveLength(11));
    await held.release();
    await Promise.all([...ofMany, ...ofOne]);
    expect(one.stored()).toBe(3);
    const first = Math.min(...one.responses.map(({ id }) => id));
    const before = many.responses.filter(({ id }) => id < first);
    expect(before.length).toBeLessThanOrEqual(2);
  });

  test("between the rebuilds of a request, events of others are stored", async () => {
    // One place, so that no two of them store at the same time.
    await using ledger = await startNarrow(trusting, 1);
    const ids = Array.from({ length: 6 }, (_, n) => `long${n}`);
    await ledger.database.run(`
      insert into event (resource_type, resource_external_id, event_type, timestamp, event_details)
      select 'payment', 'long' || n, 'PAYMENT_CREATED', '2024-03-05'::timestamptz + m * interval '1 second', '{"amount": 1}'
      from generate_series(0, 5) as n, generate_series(1, 600) as m`);
    const [rebuilding, other] = [sender(ledger, "10.0.0.1"), sender(ledger, "10.0.0.2")];
    await using held = await holdEvents(ledger.database);
    const rebuilt = rebuilding.send(ids.map((id) => ({ ...created(id), reproject_domain_object: true })));
    const events = times(waitingMax + 1, (n) => other.send(created(`other ${n}`)));
    // All others have a place when one is rejected.
    await eventually(() => expect(other.responses).toMatchObject([{ status: 503 }]));
    await held.release();
    await Promise.all([rebuilt, ...events]);
    expect(rebuilding.responses).toMatchObject([{ status: 202 }]);
    expect(
      await ledger.database.query("select from transaction where external_id like 'long%'"),
    ).toHaveLength(6);
    const storedBefore = await ledger.database.query(`
      select from event where resource_external_id like 'other%' and xmin::text::bigint <
        (select max(xmin::text::bigint) from transaction where external_id like 'long%')`);
    expect(storedBefore.length).toBeGreaterThanOrEqual(ids.length - 1);
  });
});

test("a request that takes too long gets 504 and keeps its place; sent again it says that its event is stored", async () => {
  await using ledger = await startNarrow({ statementTimeoutMs: 500 });
  const send = (id: string) =>
    ledger.request("/v1/event", { method: "POST", headers: json, body: JSON.stringify(created(id)) });
  await using held = await holdEvents(ledger.database);
  const late = await send("late");
  expect([late.status, late.json.detail]).toEqual([
    504,
    expect.stringContaining("they may be later; send them again"),
  ]);
  const next = await send("next");
  const busy = "other requests with events took too long; try again later";
  expect([next.status, next.json.detail, next.headers["retry-after"]]).toEqual([503, busy, "1"]);
  await held.release();
  const again = await eventually(async () => {
    const response = await send("late");
    expect(response.status).toBe(202);
    return response.json;
  });
  expect(again).toEqual({ events: [{ event_id: expect.any(Number), is_new: false }] });
  const stored = await ledger.database.query("select resource_external_id as id from event");
  expect(stored).toEqual([{ id: "late" }]);
});

test("beside a replica that is behind, the numbers of events are those of the primary database", async () => {
  await using replica = await openLedgerDatabase();
  await using behind = await startLedger({ replica, eventWrites: true });
  const send = async () => {
    const body = JSON.stringify([created("one"), created("two")]);
    return (await behind.request("/v1/event", { method: "POST", headers: json, body })).json;
  };
  const { events } = await send();
  const event_id = expect.any(Number);
  expect(events).toEqual([
    { event_id, is_new: true },
    { event_id, is_new: true },
  ]);
  expect((await send()).events).toEqual(events.map((event: object) => ({ ...event, is_new: false })));
  expect((await behind.request("/v1/transaction/one?account_id=57")).status).toBe(404);
});

test("a service that does not store events has neither the route nor the operation", async () => {
  await using reader = await startLedger();
  const rejected = await reader.request("/v1/event", { method: "POST", headers: json, body: "{}" });
  expect(rejected).toMatchObject({
    status: 405,
    headers: { allow: "GET, HEAD" },
    json: { message: [expect.any(String), "the service accepts it with the setting EVENT_WRITES=true"] },
  });
  const ofWriting = /addEvents|ledger:write|AddedEvents/;
  expect((await reader.request("/docs")).text).not.toMatch(ofWriting);
  for (const path of ["/openapi.yaml", "/openapi.json"]) {
    const { text } = await reader.request(path);
    expect(text).not.toMatch(ofWriting);
    expect(text).toContain("EventMessage");
    expect((await ledger.request(path)).text).toMatch(/addEvents[\s\S]*AddedEvents/);
  }
  // The other paths below it are served.
  expect((await reader.request("/v1/event/1")).status).toBe(404);
  expect((await reader.request("/v1/event/ticker")).status).toBe(400);
});

test("any list of messages is split as JSON has it", () => {
  const space = fc.constantFrom("", " ", "\n\t");
  fc.assert(
    fc.property(fc.array(fc.tuple(space, fc.jsonValue(), space), { maxLength: 20 }), (parts) => {
      const text = `[${parts.map(([before, value, after]) => before + JSON.stringify(value) + after)}]`;
      const elements = elementsOf(text, 20) as string[];
      expect(elements.map((element) => JSON.parse(element))).toEqual(JSON.parse(text));
      if (parts.length > 0) expect(elementsOf(text, parts.length - 1)).toHaveLength(parts.length);
    }),
  );
});
