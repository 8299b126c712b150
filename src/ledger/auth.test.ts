import type { JWTPayload } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { operations } from "../../generated/ledger.ts";
import { eventually } from "../../testing/eventually.ts";
import { openIssuer } from "../../testing/issuer.ts";
import { message } from "../../testing/messages.ts";
import { operationsOf } from "../contract/operations.ts";
import { ledgerService } from "./app.ts";
import { startLedger } from "./ledger.fixture.ts";

let issuer: Awaited<ReturnType<typeof openIssuer>>;
let ledger: Awaited<ReturnType<typeof startLedger>>;
beforeAll(async () => {
  issuer = await openIssuer();
  ledger = await startLedger({ security: issuer.security });
  const details = { gateway_account_id: "57", gateway_transaction_id: "gtx-1", payment_provider: "sandbox" };
  await ledger.store([message({ event_details: details })]);
  const payout = { resource_type: "payout", resource_external_id: "po1", event_type: "PAYOUT_CREATED" };
  await ledger.store([message({ ...payout, event_details: { gateway_account_id: "57" } })]);
  const agreement = { resource_type: "agreement", resource_external_id: "agr1", service_id: "svc" };
  await ledger.store([message({ ...agreement, event_details: { gateway_account_id: "57" } })]);
  await ledger.sendText("no JSON");
  await eventually(async () =>
    expect(await ledger.database.query("select from dead_letter")).toHaveLength(1),
  );
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

type Options = Parameters<typeof ledger.request>[1];
const requestWith = async (claims: JWTPayload, path: string, options: Options = {}) =>
  ledger.request(path, { ...options, headers: { authorization: `Bearer ${await issuer.sign(claims)}` } });

/** Each operation that reads: a path with status 200, a path that violates the contract, and the scopes of which a token needs one. */
const requests: Record<
  Exclude<keyof operations, "addEvents">,
  { valid: string; invalid: string; scopes: string[] }
> = {
  checkHealth: { valid: "/healthcheck", invalid: "/healthcheck?x=1", scopes: [] },
  getMetrics: { valid: "/metrics", invalid: "/metrics?x=1", scopes: [] },
  listEvents: {
    valid: "/v1/event?account_id=57",
    invalid: "/v1/event?account_id=57&limit=0",
    scopes: ["ledger:read", "ledger:read:all"],
  },
  getEvent: { valid: "/v1/event/1", invalid: "/v1/event/first", scopes: ["ledger:read:all"] },
  getTransaction: {
    valid: "/v1/transaction/pay1?account_id=57",
    invalid: "/v1/transaction/pay1?account_id=57&as_of=noon",
    scopes: ["ledger:read", "ledger:read:all"],
  },
  getTransactionByGatewayTransactionId: {
    valid: "/v1/transaction/gateway-transaction?gateway_transaction_id=gtx-1&payment_provider=sandbox",
    invalid: "/v1/transaction/gateway-transaction",
    scopes: ["ledger:read:all"],
  },
  searchTransactions: {
    valid: "/v1/transaction/?account_id=57",
    invalid: "/v1/transaction/?page=0",
    scopes: ["ledger:read", "ledger:read:all"],
  },
  listTransactionEvents: {
    valid: "/v1/transaction/pay1/event?gateway_account_id=57",
    invalid: "/v1/transaction/pay1/event",
    scopes: ["ledger:read", "ledger:read:all"],
  },
  getTransactionReport: {
    valid: "/v1/report/transactions?account_id=57",
    invalid: "/v1/report/transactions?account_id=57&group_by=email",
    scopes: ["ledger:read", "ledger:read:all"],
  },
  getTransactionsSummary: {
    valid: "/v1/report/transactions-summary?account_id=57&from_date=2024-01-01T00:00:00Z",
    invalid: "/v1/report/transactions-summary?account_id=57&from_date=noon",
    scopes: ["ledger:read", "ledger:read:all"],
  },
  getPaymentsByState: {
    valid: "/v1/report/payments_by_state?account_id=57",
    invalid: "/v1/report/payments_by_state?account_id=57&to_date=noon",
    scopes: ["ledger:read", "ledger:read:all"],
  },
  listTransactionsByHour: {
    valid: "/v1/report/transactions-by-hour?from_date=2024-03-05T00:00:00Z&to_date=2024-03-06T00:00:00Z",
    invalid: "/v1/report/transactions-by-hour?from_date=2024-03-05T00:00:00Z",
    scopes: ["ledger:read:all"],
  },
  getPerformanceReport: {
    valid: "/v1/report/performance-report",
    invalid: "/v1/report/performance-report?state=success",
    scopes: ["ledger:read:all"],
  },
  getLegacyPerformanceReport: {
    valid: "/v1/report/performance-report-legacy",
    invalid: "/v1/report/performance-report-legacy?from_date=2024-03-05",
    scopes: ["ledger:read:all"],
  },
  listGatewayPerformance: {
    valid: "/v1/report/gateway-performance-report?from_date=2024-03-05&to_date=2024-03-05",
    invalid: "/v1/report/gateway-performance-report?from_date=2024-03-05&to_date=march",
    scopes: ["ledger:read:all"],
  },
  listTickerEvents: {
    valid: "/v1/event/ticker?from_date=2024-03-05T00:00:00Z&to_date=2024-03-06T00:00:00Z",
    invalid: "/v1/event/ticker",
    scopes: ["ledger:read:all"],
  },
  searchPayouts: {
    valid: "/v1/payout?gateway_account_id=57",
    invalid: "/v1/payout?gateway_account_id=57&state=lost",
    scopes: ["ledger:read", "ledger:read:all"],
  },
  getPayout: {
    valid: "/v1/payout/po1?gateway_account_id=57",
    invalid: "/v1/payout/po1?gateway_account_id=57&page=1",
    scopes: ["ledger:read", "ledger:read:all"],
  },
  searchAgreements: {
    valid: "/v1/agreement?account_id=57",
    invalid: "/v1/agreement?account_id=57&status=lost",
    scopes: ["ledger:read", "ledger:read:all"],
  },
  getAgreement: {
    valid: "/v1/agreement/agr1?account_id=57",
    invalid: "/v1/agreement/agr1?account_id=57&as_of=noon",
    scopes: ["ledger:read", "ledger:read:all"],
  },
  listAgreementEvents: {
    valid: "/v1/agreement/agr1/event?account_id=57",
    invalid: "/v1/agreement/agr1/event?account_id=57&as_of=noon",
    scopes: ["ledger:read", "ledger:read:all"],
  },
  listChildTransactions: {
    valid: "/v1/transaction/pay1/transaction?gateway_account_id=57",
    invalid: "/v1/transaction/pay1/transaction",
    scopes: ["ledger:read", "ledger:read:all"],
  },
  getIntake: { valid: "/v1/intake", invalid: "/v1/intake?account_id=57", scopes: ["ledger:operate"] },
  listDeadLetters: {
    valid: "/v1/dead-letter",
    invalid: "/v1/dead-letter?state=lost",
    scopes: ["ledger:operate"],
  },
  getDeadLetter: {
    valid: "/v1/dead-letter/1",
    invalid: "/v1/dead-letter/first",
    scopes: ["ledger:operate"],
  },
};
const secured = Object.entries(requests).filter(([, { scopes }]) => scopes.length > 0);
const own = { scope: "ledger:read", accounts: ["56", "57"] };
const all = { scope: "ledger:read:all" };

test("every operation is tested", () => {
  expect(
    operationsOf(ledgerService.contract)
      .map(({ operationId }) => operationId)
      .sort(),
  ).toEqual([...Object.keys(requests), "addEvents"].sort());
});

describe.each(secured)("%s", (_, { valid, invalid, scopes }) => {
  test("accepts its scopes and no others", async () => {
    const others = ["features:read", "ledger", undefined];
    for (const scope of ["ledger:read", "ledger:read:all", "ledger:operate", "ledger:write", ...others]) {
      const { status, headers } = await requestWith({ ...own, scope }, valid);
      const isEnough = scope !== undefined && scopes.includes(scope);
      expect([scope, status]).toEqual([scope, isEnough ? 200 : 403]);
      expect(headers["www-authenticate"]).toBe(
        isEnough ? undefined : `Bearer error="insufficient_scope", scope="${scopes[0]}"`,
      );
    }
  });

  test("requires a token, also for HEAD, before it validates the request", async () => {
    for (const path of [valid, invalid]) {
      const { status, headers, json } = await ledger.request(path);
      expect([status, headers["www-authenticate"]]).toEqual([401, `Bearer scope="${scopes[0]}"`]);
      expect(json).toMatchObject({
        status: 401,
        message: ["the header Authorization must be Bearer and a token"],
      });
      const head = await ledger.request(path, { method: "HEAD" });
      expect([head.status, head.text]).toEqual([401, ""]);
      expect((await requestWith({}, path)).status).toBe(403);
      expect((await requestWith({}, path, { method: "HEAD" })).status).toBe(403);
    }
    const sufficient = { scope: scopes.at(-1) };
    expect((await requestWith(sufficient, valid, { method: "HEAD" })).status).toBe(200);
    expect((await requestWith(sufficient, invalid)).status).toBe(400);
    expect((await ledger.request(valid, { method: "DELETE" })).status).toBe(405);
  });

  test("rejects forged tokens", async () => {
    for (const claims of [own, all, { scope: "ledger:operate" }]) {
      for (const [name, token] of Object.entries(await issuer.invalidTokens(claims))) {
        const { status } = await ledger.request(valid, { headers: { authorization: `Bearer ${token}` } });
        expect([name, status]).toEqual([name, 401]);
      }
    }
  });
});

describe.each(secured.filter(([, { scopes }]) => scopes.includes("ledger:read")))(
  "accounts of %s",
  (operationId, { valid }) => {
    const isList = /\/(v1\/event|transaction\/|payout|agreement|report\/[\w-]+)\?/.test(valid);
    const pathFor = (account: string) => valid.replace("account_id=57", `account_id=${account}`);

    test.each<[unknown]>([
      [["56"]],
      [[]],
      [undefined],
      ["57"],
      [[57]],
      [{ "57": true }],
      [["5", "7", "57,"]],
    ])("returns 403 if the claim accounts is %j", async (accounts) => {
      const { status, headers, json } = await requestWith({ ...own, accounts }, valid);
      expect([status, headers["www-authenticate"]]).toEqual([
        403,
        'Bearer error="insufficient_scope", scope="ledger:read:all"',
      ]);
      expect(json.message).toEqual([
        "the token's claim accounts does not contain 57, and the token lacks the scope ledger:read:all",
      ]);
    });

    test("a token with the scope for all accounts allows any, whatever its claim", async () => {
      for (const scope of ["ledger:read:all", "ledger:read ledger:read:all"]) {
        expect((await requestWith({ ...own, scope, accounts: ["1"] }, valid)).status).toBe(200);
        expect((await requestWith({ scope }, pathFor("58"))).status).toBe(isList ? 200 : 404);
      }
    });

    test("an account of the token without transactions is not a 403", async () => {
      expect((await requestWith(own, pathFor("56"))).status).toBe(isList ? 200 : 404);
      expect((await requestWith(own, pathFor("58"))).status).toBe(403);
    });

    test("returns 400 without an account, whatever the scope", async () => {
      const without = valid.replace(/\?.*/, "");
      expect((await requestWith(own, without)).status).toBe(400);
      const isOptional = ["listAgreementEvents", "listEvents"].includes(operationId);
      expect((await requestWith(all, without)).status).toBe(isOptional ? 200 : 400);
    });
  },
);

test("all accounts of a list must be the token's", async () => {
  const search = (accounts: string) => `/v1/transaction/?account_id=${accounts}`;
  expect((await requestWith(own, search("57,56"))).status).toBe(200);
  const rejected = await requestWith(own, search("57,58,56,59"));
  expect(rejected.status).toBe(403);
  expect(rejected.json.message[0]).toBe(
    "the token's claim accounts does not contain 58, 59, and the token lacks the scope ledger:read:all",
  );
  expect((await requestWith(own, `${search("57")}&account_id=58`)).status).toBe(403);
  expect((await requestWith(all, search("57,58"))).status).toBe(200);
});

test.each(["/v1/transaction/pay1", "/v1/transaction/"])(
  "the override of %s requires the scope for all accounts",
  async (path) => {
    for (const query of ["", "account_id=57&"]) {
      const overridden = `${path}?${query}override_account_id_restriction=true`;
      expect((await requestWith(all, overridden)).status).toBe(200);
      const { status, json } = await requestWith(own, overridden);
      expect(status).toBe(403);
      expect(json.message).toEqual(["override_account_id_restriction requires the scope ledger:read:all"]);
    }
    expect(
      (await requestWith(own, `${path}?account_id=57&override_account_id_restriction=false`)).status,
    ).toBe(200);
    expect((await requestWith(own, `${path}?override_account_id_restriction=false`)).status).toBe(400);
  },
);

test("agreements of a service need their account, or the scope for all accounts", async () => {
  for (const path of ["/v1/agreement", "/v1/agreement/agr1", "/v1/agreement/agr1/event"]) {
    expect((await requestWith(own, `${path}?service_id=svc`)).status).toBe(400);
    expect((await requestWith(own, `${path}?service_id=svc&account_id=57`)).status).toBe(200);
    expect((await requestWith(own, `${path}?service_id=svc&account_id=58`)).status).toBe(403);
    expect((await requestWith(all, `${path}?service_id=svc`)).status).toBe(200);
  }
  const override = "override_account_or_service_id_restriction=true";
  for (const path of ["/v1/agreement", "/v1/agreement/agr1"]) {
    expect((await requestWith(all, `${path}?${override}`)).status).toBe(200);
    const { status, json } = await requestWith(own, `${path}?account_id=57&${override}`);
    expect([status, json.message]).toEqual([
      403,
      ["override_account_or_service_id_restriction requires the scope ledger:read:all"],
    ]);
  }
});

test.each(["https://example.test/accounts", "__proto__"])(
  "the accounts of a token can be in the claim %s",
  async (name) => {
    await using other = await startLedger({ security: issuer.security, accountsClaim: name });
    const search = async (claims: [string, unknown][]) => {
      const token = await issuer.sign(Object.fromEntries([["scope", "ledger:read"], ...claims]));
      const headers = { authorization: `Bearer ${token}` };
      return other.request("/v1/transaction/?account_id=57", { headers });
    };
    expect((await search([[name, ["57"]]])).status).toBe(200);
    for (const claims of [[], [["accounts", ["57"]]], [[name, "57"]]] as [string, unknown][][]) {
      const { status, json } = await search(claims);
      expect(status).toBe(403);
      expect(json.message).toEqual([
        `the token's claim ${name} does not contain 57, and the token lacks the scope ledger:read:all`,
      ]);
    }
  },
);

test("adding events requires a scope of its own, before the body is read", async () => {
  await using writable = await startLedger({ security: issuer.security, eventWrites: true });
  const post = async (scope: string | undefined, body: string) => {
    const authorization =
      scope === undefined ? {} : { authorization: `Bearer ${await issuer.sign({ scope })}` };
    const headers = { "content-type": "application/json", ...authorization };
    return writable.request("/v1/event", { method: "POST", headers, body });
  };
  const body = JSON.stringify(message({}));
  expect((await post("ledger:write", body)).status).toBe(202);
  expect((await post("ledger:write", "{}")).status).toBe(400);
  for (const text of [body, "{}"]) {
    expect((await post(undefined, text)).status).toBe(401);
    for (const scope of ["ledger:read", "ledger:read:all", "features:write"]) {
      const { status, headers } = await post(scope, text);
      expect([status, headers["www-authenticate"]]).toEqual([
        403,
        'Bearer error="insufficient_scope", scope="ledger:write"',
      ]);
    }
  }
  const read = await writable.request("/v1/transaction/pay1?account_id=57", {
    headers: { authorization: `Bearer ${await issuer.sign({ scope: "ledger:write" })}` },
  });
  expect(read.status).toBe(403);
});

test("CSV has the same restrictions", async () => {
  const csv = async (claims: JWTPayload, query: string) => {
    const authorization = `Bearer ${await issuer.sign(claims)}`;
    const headers = { authorization, accept: "text/csv" };
    return (await ledger.request(`/v1/transaction/?${query}`, { headers })).status;
  };
  expect(await csv(own, "account_id=57")).toBe(200);
  expect(await csv(own, "account_id=58")).toBe(403);
  expect(await csv(own, "override_account_id_restriction=true")).toBe(403);
  expect(await csv(own, "")).toBe(400);
});

test.each([
  "/healthcheck",
  "/metrics",
  "/docs",
  "/docs/queue",
  "/openapi.yaml",
  "/openapi.json",
  "/.well-known/api-catalog",
])("%s requires no token and ignores one", async (path) => {
  expect((await ledger.request(path)).status).toBe(200);
  expect((await ledger.request(path, { headers: { authorization: "Bearer nonsense" } })).status).toBe(200);
});
