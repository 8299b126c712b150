import type { JWTPayload } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { operations } from "../../generated/ledger.ts";
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
  await ledger.tell([message({ event_details: details })]);
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

type Options = Parameters<typeof ledger.ask>[1];
const askWith = async (claims: JWTPayload, path: string, options: Options = {}) =>
  ledger.ask(path, { ...options, headers: { authorization: `Bearer ${await issuer.sign(claims)}` } });

/** A request of each operation that is answered with 200 to whoever may ask, and one that breaks the contract. */
const requests: Record<keyof operations, { good: string; bad: string; takes: string[] }> = {
  checkHealth: { good: "/healthcheck", bad: "/healthcheck?x=1", takes: [] },
  getMetrics: { good: "/metrics", bad: "/metrics?x=1", takes: [] },
  getEvent: { good: "/v1/event/1", bad: "/v1/event/first", takes: ["ledger:read:all"] },
  getTransaction: {
    good: "/v1/transaction/pay1?account_id=57",
    bad: "/v1/transaction/pay1?account_id=57&as_of=noon",
    takes: ["ledger:read", "ledger:read:all"],
  },
  getTransactionByGatewayTransactionId: {
    good: "/v1/transaction/gateway-transaction?gateway_transaction_id=gtx-1&payment_provider=sandbox",
    bad: "/v1/transaction/gateway-transaction",
    takes: ["ledger:read:all"],
  },
  searchTransactions: {
    good: "/v1/transaction/?account_id=57",
    bad: "/v1/transaction/?page=0",
    takes: ["ledger:read", "ledger:read:all"],
  },
  listTransactionEvents: {
    good: "/v1/transaction/pay1/event?gateway_account_id=57",
    bad: "/v1/transaction/pay1/event",
    takes: ["ledger:read", "ledger:read:all"],
  },
  listChildTransactions: {
    good: "/v1/transaction/pay1/transaction?gateway_account_id=57",
    bad: "/v1/transaction/pay1/transaction",
    takes: ["ledger:read", "ledger:read:all"],
  },
};
const closed = Object.entries(requests).filter(([, { takes }]) => takes.length > 0);
const own = { scope: "ledger:read", accounts: ["56", "57"] };
const all = { scope: "ledger:read:all" };

test("every operation is tried", () => {
  expect(
    operationsOf(ledgerService.contract)
      .map(({ operationId }) => operationId)
      .sort(),
  ).toEqual(Object.keys(requests).sort());
});

describe.each(closed)("%s", (_, { good, bad, takes }) => {
  test("takes its scopes and no other", async () => {
    for (const scope of ["ledger:read", "ledger:read:all", "features:read", "ledger", undefined]) {
      const { status, headers } = await askWith({ ...own, scope }, good);
      const isEnough = scope !== undefined && takes.includes(scope);
      expect([scope, status]).toEqual([scope, isEnough ? 200 : 403]);
      expect(headers["www-authenticate"]).toBe(
        isEnough ? undefined : `Bearer error="insufficient_scope", scope="${takes[0]}"`,
      );
    }
  });

  test("asks for a token, of HEAD too, and before it looks at the request", async () => {
    for (const path of [good, bad]) {
      const { status, headers, json } = await ledger.ask(path);
      expect([status, headers["www-authenticate"]]).toEqual([401, `Bearer scope="${takes[0]}"`]);
      expect(json).toMatchObject({
        status: 401,
        message: ["the header Authorization must be Bearer and a token"],
      });
      const head = await ledger.ask(path, { method: "HEAD" });
      expect([head.status, head.text]).toEqual([401, ""]);
      expect((await askWith({}, path)).status).toBe(403);
      expect((await askWith({}, path, { method: "HEAD" })).status).toBe(403);
    }
    expect((await askWith(all, good, { method: "HEAD" })).status).toBe(200);
    expect((await askWith(all, bad)).status).toBe(400);
    expect((await ledger.ask(good, { method: "DELETE" })).status).toBe(405);
  });

  test("takes no forged token", async () => {
    for (const claims of [own, all]) {
      for (const [name, token] of Object.entries(await issuer.forgeries(claims))) {
        const { status } = await ledger.ask(good, { headers: { authorization: `Bearer ${token}` } });
        expect([name, status]).toEqual([name, 401]);
      }
    }
  });
});

describe.each(closed.filter(([, { takes }]) => takes.includes("ledger:read")))("of %s", (_, { good }) => {
  const named = (account: string) => good.replace("account_id=57", `account_id=${account}`);

  test.each<[unknown]>([[["56"]], [[]], [undefined], ["57"], [[57]], [{ "57": true }], [["5", "7", "57,"]]])(
    "an account is not that of a token with %j",
    async (accounts) => {
      const { status, headers, json } = await askWith({ ...own, accounts }, good);
      expect([status, headers["www-authenticate"]]).toEqual([
        403,
        'Bearer error="insufficient_scope", scope="ledger:read:all"',
      ]);
      expect(json.message).toEqual([
        "the token's claim accounts does not contain 57, and the token lacks the scope ledger:read:all",
      ]);
    },
  );

  test("a token of all accounts may name any, whatever its accounts", async () => {
    for (const scope of ["ledger:read:all", "ledger:read ledger:read:all"]) {
      expect((await askWith({ ...own, scope, accounts: ["1"] }, good)).status).toBe(200);
      expect((await askWith({ scope }, named("58"))).status).toBe(good.includes("/?") ? 200 : 404);
    }
  });

  test("an account that is not there is told from one that may not be named", async () => {
    expect((await askWith(own, named("56"))).status).toBe(good.includes("/?") ? 200 : 404);
    expect((await askWith(own, named("58"))).status).toBe(403);
  });

  test("without an account it is a bad request, whoever asks", async () => {
    const without = good.replace(/\?.*/, "");
    for (const claims of [own, all]) expect((await askWith(claims, without)).status).toBe(400);
  });
});

test("all accounts of a list must be the token's", async () => {
  const search = (accounts: string) => `/v1/transaction/?account_id=${accounts}`;
  expect((await askWith(own, search("57,56"))).status).toBe(200);
  const refused = await askWith(own, search("57,58,56,59"));
  expect(refused.status).toBe(403);
  expect(refused.json.message[0]).toBe(
    "the token's claim accounts does not contain 58, 59, and the token lacks the scope ledger:read:all",
  );
  expect((await askWith(own, `${search("57")}&account_id=58`)).status).toBe(403);
  expect((await askWith(all, search("57,58"))).status).toBe(200);
});

test.each(["/v1/transaction/pay1", "/v1/transaction/"])(
  "the override of %s needs all accounts",
  async (path) => {
    for (const query of ["", "account_id=57&"]) {
      const overridden = `${path}?${query}override_account_id_restriction=true`;
      expect((await askWith(all, overridden)).status).toBe(200);
      const { status, json } = await askWith(own, overridden);
      expect(status).toBe(403);
      expect(json.message).toEqual(["override_account_id_restriction requires the scope ledger:read:all"]);
    }
    expect((await askWith(own, `${path}?account_id=57&override_account_id_restriction=false`)).status).toBe(
      200,
    );
    expect((await askWith(own, `${path}?override_account_id_restriction=false`)).status).toBe(400);
  },
);

test("CSV is no way around", async () => {
  const csv = async (claims: JWTPayload, query: string) => {
    const authorization = `Bearer ${await issuer.sign(claims)}`;
    const headers = { authorization, accept: "text/csv" };
    return (await ledger.ask(`/v1/transaction/?${query}`, { headers })).status;
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
])("%s asks for no token, and minds none", async (path) => {
  expect((await ledger.ask(path)).status).toBe(200);
  expect((await ledger.ask(path, { headers: { authorization: "Bearer nonsense" } })).status).toBe(200);
});
