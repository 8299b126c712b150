import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { childStory, message } from "../../../testing/messages.ts";
import { testWaitMaxMs } from "../../../testing/test-wait-max.ts";
import { openLog } from "../../process/log.ts";
import { openQueue } from "../queue/queues.ts";
import { ledgerIdOf } from "../tables/identity.ts";
import { ledgerOfFile, openApp, payment } from "./ledger.fixture.ts";

const ledger = await ledgerOfFile({ limits: { retryDelayMs: 20 } });
await ledger.store(
  [message({})],
  payment("late"),
  childStory("refund", "early", "late", ["10:00", "REFUND_SUBMITTED"]),
);
const { database } = ledger;

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
  const { json } = await ledger.request("/v1/transaction/once/event?gateway_account_id=57&extended=true");
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
  const withNote = (note: string) =>
    message({ resource_external_id: "twice", event_details: { gateway_account_id: "57", note } });
  await ledger.store([withNote("first")]);
  await ledger.send(withNote("second"), { ...withNote("third"), timestamp: "2024-03-05T09:14:22.018409Z" });
  const path = "/v1/transaction/twice/event?gateway_account_id=57&include_all_events=true";
  await ledger.until(path, { events: [{ data: { note: "first" } }, { data: { note: "third" } }] });
});

test("a refund that arrives before its payment is shown at once and gets the payment's details when they arrive", async () => {
  const path = "/v1/transaction/first?account_id=57";
  await ledger.store(childStory("refund", "first", "second", ["11:00", "REFUND_SUBMITTED"]));
  expect(await ledger.get(path)).toMatchObject({ parent_transaction_id: "second", payment_details: {} });
  await ledger.store(payment("second", { reference: "LIC-88" }));
  await ledger.until(path, { payment_details: { reference: "LIC-88" } });
});

describe("an invalid message becomes a dead letter and blocks no other", () => {
  const events = (...ids: string[]) => ids.map((resource_external_id) => message({ resource_external_id }));
  const planted = message({ resource_external_id: "planted", event_type: "PLANTED" });
  beforeAll(() => database.run("alter table event add constraint planted check (event_type <> 'PLANTED')"));
  beforeEach(() => database.run("delete from dead_letter"));
  const untilStored = async (...ids: string[]) => {
    for (const id of ids) await ledger.until(`/v1/transaction/${id}?account_id=57`, { transaction_id: id });
  };
  const reasons = async () =>
    (await database.query<{ reason: string }>("select reason from dead_letter")).map(({ reason }) => reason);

  test("the body and the reason are kept, and the other messages are stored", async () => {
    const broken = [
      "{",
      "[]",
      '{"event_type":1}',
      JSON.stringify(message({ event_details: { note: "\u0000" } })),
      "💷\u0000",
    ];
    await ledger.send(...events("before"));
    await ledger.sendText(...broken);
    await ledger.send(...events("after"));
    await untilStored("before", "after");
    // They may be in a later batch than the valid messages.
    await eventually(async () => {
      const deadLetters = await database.query<{ body: Uint8Array; reason: string }>(
        "select * from dead_letter",
      );
      expect(deadLetters.map(({ body }) => Buffer.from(body).toString()).sort()).toEqual(broken.sort());
      for (const { reason } of deadLetters) {
        expect(reason).toMatch(/not JSON|must be an object|must be a text|NUL/);
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
    const [left, right] = events("left", "right");
    await ledger.send(left as object, planted, right as object);
    await untilStored("left", "right");
    await expect.poll(reasons).toEqual(["the database rejects it (SQLSTATE 23514)"]);
  });

  test("one that cannot be saved as a dead letter is retried, and the others are stored", async () => {
    await database.run(
      "alter table dead_letter add constraint planted_too check (reason not like '%SQLSTATE%') not valid",
    );
    const [previous, next] = events("previous", "next");
    await ledger.send(previous as object, planted, next as object);
    await untilStored("previous", "next");
    expect(await reasons()).toEqual([]);
    await database.run("alter table dead_letter drop constraint planted_too");
    await expect.poll(reasons).toHaveLength(1);
  });

  test("those that fail with a transient error are retried, counted and stored", async () => {
    const retried = async () =>
      Number(/outcome="retried"\} (\d+)/.exec((await ledger.request("/metrics")).text)?.[1]);
    const before = await retried();
    await ledger.saveIntake();
    await database.run("truncate intake_minute; alter table event rename to event_renamed");
    await ledger.send(...events("retried1", "retried2"));
    await expect.poll(retried).toBeGreaterThan(before);
    expect((await ledger.request("/v1/event/1")).status).toBe(500);
    await database.run("alter table event_renamed rename to event");
    await untilStored("retried1", "retried2");
    await ledger.saveIntake();
    const { minutes } = await ledger.get("/v1/intake");
    const shown = minutes.reduce((sum: number, minute: { retried: number }) => sum + minute.retried, 0);
    expect(shown).toBe((await retried()) - before);
    expect((await ledger.request("/metrics")).text).toContain(
      '\nledger_queue_messages_waiting{scope="shared"} 0\n',
    );
  });
});

// Without an account or with another one: `auth.test.ts` requests every operation so.
test.each([
  ["transaction/pay1?account_id=57", 200],
  ["transaction/pay1?override_account_id_restriction=true", 200],
  ["transaction/pay1?account_id=57&transaction_type=PAYMENT", 200],
  ["transaction/pay1?account_id=57&transaction_type=Payment", 200],
  ["transaction/pay1?account_id=57&transaction_type=refund", 404],
  ["transaction/pay1/?account_id=57", 200],
  ["transaction/early?account_id=57&parent_external_id=late", 200],
  ["transaction/pay1?override_account_id_restriction=false", 400],
  ["transaction/pay1?account_id=", 400],
  ["transaction/pay1?account_id=57&override_account_id_restriction=TRUE", 200],
  ["transaction/pay1?account_id=57&account_id=58", 400],
  ["transaction/pay1?account_id=57&unknown=1", 400],
  ["transaction/pay1?account_id=5%007", 400],
  ["transaction/pay%001?account_id=57", 400],
  [`transaction/${"x".repeat(256)}?account_id=57`, 400],
  ["transaction/pay1?account_id=58&override_account_id_restriction=true", 404],
  ["transaction/pay1?override_account_id_restriction=true&transaction_type=REFUND", 404],
  ["transaction/early?override_account_id_restriction=true&parent_external_id=pay1", 404],
  ["transaction/pay0?account_id=57", 404],
  ["transaction/..%2Fpay1?account_id=57", 404],
  ["transaction/__proto__?account_id=57", 404],
  ["transaction/pay1?account_id=57&status_version=3", 400],
  ["transaction/pay1?account_id=58&as_of=2024-03-05T12:00:00Z", 404],
  ["transaction/pay1?account_id=57&transaction_type=REFUND&as_of=2024-03-05T12:00:00Z", 404],
  ["transaction/pay1?account_id=57&parent_external_id=old&as_of=2024-03-05T12:00:00Z", 404],
  ["transaction/pay1?as_of=2024-03-05T12:00:00Z", 400],
  ["transaction/pay1?account_id=57&as_of=2024-03-05T12:00:00", 400],
  ["transaction/pay1?account_id=57&as_of=2024-03-05T12:00:00+01:00", 400],
  ["transaction/pay1?account_id=57&as_of=2024-03-05T12:00:00%2B01:00", 200],
  ["transaction/pay1?account_id=57&as_of=2024-03-05T12:00:00%2B03:00", 404],
  ["transaction?account_id=", 400],
  ["transaction?account_id=%20", 400],
  ["transaction?account_id=,,", 400],
  ["transaction?account_id=57&colour=red", 400],
  ["transaction?account_id=57&page=2147483647&display_size=2147483647", 404],
  ["transaction/pay1/event?gateway_account_id=", 400],
  ["transaction/pay1/event?gateway_account_id=57&include_all_events=yes", 400],
  ["transaction/pay0/event?gateway_account_id=57", 404],
  ["transaction/pay1/transaction?gateway_account_id=", 400],
  ["transaction/pay0/transaction?gateway_account_id=57", 404],
  ["event/9223372036854775807", 404],
  ["event/9223372036854775808", 404],
  ["event/-1", 404],
  ["event/0", 404],
  ["event/abc", 400],
  ["event/1.0", 400],
  ["event/1?x=1", 400],
])("/v1/%s returns %i", async (path, status) => {
  if (status === 200) return void (await ledger.get(`/v1/${path}`));
  expect(await ledger.getError(`/v1/${path}`)).toEqual([status, expect.stringMatching(/./)]);
});

test("errors state which parameter is missing or which values it accepts", async () => {
  const path = "/v1/transaction/pay1";
  expect(await ledger.getError(path)).toEqual([400, "Field [account_id] cannot be empty"]);
  expect(await ledger.getError(`${path}?account_id=57&transaction_type=x`)).toEqual([
    400,
    "query parameter transaction_type must be one of PAYMENT, REFUND or DISPUTE",
  ]);
});

test("a required parameter that is misspelt is one fault, with its remedy", async () => {
  const { status, json } = await ledger.request("/v1/transaction/pay1/event?gateway_acount_id=57");
  const parameter = "gateway_acount_id";
  const detail = `query parameter ${parameter} is unknown; is gateway_account_id meant?`;
  const remedy = [{ op: "move", from: `/${parameter}`, path: "/gateway_account_id" }];
  const errors = [{ parameter, rule: { additionalProperties: false }, detail, remedy }];
  expect([status, json]).toMatchObject([400, { message: [detail] }]);
  expect(json.errors).toEqual(errors);
});

test("an event id above 2^53 keeps its digits", async () => {
  await database.run(
    `insert into event (id, resource_type, resource_external_id, timestamp, event_type, event_details)
     overriding system value values (9007199254740993, 'payment', 'far', now(), 'A', '{}')`,
  );
  const { text } = await ledger.request("/v1/event/9007199254740993");
  expect(text).toContain('"event_id":9007199254740993');
  expect((await ledger.request("/v1/event/9007199254740992")).status).toBe(404);
});

describe("the service", () => {
  test("reports the result of each health check by name", async () => {
    const healthy = { healthy: true, message: "Healthy" };
    const { status, json } = await ledger.request("/healthcheck");
    const receiver = { ...healthy, oldest_message_age_ms: expect.any(Number), failing_for_ms: 0 };
    const ledger_id = await ledgerIdOf(database);
    expect([status, json]).toEqual([200, { database: healthy, queue: healthy, receiver, ledger_id }]);
  });

  test("is unhealthy when the queue cannot be reached, and discloses no details", async () => {
    await using queue = await openQueue("memory:");
    const countWaiting = () => Promise.reject(new Error("connect ECONNREFUSED queue.example"));
    await using api = await openApp({ database, queue: { ...queue, countWaiting } });
    const response = await api.app.inject("/healthcheck");
    expect([response.statusCode, response.json()]).toEqual([
      503,
      {
        database: { healthy: true, message: "Healthy" },
        queue: { healthy: false, message: "The queue cannot be reached" },
        ledger_id: "ledger",
      },
    ]);
  });

  test("returns 504 with advice when a statement times out, and logs the route of the first", async () => {
    const logged: string[] = [];
    const log = openLog("warn", { write: (line) => logged.push(line) });
    await using api = await openApp({ database, statementTimeoutMs: 100, log });
    const get = (url: string, accept = "application/json") => api.app.inject({ url, headers: { accept } });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const isHeld = Promise.withResolvers<void>();
    const holding = database.transaction(
      async (sql) => {
        await sql.run("lock table event, transaction, metadata_key");
        isHeld.resolve();
        await released;
      },
      { idleMs: testWaitMaxMs },
    );
    await isHeld.promise;
    const text = "no answer within 100 ms; a narrower request, for example between two dates, may succeed";
    for (const path of [
      "/v1/transaction?account_id=57",
      "/v1/transaction/pay1?account_id=57",
      "/v1/transaction/gateway-transaction?gateway_transaction_id=g&payment_provider=p",
      "/v1/transaction/pay1/event?gateway_account_id=57",
      "/v1/transaction/pay1/transaction?gateway_account_id=57",
      "/v1/event/1",
    ])
      expect((await get(path)).json()).toMatchObject({ status: 504, message: [text] });
    const csv = await get("/v1/transaction?account_id=57", "text/csv");
    expect([csv.statusCode, csv.headers["content-type"]]).toEqual([
      504,
      "application/problem+json; charset=utf-8",
    ]);
    release();
    await holding;
    // On a busy machine the first statement can take longer.
    await eventually(async () => expect((await get("/v1/transaction?account_id=57")).statusCode).toBe(200));
    expect(logged.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 40, method: "GET", route: "/v1/transaction/", msg: text }),
    ]);
  });

  test("returns its error format for a wrong method, path or query", async () => {
    const method = await ledger.request("/v1/event/1", { method: "POST", body: "x" });
    expect(method).toMatchObject({
      status: 405,
      json: { type: "/problems/method-not-allowed", title: "The path does not have this method" },
    });
    expect(method.headers).toMatchObject({
      allow: "GET, HEAD",
      "content-type": "application/problem+json; charset=utf-8",
    });
    const path = await ledger.request("/v1/nothing");
    expect(path).toMatchObject({ status: 404, json: { status: 404, type: "/problems/not-found" } });
    const detail = "query parameter x is unknown; none is known here";
    expect((await ledger.request("/healthcheck?x=1")).json).toMatchObject({
      type: "/problems/invalid-request",
      title: "The request does not conform to the contract",
      errors: [{ parameter: "x", rule: { additionalProperties: false }, detail }],
      message: [detail],
    });
    expect((await ledger.request("/v1/transaction/?account_id=57", { method: "HEAD" })).status).toBe(200);
  });
});
