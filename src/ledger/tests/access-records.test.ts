import { setTimeout as sleep } from "node:timers/promises";
import type { JWTPayload } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listen } from "../../../testing/event-stream.ts";
import { eventually } from "../../../testing/eventually.ts";
import { type Issuer, openIssuer } from "../../../testing/issuer.ts";
import { message } from "../../../testing/messages.ts";
import { ledgerSamples } from "../../../testing/requests.ts";
import { ledgerContract } from "../../contract/contracts.ts";
import { operationsOf } from "../../contract/operations.ts";
import { recordedOperations } from "../../contract/recorded.ts";
import { startLedger } from "./ledger.fixture.ts";

const recorded = new Set(
  recordedOperations(ledgerContract, operationsOf(ledgerContract)).map(({ operationId }) => operationId),
);

let issuer: Issuer;
let ledger: Awaited<ReturnType<typeof startLedger>>;
beforeAll(async () => {
  issuer = await openIssuer();
  ledger = await startLedger({ security: issuer.security, eventWrites: true, mcp: true });
  const details = { gateway_account_id: "57", gateway_transaction_id: "gtx-1", payment_provider: "sandbox" };
  const payment = { resource_external_id: "full", event_details: { ...details, email: "payer@example.com" } };
  const payout = { resource_type: "payout", resource_external_id: "po_44", event_type: "PAYOUT_CREATED" };
  const agreement = { resource_type: "agreement", resource_external_id: "agr-1", service_id: "svc" };
  for (const members of [payment, payout, agreement])
    await ledger.store([message({ event_details: { gateway_account_id: "57" }, ...members })]);
  await ledger.sendText("no JSON");
  await eventually(async () =>
    expect(await ledger.database.query("select from dead_letter")).toHaveLength(1),
  );
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

type Options = NonNullable<Parameters<typeof ledger.request>[1]>;
let requests = 0;

interface Row {
  operation: string;
  subject: string | null;
  client: string | null;
  accounts: string[];
  ids: string[];
  count: number | null;
  status: number;
  reason: string | null;
}

/** Sends a request with a token of these claims, or without one. Resolves with its status and its records. */
async function send(path: string, claims: JWTPayload | undefined, options: Options = {}) {
  const id = `request-${requests++}`;
  const token = claims && { authorization: `Bearer ${await issuer.sign(claims)}` };
  const headers = { ...(options.headers as Record<string, string>), ...token, "x-request-id": id };
  const { status } = await ledger.request(path, { ...options, headers });
  return { status, records: await recordsOf(id) };
}

/** The records of a request. Those of later ones are saved later. */
async function recordsOf(id: string): Promise<Row[]> {
  const last = `${id}-last`;
  const headers = { authorization: `Bearer ${await issuer.sign(reader)}`, "x-request-id": last };
  await ledger.request("/v1/transaction/none?account_id=57", { headers });
  const find = (requestId: string) =>
    ledger.database.query<Row>(
      `select operation, subject, client, gateway_account_ids as accounts, resource_ids as ids, resource_count as count,
         status, reason from access_record where request_id = $1`,
      [requestId],
    );
  await eventually(async () => expect(await find(last)).toHaveLength(1));
  return find(id);
}

const reader = { scope: "ledger:read:all", sub: "anna", client_id: "desk" };
const access = (operation: string, more: Partial<Row> = {}): Row => ({
  ...{
    operation,
    subject: "anna",
    client: "desk",
    accounts: [],
    ids: [],
    count: 0,
    status: 200,
    reason: null,
  },
  ...more,
});

describe.each(Object.entries(ledgerSamples).filter(([, { scopes }]) => scopes.length > 0))(
  "%s",
  (operationId, sample) => {
    const { method, path, body, scopes } = sample;
    const options = {
      method: method as "GET",
      headers: { ...sample.headers, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    const claims = { scope: scopes.at(-1), sub: "anna", azp: "desk" };
    const separator = path.includes("?") ? "&" : "?";
    const unknown = path.replace(/\/(full|agr-1|po_44|1)(?=[/?]|$)/, "/999").replace("gtx-1", "gtx-9");
    const cases: [string, string, JWTPayload | undefined, Options, number[]][] = [
      ["an allowed caller", path, claims, options, [200, 202]],
      ["a caller without the scope", path, { ...claims, scope: "other" }, options, [403]],
      ["a request for an unknown id", unknown, claims, options, [200, 202, 404]],
      ["an invalid request", `${path}${separator}surplus=1`, claims, options, [400]],
    ];
    if (method === "GET") cases.push(["HEAD", path, claims, { ...options, method: "HEAD" }, [200]]);
    test.each(cases)("leaves one record of %s", async (_, at, given, requested, statuses) => {
      const { status, records } = await send(at, given, requested);
      expect(statuses).toContain(status);
      const isOne = recorded.has(operationId);
      expect(records).toMatchObject(
        isOne ? [{ operation: operationId, subject: "anna", client: "desk", status }] : [],
      );
    });

    test("leaves no record of a caller without a valid token", async () => {
      expect(await send(path, undefined, options)).toEqual({ status: 401, records: [] });
    });
  },
);

describe("a record", () => {
  test.each<[string, string, Partial<Row>, Options?]>([
    ["getTransaction", "/v1/transaction/full?account_id=57", { accounts: ["57"], ids: ["full"], count: 1 }],
    [
      "getTransaction",
      "/v1/transaction/x?account_id=57",
      { accounts: ["57"], ids: ["x"], count: 1, status: 404 },
    ],
    ["getTransaction", "/v1/transaction/a%40b.c?account_id=57", { accounts: ["57"], status: 404 }],
    ["getEvent", "/v1/event/1", { ids: ["full"], count: 1 }],
    [
      "searchTransactions",
      "/v1/transaction/?account_id=57,58,a%40b",
      { accounts: ["57", "58"], ids: ["full"], count: 1 },
    ],
    ["searchTransactions", "/v1/transaction/?account_id=57&format=csv", { accounts: ["57"], count: null }],
    [
      "listTransactionEvents",
      "/v1/transaction/full/event?gateway_account_id=57",
      { accounts: ["57"], ids: ["full"], count: 1 },
    ],
    [
      "listChildTransactions",
      "/v1/transaction/full/transaction?gateway_account_id=57",
      { accounts: ["57"], ids: ["full"], count: 1 },
    ],
    ["getAgreement", "/v1/agreement/agr-1?account_id=57", { accounts: ["57"], ids: ["agr-1"], count: 1 }],
    ["listEvents", "/v1/event?resource_types=payment&limit=1", { ids: ["full"], count: 1 }],
    [
      "listEvents",
      "/v1/event?resource_types=payment&limit=1",
      { ids: ["full"], count: 1 },
      { headers: { accept: "application/x-ndjson" } },
    ],
    [
      "getTransaction",
      "/v1/transaction/full?account_id=57",
      { accounts: ["57"], ids: ["full"], count: 1, reason: "ticket 1" },
      { headers: { "access-reason": "ticket 1" } },
    ],
    [
      "getTransaction",
      "/v1/transaction/full?account_id=57",
      { accounts: ["57"], ids: ["full"], count: 1, status: 400 },
      { headers: { "access-reason": "\t\u00e9" } },
    ],
  ])("of %s %s has its resources", async (operation, path, expected, options) => {
    const { records } = await send(path, reader, options);
    expect(records).toEqual([access(operation, expected)]);
  });

  test("of a QUERY has the accounts of its body", async () => {
    const { records } = await send("/v1/transaction", reader, {
      method: "QUERY" as "GET",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ account_id: ["57"] }),
    });
    expect(records).toEqual([access("queryTransactions", { accounts: ["57"], ids: ["full"], count: 1 })]);
  });

  test("of added events has their resources, and of many the first 20 and their number", async () => {
    const events = Array.from({ length: 30 }, (_, index) =>
      message({ resource_external_id: `many-${index}`, event_details: { gateway_account_id: "60" } }),
    );
    const { records } = await send(
      "/v1/event",
      { ...reader, scope: "ledger:write" },
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(events),
      },
    );
    const ids = Array.from({ length: 20 }, (_, index) => `many-${index}`);
    expect(records).toEqual([access("addEvents", { ids, count: 30, status: 202 })]);
  });

  test("of an unchanged response has its status", async () => {
    const path = "/v1/transaction/full?account_id=57";
    const { headers } = await ledger.request(path, {
      headers: { authorization: `Bearer ${await issuer.sign(reader)}` },
    });
    const { status, records } = await send(path, reader, {
      headers: { "if-none-match": String(headers.etag) },
    });
    expect(status).toBe(304);
    expect(records).toEqual([
      access("getTransaction", { accounts: ["57"], ids: ["full"], count: 1, status: 304 }),
    ]);
  });

  test("of a body that is no JSON is that of a request that failed", async () => {
    for (const body of ["{", '"', "[1", "\u0000"]) {
      const headers = { "content-type": "application/json" };
      const claims = { ...reader, scope: "ledger:write" };
      const { status, records } = await send("/v1/event", claims, { method: "POST", headers, body });
      expect([body, status]).toEqual([body, 400]);
      expect(records).toEqual([access("addEvents", { status: 400 })]);
    }
  });

  test("of a tool is one", async () => {
    const call = { name: "getTransaction", arguments: { transactionExternalId: "full", account_id: "57" } };
    const { status, records } = await send("/mcp", reader, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "access-reason": "asked",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: call }),
    });
    expect(status).toBe(200);
    expect(records).toEqual([
      access("getTransaction", { accounts: ["57"], ids: ["full"], count: 1, reason: "asked" }),
    ]);
  });

  test("of a stream is written before its first byte, without resources", async () => {
    const headers = { authorization: `Bearer ${await issuer.sign(reader)}`, "x-request-id": "stream" };
    await ledger.listenToFeed("?account_id=57", headers);
    expect(await recordsOf("stream")).toEqual([access("listEvents", { accounts: ["57"], count: null })]);
  });

  test("has no personal data", async () => {
    const rows = await ledger.database.query<{ row: string }>(
      "select access_record::text as row from access_record",
    );
    expect(rows.filter(({ row }) => /payer@|a@b/.test(row))).toEqual([]);
  });

  test("has a subject without control characters, or none", async () => {
    const path = "/v1/transaction/full?account_id=57";
    const of = async (claims: object) =>
      (await send(path, { scope: "ledger:read:all", ...claims })).records[0];
    expect(await of({ sub: "a\u0000b\ud800" })).toMatchObject({ subject: "a\ufffdb\ufffd", client: null });
    expect(await of({ client_id: 7 })).toMatchObject({ subject: null, client: null });
    expect((await of({ sub: "x".repeat(300) }))?.subject).toHaveLength(255);
  });
});

interface AuditPage {
  records: { cursor: string; operation: string; subject: string; request_id: string }[];
  next_cursor: string;
  has_more: boolean;
}

describe("GET /v1/audit", () => {
  const auditor = { scope: "ledger:audit", sub: "auditor" };
  const audit = async (query: string) => {
    const headers = { authorization: `Bearer ${await issuer.sign(auditor)}` };
    const { status, json } = await ledger.request(`/v1/audit?${query}`, { headers });
    expect([query, status]).toEqual([query, 200]);
    return json as AuditPage;
  };

  test("returns each record once, in pages, with every filter", async () => {
    await send("/v1/transaction/audited?account_id=57", { ...reader, sub: "paul" });
    await send("/v1/transaction/audited?account_id=57", { ...reader, sub: "paula" });
    const subjects = async (query: string) => (await audit(query)).records.map(({ subject }) => subject);
    await eventually(async () => expect(await subjects("resource_id=audited")).toEqual(["paul", "paula"]));
    expect(await subjects("resource_id=audited&subject=paula")).toEqual(["paula"]);
    expect(
      await subjects("subject=paul&from_date=2020-01-01T00:00:00Z&to_date=9999-12-31T00:00:00Z"),
    ).toEqual(["paul"]);
    expect(await subjects("subject=paul&from_date=9999-01-01T00:00:00Z")).toEqual([]);
    expect(await subjects("subject=paul&to_date=0001-01-01T00:00:00Z")).toEqual([]);
    const first = await audit("resource_id=audited&limit=1");
    expect([first.records.length, first.has_more]).toEqual([1, true]);
    const second = await audit(`resource_id=audited&limit=1&cursor=${first.next_cursor}`);
    expect([second.records.map(({ subject }) => subject), second.has_more]).toEqual([["paula"], false]);
    const [, count] = [await audit("limit=3"), await ledger.database.query("select from access_record")];
    const all: string[] = [];
    for (let cursor = "", page: AuditPage; ; cursor = `&cursor=${page.next_cursor}`) {
      page = await audit(`limit=7${cursor}`);
      all.push(...page.records.map((record) => record.cursor));
      if (all.length >= count.length) break;
    }
    expect(new Set(all).size).toBe(all.length);
  });

  test("is recorded, too", async () => {
    await send("/v1/audit?resource_id=none", auditor, { headers: { "access-reason": "yearly" } });
    await eventually(async () =>
      expect((await audit("subject=auditor")).records).toContainEqual(
        expect.objectContaining({ operation: "listAccessRecords", reason: "yearly" }),
      ),
    );
  });

  test("rejects a cursor of another list", async () => {
    const { status } = await send(`/v1/audit?cursor=${"a".repeat(60)}`, auditor);
    expect(status).toBe(400);
  });

  test("streams records as they are written, and goes on from a cursor", async () => {
    const headers = { authorization: `Bearer ${await issuer.sign(auditor)}`, accept: "text/event-stream" };
    const stream = await listen(ledger.base, "/v1/audit?resource_id=streamed", headers);
    for (const sub of ["first", "second"])
      await send("/v1/transaction/streamed?account_id=57", { ...reader, sub });
    await eventually(() => expect(stream.text()).toContain('"subject":"second"'));
    const [first = ""] = /(?<=^id: )\S+(?=\ndata: .*"first")/m.exec(stream.text()) ?? [];
    const later = await listen(ledger.base, "/v1/audit?resource_id=streamed", {
      ...headers,
      "last-event-id": first,
    });
    await eventually(() => expect(later.text()).toContain('"subject":"second"'));
    expect(later.text()).not.toContain('"subject":"first"');
  });
});

test("a service that requires reasons responds 400 without one, and records it", async () => {
  await using other = await startLedger({ security: issuer.security, isReasonRequired: true });
  const get = async (path: string, scope: string, headers = {}) => {
    const authorization = `Bearer ${await issuer.sign({ scope, sub: "anna" })}`;
    return other.request(path, { headers: { authorization, ...headers } });
  };
  const path = "/v1/transaction/full?account_id=57";
  const { status, json } = await get(path, "ledger:read:all");
  expect([status, json.errors]).toEqual([
    400,
    [expect.objectContaining({ header: "Access-Reason", rule: { required: true } })],
  ]);
  expect((await get(path, "ledger:read:all", { "access-reason": "ticket 1" })).status).toBe(404);
  expect((await get("/v1/payout?gateway_account_id=57", "ledger:read:all")).status).toBe(200);
  await eventually(async () =>
    expect(await other.database.query("select status, reason from access_record order by id")).toEqual([
      { status: 400, reason: null },
      { status: 404, reason: "ticket 1" },
    ]),
  );
});

test("no response is withheld under a load for which the journal has not the space", async () => {
  await using busy = await startLedger({ security: issuer.security, journalBytesMax: 2 ** 21 });
  const headers = { authorization: `Bearer ${await issuer.sign(reader)}`, "access-reason": "r".repeat(200) };
  const statuses = new Map<number, number>();
  // Saving is slow at first, so while there is a load it pauses for long.
  await busy.database.transaction(async ({ query }) => {
    await query("lock table access_record in exclusive mode");
    await busy.request("/v1/transaction/none?account_id=57&surplus=1", { headers });
    await sleep(1000);
  });
  // Their records have twice the size of the journal.
  let left = 6000;
  const readers = Array.from({ length: 64 }, async () => {
    while (left-- > 0) {
      const { status } = await busy.request("/v1/transaction/none?account_id=57", { headers });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  });
  await Promise.all(readers);
  expect(Object.fromEntries(statuses)).toEqual({ 404: 6000 });
});

test("responses are withheld while accesses cannot be recorded, since the journal is full", async () => {
  await using other = await startLedger({
    ...{ security: issuer.security, eventWrites: true },
    journalBytesMax: 64 * 1024,
  });
  await other.store([
    message({ resource_external_id: "full", event_details: { gateway_account_id: "57", email: "payer@x" } }),
  ]);
  const request = async (path: string, scope: string, options: Options = {}) => {
    const authorization = `Bearer ${await issuer.sign({ scope })}`;
    return other.request(path, { ...options, headers: { ...(options.headers as object), authorization } });
  };
  const lookup = () => request("/v1/transaction/full?account_id=57", "ledger:read:all");
  await other.database.run(`
    create function is_full() returns trigger language plpgsql as $$ begin raise 'no space left' using errcode = '53100'; end $$;
    create trigger is_full before insert on access_record for each row execute function is_full()`);
  const statuses: number[] = [];
  while (statuses.at(-1) !== 503 && statuses.length < 1000) statuses.push((await lookup()).status);
  // Records waited for the database until there was no space for them.
  const [withheldCount, sentCount] = [503, 200].map(
    (one) => statuses.filter((status) => status === one).length,
  );
  expect([withheldCount, statuses.length]).toEqual([1, (sentCount ?? 0) + 1]);
  expect(sentCount).toBeGreaterThan(20);
  const withheld = [
    "the access could not be recorded, so the response is withheld; a change can have been made; try again later",
  ];
  const requests: [string, string, Options?][] = [
    ["/v1/transaction/full?account_id=57", "ledger:read:all"],
    ["/v1/transaction/other?account_id=57", "ledger:read:all"],
    ["/v1/transaction/?account_id=57&format=csv", "ledger:read:all"],
    ["/v1/event?account_id=57", "ledger:read:all", { headers: { accept: "text/event-stream" } }],
    ["/v1/audit", "ledger:audit"],
    [
      "/v1/event",
      "ledger:write",
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(message({ resource_external_id: "added" })),
      },
    ],
  ];
  for (const [path, scope, options] of requests) {
    const { status, headers, json, text } = await request(path, scope, options);
    expect([path, status, headers["retry-after"], json.message]).toEqual([path, 503, "1", withheld]);
    expect([headers.etag, headers.link, headers["content-type"]]).toEqual([
      undefined,
      undefined,
      "application/problem+json; charset=utf-8",
    ]);
    expect(text).not.toContain("payer@x");
  }
  expect((await request("/v1/payout?gateway_account_id=57", "ledger:read:all")).status).toBe(200);
  expect((await request("/healthcheck", "")).status).toBe(200);
  await other.database.run("drop trigger is_full on access_record");
  await eventually(async () => expect((await lookup()).status).toBe(200));
  const saved = async () => await other.database.query("select from access_record where status = 200");
  await eventually(async () => expect((await saved()).length).toBeGreaterThan(sentCount ?? 0));
});
