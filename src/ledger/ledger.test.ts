import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { childStory, message, story } from "../../testing/messages.ts";
import { openLog } from "../process/log.ts";
import { ledgerApp } from "./app.ts";
import { demoEvents, demoTransactions } from "./commands/demo-events.ts";
import { startLedger } from "./ledger.fixture.ts";
import { openQueue } from "./queue/queue.ts";

let ledger: Awaited<ReturnType<typeof startLedger>>;
beforeAll(async () => {
  ledger = await startLedger();
  await ledger.store(
    [message({})],
    [message({ resource_external_id: "late" })],
    childStory("refund", "early", "late", ["10:00", "REFUND_SUBMITTED"]),
  );
});
afterAll(() => ledger[Symbol.asyncDispose]());

const problemType = "application/problem+json; charset=utf-8";

describe("an event becomes a transaction", () => {
  test("a payment event is stored once and visible at every operation", async () => {
    const delivered = message({ resource_external_id: "once", service_id: "svc", live: true });
    await ledger.send(delivered, delivered);
    await ledger.until("/v1/transaction/once?account_id=57", {
      transaction_id: "once",
      transaction_type: "PAYMENT",
      gateway_account_id: "57",
      amount: 4250,
      reference: "LIC-88",
      state: { status: "created", finished: false },
      created_date: "2024-03-05T09:14:22.018Z",
      settlement_summary: { capture_submit_time: null, captured_date: null },
    });
    const { json } = await ledger.request("/v1/transaction/once/event?gateway_account_id=57");
    expect(json.events).toHaveLength(1);
    expect(json.events[0]).toEqual({
      event_id: expect.any(Number),
      amount: 4250,
      state: { status: "created", finished: false },
      resource_type: "PAYMENT",
      event_type: "PAYMENT_CREATED",
      timestamp: "2024-03-05T09:14:22.018Z",
      data: { gateway_account_id: "57", amount: 4250, reference: "LIC-88" },
    });
    const event = await ledger.request(`/v1/event/${json.events[0].event_id}`);
    expect(event.json).toEqual({
      event_id: json.events[0].event_id,
      event_type: "PAYMENT_CREATED",
      resource_type: "payment",
      resource_external_id: "once",
      parent_resource_external_id: null,
      timestamp: "2024-03-05T09:14:22.018408Z",
      event_details: { gateway_account_id: "57", amount: 4250, reference: "LIC-88" },
      service_id: "svc",
      live: true,
    });
    expect((await ledger.request("/v1/transaction/once/transaction?gateway_account_id=57")).json).toEqual({
      parent_transaction_id: "once",
      transactions: [],
    });
  });

  test("the first of two deliveries of an event is stored, and another timestamp makes another event", async () => {
    const members = { resource_external_id: "twice" };
    await ledger.send(message({ ...members, event_details: { gateway_account_id: "57", note: "first" } }));
    await ledger.until("/v1/transaction/twice?account_id=57", { transaction_id: "twice" });
    await ledger.send(
      message({ ...members, event_details: { gateway_account_id: "57", note: "second" } }),
      message({ ...members, timestamp: "2024-03-05T09:14:22.018409Z", event_type: "PAYMENT_STARTED" }),
    );
    await ledger.until("/v1/transaction/twice?account_id=57", { state: { status: "started" } });
    const { json } = await ledger.request(
      "/v1/transaction/twice/event?gateway_account_id=57&include_all_events=true",
    );
    expect(json.events.map(({ data }: { data: object }) => data)).toMatchObject([
      { note: "first" },
      { reference: "LIC-88" },
    ]);
  });

  test("a refund that arrives before its payment is shown at once and gets the payment's details when they arrive", async () => {
    const refund = {
      resource_type: "refund",
      resource_external_id: "first",
      parent_resource_external_id: "second",
      event_type: "REFUND_SUBMITTED",
      event_details: { gateway_account_id: "57", amount: 5 },
    };
    await ledger.send(message(refund));
    await ledger.until("/v1/transaction/first?account_id=57", {
      state: { status: "submitted" },
      parent_transaction_id: "second",
      payment_details: { transaction_type: "PAYMENT" },
    });
    await ledger.send(message({ resource_external_id: "second" }));
    await ledger.until("/v1/transaction/first?account_id=57", { payment_details: { reference: "LIC-88" } });
    await ledger.send(
      message({
        resource_external_id: "second",
        event_type: "PAYMENT_DETAILS_ENTERED",
        timestamp: "2024-03-05T10:00:00Z",
        event_details: { email: "a@example.org", card_type: "DEBIT", card_brand_label: "Visa" },
      }),
    );
    await ledger.until("/v1/transaction/first?account_id=57", {
      amount: 5,
      payment_details: { email: "a@example.org", card_details: { card_type: "debit", card_brand: "Visa" } },
    });
    const { json } = await ledger.request("/v1/transaction/second/transaction?gateway_account_id=57");
    expect(json.transactions).toMatchObject([{ transaction_id: "first" }]);
  });

  test("a refund whose parent is named by a later event gets the payment's details", async () => {
    const members = {
      resource_type: "refund",
      resource_external_id: "orphan",
      event_details: { gateway_account_id: "57" },
    };
    await ledger.send(message({ ...members, event_type: "REFUND_SUBMITTED" }));
    await ledger.until("/v1/transaction/orphan?account_id=57", { transaction_id: "orphan" });
    await ledger.send(
      message({
        ...members,
        event_type: "REFUND_SUCCEEDED",
        timestamp: "2024-03-06T00:00:00Z",
        parent_resource_external_id: "pay1",
      }),
    );
    await ledger.until("/v1/transaction/orphan?account_id=57", {
      parent_transaction_id: "pay1",
      payment_details: { reference: "LIC-88" },
    });
  });

  test("events that change no transaction are stored", async () => {
    await ledger.send(
      message({ resource_type: "agreement", resource_external_id: "agr", event_type: "AGREEMENT_CREATED" }),
      message({ resource_type: "service", resource_external_id: "srv" }),
      message({ resource_external_id: "after-agr" }),
    );
    await ledger.until("/v1/transaction/after-agr?account_id=57", { transaction_id: "after-agr" });
    expect((await ledger.request("/v1/transaction/agr?account_id=57")).status).toBe(404);
    const stored = await ledger.database.query(
      "select from event where resource_external_id in ('agr', 'srv')",
    );
    expect(stored).toHaveLength(2);
  });

  test("a message with reproject_domain_object rebuilds its transaction and is not stored as an event", async () => {
    await ledger.send(message({ resource_external_id: "again" }));
    await ledger.until("/v1/transaction/again?account_id=57", { reference: "LIC-88" });
    await ledger.database.query(
      "update transaction set reference = 'x', details = '{}' where external_id = 'again'",
    );
    await ledger.send(
      message({
        resource_external_id: "again",
        event_type: "NOTHING",
        reproject_domain_object: true,
        event_details: {},
      }),
    );
    await ledger.until("/v1/transaction/again?account_id=57", { reference: "LIC-88" });
    expect(
      await ledger.database.query("select from event where resource_external_id = 'again'"),
    ).toHaveLength(1);
  });

  test("the demonstration's events, shuffled and partly repeated, give its transactions", async () => {
    await ledger.send(...demoEvents().toSorted(() => Math.random() - 0.5));
    await expect
      .poll(async () => {
        const { json } = await ledger.request("/v1/transaction/?account_id=demo");
        return json.results
          .map(({ transaction_id: id, state }: { transaction_id: string; state: { status: string } }) => ({
            id,
            status: state.status,
          }))
          .sort(compareIds);
      })
      .toEqual(demoTransactions.toSorted(compareIds));
    expect(
      (await ledger.request("/v1/transaction/demo-success/event?gateway_account_id=demo")).json.events,
    ).toHaveLength(6);
  });
});

const compareIds = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

describe("an invalid message becomes a dead letter and blocks no other", () => {
  let ledger: Awaited<ReturnType<typeof startLedger>>;
  beforeEach(async () => {
    ledger = await startLedger();
    await ledger.database.query("alter table event add constraint planted check (event_type <> 'PLANTED')");
  });
  afterEach(() => ledger[Symbol.asyncDispose]());

  test("the body and the reason are kept, and the other messages are stored", async () => {
    const broken = [
      "{",
      "[]",
      '{"event_type":1}',
      JSON.stringify(message({ event_details: { note: "\u0000" } })),
      "💷\u0000",
    ];
    await ledger.send(message({ resource_external_id: "before" }));
    await ledger.sendText(...broken);
    await ledger.send(message({ resource_external_id: "after" }));
    await ledger.until("/v1/transaction/before?account_id=57", { transaction_id: "before" });
    await ledger.until("/v1/transaction/after?account_id=57", { transaction_id: "after" });
    // They may be in a later batch than the valid messages.
    await eventually(async () => {
      const deadLetters = await ledger.database.query<{ body: Uint8Array; reason: string }>(
        "select * from dead_letter",
      );
      expect(deadLetters.map(({ body }) => Buffer.from(body).toString()).sort()).toEqual(broken.sort());
      for (const { reason } of deadLetters) {
        expect(reason).toMatch(/not JSON|must be object|must be string|NUL/);
        const lines = ledger.logged.map((line) => JSON.parse(line)).filter((line) => line.reason === reason);
        expect(lines[0]).toMatchObject({
          level: 40,
          msg: "message became a dead letter",
          delivery: expect.any(String),
        });
      }
    });
  });

  test("one that only the database rejects does not affect the others of its batch", async () => {
    await ledger.send(
      message({ resource_external_id: "left" }),
      message({ resource_external_id: "planted", event_type: "PLANTED" }),
      message({ resource_external_id: "right" }),
    );
    await ledger.until("/v1/transaction/left?account_id=57", { transaction_id: "left" });
    await ledger.until("/v1/transaction/right?account_id=57", { transaction_id: "right" });
    const reasons = await ledger.database.query(
      "select reason from dead_letter where reason like '%SQLSTATE%'",
    );
    expect(reasons).toEqual([{ reason: "the database rejects it (SQLSTATE 23514)" }]);
  });

  test("one that cannot be saved as a dead letter is retried, and the others are stored", async () => {
    await ledger.database.run(
      "alter table dead_letter add constraint planted_too check (reason not like '%SQLSTATE%' or source_id is null) not valid",
    );
    await ledger.send(
      message({ resource_external_id: "previous" }),
      message({ resource_external_id: "planted", event_type: "PLANTED" }),
      message({ resource_external_id: "next" }),
    );
    await ledger.until("/v1/transaction/previous?account_id=57", { transaction_id: "previous" });
    await ledger.until("/v1/transaction/next?account_id=57", { transaction_id: "next" });
    await ledger.database.run("alter table dead_letter drop constraint planted_too");
    const rejected = "select from dead_letter where reason like '%SQLSTATE%'";
    await expect.poll(() => ledger.database.query(rejected)).toHaveLength(1);
  });

  test("one that fails with a transient error is retried and stored", async () => {
    await ledger.database.query("alter table event rename to event_renamed");
    await ledger.send(
      message({ resource_external_id: "retried1" }),
      message({ resource_external_id: "retried2" }),
    );
    await expect.poll(async () => (await ledger.request("/v1/event/1")).status).toBe(500);
    await ledger.database.query("alter table event_renamed rename to event");
    await ledger.until("/v1/transaction/retried1?account_id=57", { transaction_id: "retried1" });
    await ledger.until("/v1/transaction/retried2?account_id=57", { transaction_id: "retried2" });
  });
});

describe("lookup", () => {
  test.each([
    ["pay1?account_id=57", 200],
    ["pay1?override_account_id_restriction=true", 200],
    ["pay1?account_id=57&transaction_type=PAYMENT", 200],
    ["pay1?account_id=57&transaction_type=payment", 200],
    ["pay1?account_id=57&transaction_type=Payment", 200],
    ["pay1?account_id=57&transaction_type=refund", 404],
    ["pay1/?account_id=57", 200],
    ["early?account_id=57&parent_external_id=late", 200],
    ["pay1", 400],
    ["pay1?override_account_id_restriction=false", 400],
    ["pay1?account_id=", 400],
    ["pay1?account_id=57&override_account_id_restriction=TRUE", 200],
    ["pay1?account_id=57&transaction_type=bogus", 400],
    ["pay1?account_id=57&account_id=58", 400],
    ["pay1?account_id=57&unknown=1", 400],
    ["pay1?account_id=5%007", 400],
    ["pay%001?account_id=57", 400],
    [`${"x".repeat(256)}?account_id=57`, 400],
    ["pay1?account_id=58", 404],
    ["pay1?account_id=58&override_account_id_restriction=true", 404],
    ["pay1?override_account_id_restriction=true&transaction_type=REFUND", 404],
    ["early?override_account_id_restriction=true&parent_external_id=pay1", 404],
    ["pay0?account_id=57", 404],
    ["..%2Fpay1?account_id=57", 404],
    ["__proto__?account_id=57", 404],
  ])("%s returns %i", async (path, status) => {
    const { headers, ...response } = await ledger.request(`/v1/transaction/${path}`);
    expect(response.status).toBe(status);
    if (status !== 200) {
      expect(headers["content-type"]).toBe(problemType);
      expect(response.json).toMatchObject({
        status,
        error_identifier: "GENERIC",
        message: [expect.any(String)],
      });
    }
  });

  test("states which parameter is missing or which values it accepts", async () => {
    expect((await ledger.request("/v1/transaction/pay1")).json.message).toEqual([
      "Field [account_id] cannot be empty",
    ]);
    expect(
      (await ledger.request("/v1/transaction/pay1?account_id=57&transaction_type=x")).json.message,
    ).toEqual(["query parameter transaction_type must be one of PAYMENT, REFUND, DISPUTE"]);
  });
});

describe("events and children", () => {
  test.each([
    ["pay1/event", 400],
    ["pay1/event?gateway_account_id=", 400],
    ["pay1/event?gateway_account_id=57&include_all_events=1", 400],
    ["pay1/event?gateway_account_id=58", 404],
    ["pay0/event?gateway_account_id=57", 404],
    ["pay1/transaction", 400],
    ["pay1/transaction?gateway_account_id=", 400],
    ["pay1/transaction?gateway_account_id=58", 404],
    ["pay0/transaction?gateway_account_id=57", 404],
  ])("%s returns %i", async (path, status) => {
    expect((await ledger.request(`/v1/transaction/${path}`)).status).toBe(status);
  });

  test("events with the same timestamp are listed in the order of the life cycle, whatever their order of arrival", async () => {
    const members = { resource_external_id: "same-time", timestamp: "2024-03-05T09:00:00Z" };
    await ledger.send(message({ ...members, event_type: "CAPTURE_CONFIRMED" }));
    await ledger.until("/v1/transaction/same-time?account_id=57", { state: { status: "success" } });
    await ledger.send(message({ ...members, event_type: "PAYMENT_STARTED" }), message(members));
    await eventually(async () => {
      const { json } = await ledger.request("/v1/transaction/same-time/event?gateway_account_id=57");
      const types = json.events.map((event: { event_type: string }) => event.event_type);
      expect(types).toEqual(["PAYMENT_CREATED", "PAYMENT_STARTED", "CAPTURE_CONFIRMED"]);
    });
  });

  test("children of another account are not shown", async () => {
    await ledger.store(
      story("payment", "native", ["10:00", "PAYMENT_CREATED", { amount: 4250 }]),
      childStory("refund", "own", "native", ["10:01", "REFUND_SUBMITTED"], ["10:02", "REFUND_SUCCEEDED"]),
    );
    await ledger.send(
      message({
        resource_type: "refund",
        resource_external_id: "foreign",
        parent_resource_external_id: "native",
        event_type: "REFUND_SUBMITTED",
        event_details: { gateway_account_id: "58" },
      }),
    );
    await ledger.until("/v1/transaction/foreign?account_id=58", { transaction_id: "foreign" });
    const { text } = await ledger.request("/v1/transaction/native/transaction?gateway_account_id=57");
    expect(text).not.toContain("foreign");
    const { json } = await ledger.request("/v1/transaction/native/event?gateway_account_id=57");
    expect(json.events.map((event: { amount: number }) => event.amount)).toEqual([4250, null, null]);
  });

  test.each([
    ["/v1/event/9223372036854775807", 404],
    ["/v1/event/9223372036854775808", 404],
    ["/v1/event/-1", 404],
    ["/v1/event/0", 404],
    ["/v1/event/abc", 400],
    ["/v1/event/1.0", 400],
    ["/v1/event/1?x=1", 400],
  ])("%s returns %i", async (path, status) => {
    expect((await ledger.request(path)).status).toBe(status);
  });

  test("an event id above 2^53 keeps its digits", async () => {
    await using ledger = await startLedger();
    await ledger.database.query("alter table event alter column id restart with 9007199254740993");
    await ledger.send(message({ resource_external_id: "far" }));
    await ledger.until("/v1/transaction/far?account_id=57", { transaction_id: "far" });
    const { text } = await ledger.request("/v1/event/9007199254740993");
    expect(text).toContain('"event_id":9007199254740993');
    expect((await ledger.request("/v1/event/9007199254740992")).status).toBe(404);
  });
});

describe("the service", () => {
  test("reports the result of each health check by name", async () => {
    const healthy = { healthy: true, message: "Healthy" };
    const { status, json } = await ledger.request("/healthcheck");
    const receiver = { ...healthy, oldest_message_age_ms: expect.any(Number), failing_for_ms: 0 };
    expect([status, json]).toEqual([200, { database: healthy, queue: healthy, receiver }]);
  });

  test("is unhealthy when the queue cannot be reached, and discloses no details", async () => {
    const violations: string[] = [];
    await using queue = await openQueue("sqs+http://127.0.0.1:9/000000000000/none");
    await using app = await ledgerApp({
      database: ledger.database,
      queue,
      statementTimeoutMs: 10_000,
      log: openLog("silent"),
      onViolation: (violation) => violations.push(violation),
    });
    const response = await app.inject("/healthcheck");
    expect([response.statusCode, response.json()]).toEqual([
      503,
      {
        database: { healthy: true, message: "Healthy" },
        queue: { healthy: false, message: "The queue cannot be reached" },
      },
    ]);
    expect(violations).toEqual([]);
  });

  test("returns 504 with advice when a statement times out, and logs the route of the first", async () => {
    await using ledger = await startLedger({ statementTimeoutMs: 200 });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const holding = ledger.database.transaction(async (sql) => {
      await sql.run("lock table event, transaction, metadata_key");
      await released;
    });
    const text = "no answer within 200 ms; a narrower request, for example between two dates, may succeed";
    for (const path of [
      "/v1/transaction?account_id=57",
      "/v1/transaction/pay1?account_id=57",
      "/v1/transaction/gateway-transaction?gateway_transaction_id=g&payment_provider=p",
      "/v1/transaction/pay1/event?gateway_account_id=57",
      "/v1/transaction/pay1/transaction?gateway_account_id=57",
      "/v1/event/1",
    ]) {
      expect(await ledger.request(path)).toMatchObject({
        status: 504,
        json: { status: 504, message: [text] },
      });
    }
    const csv = await ledger.request("/v1/transaction?account_id=57", { headers: { accept: "text/csv" } });
    expect([csv.status, csv.headers["content-type"]]).toEqual([504, problemType]);
    release();
    await holding;
    // On a busy machine the first statement can take longer.
    await eventually(async () =>
      expect((await ledger.request("/v1/transaction?account_id=57")).status).toBe(200),
    );
    expect(ledger.logged.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 40, method: "GET", route: "/v1/transaction/", msg: text }),
    ]);
  });

  test("returns its error format for a wrong method, path or query", async () => {
    const method = await ledger.request("/v1/event/1", { method: "POST", body: "x" });
    expect(method).toMatchObject({ status: 405, json: { title: "Method Not Allowed" } });
    expect(method.headers).toMatchObject({ allow: "GET, HEAD", "content-type": problemType });
    expect(await ledger.request("/v1/nothing")).toMatchObject({ status: 404, json: { status: 404 } });
    expect((await ledger.request("/healthcheck?x=1")).json.message[0]).toContain(
      'query parameter "x" is unknown',
    );
    expect((await ledger.request("/v1/transaction/?account_id=57", { method: "HEAD" })).status).toBe(200);
  });
});
