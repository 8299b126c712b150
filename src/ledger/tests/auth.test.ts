import type { JWTPayload } from "jose";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { describeAuthentication } from "../../../testing/describe-authentication.ts";
import { eventually } from "../../../testing/eventually.ts";
import { type Issuer, openIssuer } from "../../../testing/issuer.ts";
import { message } from "../../../testing/messages.ts";
import { ledgerSamples, type Sample } from "../../../testing/requests.ts";
import { feedIsComplete } from "../tables/feed/feed.fixture.ts";
import { startLedger } from "./ledger.fixture.ts";

let issuer: Issuer;
let ledger: Awaited<ReturnType<typeof startLedger>>;
beforeAll(async () => {
  issuer = await openIssuer();
  ledger = await startLedger({ security: issuer.security, eventWrites: true });
  const details = { gateway_account_id: "57", gateway_transaction_id: "gtx-1", payment_provider: "sandbox" };
  const payment = { resource_external_id: "full", event_details: details };
  const payout = { resource_type: "payout", resource_external_id: "po_44", event_type: "PAYOUT_CREATED" };
  const agreement = { resource_type: "agreement", resource_external_id: "agr-1", service_id: "svc" };
  for (const members of [payment, payout, agreement]) {
    await ledger.store([message({ event_details: { gateway_account_id: "57" }, ...members })]);
  }
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
  ledger.request(path, {
    ...options,
    headers: { ...options?.headers, authorization: `Bearer ${await issuer.sign(claims)}` },
  });

const own = { scope: "ledger:read", accounts: ["56", "57"] };
const all = { scope: "ledger:read:all" };

describeAuthentication(ledgerSamples, () => ({ base: ledger.base, issuer }));

const ofAccounts = Object.entries<Sample>(ledgerSamples).filter(
  ([, { method, scopes }]) => method === "GET" && scopes.includes("ledger:read"),
);

describe.each(ofAccounts)("accounts of %s", (operationId, { path: valid }) => {
  const isList = /\/(v1\/event|transaction\/|payout|agreement|report\/[\w/-]+)\?/.test(valid);
  const pathFor = (account: string) => valid.replace("account_id=57", `account_id=${account}`);

  test("must be the token's, unless it has the scope for all", async () => {
    const ofNone = isList ? 200 : 404;
    expect((await requestWith(own, valid)).status).toBe(200);
    expect((await requestWith(own, pathFor("56"))).status).toBe(ofNone);
    expect((await requestWith(own, pathFor("58"))).status).toBe(403);
    for (const scope of ["ledger:read:all", "ledger:read ledger:read:all"]) {
      expect((await requestWith({ ...own, scope, accounts: ["1"] }, valid)).status).toBe(200);
      expect((await requestWith({ scope }, pathFor("58"))).status).toBe(ofNone);
    }
  });

  test("returns 400 without an account, whatever the scope", async () => {
    const without = valid.replace(/\?.*/, "");
    expect((await requestWith(own, without)).status).toBe(400);
    const isOptional = ["listAgreementEvents", "listEvents"].includes(operationId);
    expect((await requestWith(all, without)).status).toBe(isOptional ? 200 : 400);
  });
});

test.each<[unknown]>([[["56"]], [[]], [undefined], ["57"], [[57]], [{ "57": true }], [["5", "7", "57,"]]])(
  "a search returns 403 if the claim accounts is %j",
  async (accounts) => {
    const { status, headers, json } = await requestWith(
      { ...own, accounts },
      "/v1/transaction?account_id=57",
    );
    expect([status, headers["www-authenticate"], json.message]).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="ledger:read:all"',
      ["the token's claim accounts does not contain 57, and the token lacks the scope ledger:read:all"],
    ]);
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

test("the accounts in the body of a QUERY must be the token's", async () => {
  const statusOf = async (claims: JWTPayload, body: object) => {
    const headers = { "content-type": "application/json" };
    const options = { method: "QUERY", headers, body: JSON.stringify(body) } as const;
    return (await requestWith(claims, "/v1/transaction", options)).status;
  };
  expect(await statusOf(own, { account_id: ["57", "56"] })).toBe(200);
  expect(await statusOf(own, { account_id: ["57", "58"] })).toBe(403);
  const account_id = Array.from({ length: 1000 }, (_, n) => `${n}-`.padEnd(250, "x"));
  expect(await statusOf(own, { account_id })).toBe(403);
  expect(await statusOf(all, { account_id })).toBe(200);
  for (const body of [
    {},
    { account_id: null },
    { account_id: [] },
    { account_id: [""] },
    { account_id: " " },
  ])
    expect(await statusOf(own, body)).toBe(400);
  expect(await statusOf(own, { override_account_id_restriction: true })).toBe(403);
  expect(await statusOf(all, { override_account_id_restriction: true })).toBe(200);
  expect(await statusOf(all, { account_id: ["58"] })).toBe(200);
});

test("an account without characters is no account, and is in no list of accounts", async () => {
  const invalid = [400, 403, 404];
  const claims = [
    [""],
    [" "],
    [","],
    ["", "58"],
    "",
    null,
    undefined,
    57,
    true,
    { 0: "57" },
    ["57,"],
    ["57 "],
  ];
  for (const accounts of claims) {
    const given = { scope: "ledger:read", accounts };
    const statusOf = async (path: string) => (await requestWith(given as JWTPayload, path)).status;
    for (const [, { path: valid }] of ofAccounts) {
      expect([accounts, valid, await statusOf(valid)]).toEqual([accounts, valid, 403]);
      for (const account of ["", "%20", "%09"]) {
        const path = valid.replace("account_id=57", `account_id=${account}`);
        expect([accounts, path, await statusOf(path)]).toEqual([accounts, path, expect.toBeOneOf(invalid)]);
      }
    }
    for (const account of [",", ",,%20", "&account_id=", "&account_id=,"]) {
      for (const list of ["/v1/event", "/v1/transaction/", "/v1/report/transactions"]) {
        const path = `${list}?account_id=${account}`;
        expect([accounts, path, await statusOf(path)]).toEqual([accounts, path, 400]);
      }
    }
  }
});

test("accounts, claims and scopes that differ only in letter case, or when they are joined, are different", async () => {
  const statusOf = async (claims: JWTPayload, account: string) =>
    (await requestWith(claims, `/v1/transaction/?account_id=${encodeURIComponent(account)}`)).status;
  const scope = "ledger:read";
  const differing: [own: string[], account: string][] = [
    [["a"], "A"],
    [["s", "S"], "\u017F"],
    [["k", "K"], "\u212A"],
    [["\u00E9"], "e\u0301"],
    [["a b"], "a"],
    [["a,b"], "a,b"],
    [["5", "7"], "57"],
    [["057", "57.0", "5.7e1"], "57"],
  ];
  for (const [accounts, account] of differing) {
    expect([account, await statusOf({ scope, accounts }, account)]).toEqual([account, 403]);
    for (const own of accounts.filter((one) => !one.includes(",")))
      expect([own, await statusOf({ scope, accounts }, own)]).toEqual([own, 200]);
  }
  // A list has two accounts where another operation has one with a comma.
  const ofOne = "/v1/report/payments_by_state?account_id=a,b";
  expect((await requestWith({ scope, accounts: ["a,b"] }, ofOne)).status).toBe(200);
  expect((await requestWith({ scope, accounts: ["a", "b"] }, ofOne)).status).toBe(403);
  expect(await statusOf({ scope, accounts: ["a", "b"] }, "a,b")).toBe(200);
  for (const other of ["Ledger:read", "LEDGER:READ", "ledger:read:ALL", "ledger:read,ledger:read:all"])
    expect([other, await statusOf({ scope: other, accounts: ["57"] }, "57")]).toEqual([other, 403]);
  for (const name of ["Accounts", "ACCOUNTS", "account\u017F"])
    expect([name, await statusOf({ scope, [name]: ["57"] }, "57")]).toEqual([name, 403]);
});

test("each of many callers at the same time gets the response that it gets alone", async () => {
  await feedIsComplete(ledger.database);
  const callers = [own, all, { ...own, accounts: ["56"] }, { scope: "ledger:read", accounts: ["57"] }, {}];
  const paths = ofAccounts.flatMap(([, { path }]) => [path, path.replace("account_id=57", "account_id=56")]);
  const requests = paths.flatMap((path) => callers.map((claims) => ({ path, claims })));
  const responseTo = async ({ path, claims }: (typeof requests)[number], headers = {}) => {
    const { status, text, headers: received } = await requestWith(claims, path, { headers });
    return [
      path,
      claims,
      status,
      received["www-authenticate"],
      text.replaceAll(/"(request_id|position|since|until)":"[^"]*"/g, ""),
    ];
  };
  const alone = [];
  for (const one of requests) alone.push(await responseTo(one));
  for (const headers of [{}, { "if-none-match": '"other"' }, { "accept-encoding": "identity" }]) {
    const together = await Promise.all(requests.map((one) => responseTo(one, headers)));
    expect(together).toEqual(alone);
  }
});

test("the stream of events sends nothing after its token has expired, and ends", async () => {
  const expired = new Date();
  onTestFinished(() => void vi.useRealTimers());
  vi.setSystemTime(expired);
  const token = await issuer.sign({ ...own, exp: Math.floor(expired.getTime() / 1000) + 30 });
  const headers = { authorization: `Bearer ${token}` };
  const stream = await ledger.listenToFeed("?account_id=56", headers);
  expect([stream.response.statusCode, stream.response.headers["cache-control"]]).toEqual([
    200,
    "private, no-store",
  ]);
  const stored = (id: string) =>
    ledger.store([message({ resource_external_id: id, event_details: { gateway_account_id: "56" } })]);
  await stored("before the expiry");
  await eventually(() => expect(stream.events()).toHaveLength(1));
  vi.setSystemTime(expired.getTime() + 31_000);
  await stored("after the expiry");
  expect(await stream.ended).toBe("by the service");
  expect(stream.events()).toHaveLength(1);
});

test.each(["/v1/transaction/full", "/v1/transaction/"])(
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
  for (const path of ["/v1/agreement", "/v1/agreement/agr-1", "/v1/agreement/agr-1/event"]) {
    expect((await requestWith(own, `${path}?service_id=svc`)).status).toBe(400);
    expect((await requestWith(own, `${path}?service_id=svc&account_id=57`)).status).toBe(200);
    expect((await requestWith(own, `${path}?service_id=svc&account_id=58`)).status).toBe(403);
    expect((await requestWith(all, `${path}?service_id=svc`)).status).toBe(200);
  }
  const override = "override_account_or_service_id_restriction=true";
  for (const path of ["/v1/agreement", "/v1/agreement/agr-1"]) {
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

test("CSV has the same restrictions", async () => {
  const csv = async (claims: JWTPayload, query: string) =>
    (await requestWith(claims, `/v1/transaction/?${query}`, { headers: { accept: "text/csv" } })).status;
  expect(await csv(own, "account_id=57")).toBe(200);
  expect(await csv(own, "account_id=58")).toBe(403);
  expect(await csv(own, "override_account_id_restriction=true")).toBe(403);
  expect(await csv(own, "")).toBe(400);
});
