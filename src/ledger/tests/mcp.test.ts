import type { JWTPayload } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { type Issuer, openIssuer } from "../../../testing/issuer.ts";
import { type McpMode, mcpModes, openMcpClient } from "../../../testing/mcp-client.ts";
import { message } from "../../../testing/messages.ts";
import { startLedger } from "./ledger.fixture.ts";

let issuer: Issuer;
let open: Awaited<ReturnType<typeof startLedger>>;
let guarded: Awaited<ReturnType<typeof startLedger>>;
beforeAll(async () => {
  issuer = await openIssuer();
  open = await startLedger({ mcp: true });
  guarded = await startLedger({ mcp: true, security: issuer.security });
  const details = { gateway_account_id: "57", amount: 4250, description: "x".repeat(255) };
  const payments = Array.from({ length: 40 }, (_, index) =>
    message({ resource_external_id: `pay-${index}`, event_details: details }),
  );
  const large = message({
    resource_external_id: "large",
    event_details: { gateway_account_id: "58", description: "é".repeat(12_000) },
  });
  const payout = message({
    ...{ resource_type: "payout", resource_external_id: "po_44", event_type: "PAYOUT_CREATED" },
    event_details: { gateway_account_id: "57" },
  });
  const agreement = message({
    ...{ resource_type: "agreement", resource_external_id: "agr-1", event_type: "AGREEMENT_CREATED" },
    ...{ service_id: "svc", event_details: { gateway_account_id: "57" } },
  });
  await open.store([...payments, large, payout, agreement]);
  await guarded.store(payments.slice(0, 1));
});
afterAll(async () => {
  await open[Symbol.asyncDispose]();
  await guarded[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

/** A call of each tool, with a member of its result. */
const calls: Record<string, [given: object, member: string]> = {
  listEvents: [{ account_id: ["57"] }, "events"],
  getTransaction: [{ transactionExternalId: "pay-1", account_id: "57" }, "transaction_id"],
  searchTransactions: [{ account_id: ["57"] }, "results"],
  listTransactionEvents: [{ transactionExternalId: "pay-1", gateway_account_id: "57" }, "events"],
  listChildTransactions: [{ parentTransactionExternalId: "pay-1", gateway_account_id: "57" }, "transactions"],
  getTransactionReport: [{ account_id: "57", group_by: ["day", "state"] }, "groups"],
  searchPayouts: [{ gateway_account_id: ["57"] }, "results"],
  getPayout: [{ gatewayPayoutId: "po_44", gateway_account_id: "57" }, "gateway_payout_id"],
  searchAgreements: [{ service_id: ["svc"] }, "results"],
  getAgreement: [{ agreementExternalId: "agr-1", service_id: "svc" }, "external_id"],
  getIntake: [{}, "minutes"],
  listDeadLetters: [{}, "dead_letters"],
};

describe.each(Object.keys(mcpModes) as McpMode[])("a client of %s", (mode) => {
  test("lists the tools and calls each of them", async () => {
    await using mcp = await openMcpClient(open.base, mode);
    const { tools } = await mcp.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(calls));
    expect(tools.length).toBeLessThanOrEqual(12);
    expect(JSON.stringify(tools).length).toBeLessThan(20_000);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    for (const [name, [given, member]] of Object.entries(calls)) {
      const { isError, text } = await mcp.call(name, { ...given });
      expect([name, isError, Object.keys(JSON.parse(text))]).toEqual([
        name,
        false,
        expect.arrayContaining([member]),
      ]);
    }
  });
});

test("a search has 20 entries on a page, and at most 20,000 bytes; its cursor leads to what follows", async () => {
  await using mcp = await openMcpClient(open.base);
  const ids: string[] = [];
  const sizes: number[] = [];
  for (let cursor: string | undefined, pages = 0; pages === 0 || cursor !== undefined; pages += 1) {
    const size = pages === 0 ? {} : { display_size: 500 };
    const { text } = await mcp.call("searchTransactions", {
      account_id: "57",
      cursor: cursor ?? null,
      ...size,
    });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20_000);
    const { results, _links } = JSON.parse(text);
    sizes.push(results.length);
    ids.push(...results.map((one: { transaction_id: string }) => one.transaction_id));
    cursor = _links.next_cursor && (new URL(_links.next_cursor.href).searchParams.get("cursor") as string);
  }
  expect(sizes[0]).toBe(20);
  expect(new Set(ids).size).toBe(40);
  expect(ids).toHaveLength(40);
});

test("a transaction that is too large is an error with its size and where it can be read", async () => {
  await using mcp = await openMcpClient(open.base);
  for (const [name, given] of [
    ["searchTransactions", { account_id: "58" }],
    ["getTransaction", { account_id: "58", transactionExternalId: "large" }],
  ] as const) {
    const { isError, text } = await mcp.call(name, given);
    const [, size, url = ""] = /has (\d+) bytes.*; read it with GET (\S+)$/.exec(text) ?? [];
    expect([isError, Number(size) > 24_000]).toEqual([true, true]);
    expect((await (await fetch(url)).text()).length).toBeGreaterThan(12_000);
  }
});

test.each<[why: string, given: Record<string, unknown>, detail: string]>([
  ["misspelt", { acount_id: "57" }, "query parameter acount_id is unknown; is account_id meant?"],
  [
    "of another type",
    { account_id: "57", display_size: "many" },
    "query parameter display_size must be an integer",
  ],
  ["an object", { account_id: { id: "57" } }, "the argument account_id must not contain an object"],
  ["an empty list of accounts", { account_id: [] }, "Field [account_id] cannot be empty"],
  ["not among those of the tool", { account_id: "57", page: 2 }, "the tool has no argument page"],
  ["no text", { account_id: "57", reference: "\ud800" }, "the arguments contain an unpaired surrogate"],
])("an argument that is %s is an error of the tool", async (_why, given, detail) => {
  await using mcp = await openMcpClient(open.base);
  const { isError, text } = await mcp.call("searchTransactions", given);
  expect([isError, text]).toEqual([true, expect.stringContaining(detail)]);
});

test("a path argument must be there, and `..` is an id like any other", async () => {
  await using mcp = await openMcpClient(open.base);
  for (const transactionExternalId of [undefined, "", null, {}]) {
    const { isError, text } = await mcp.call("getTransaction", { transactionExternalId, account_id: "57" });
    expect([isError, text]).toEqual([
      true,
      expect.stringMatching("^the argument transactionExternalId must be"),
    ]);
  }
  const { isError, text } = await mcp.call("getTransaction", {
    transactionExternalId: "..",
    account_id: "57",
  });
  expect([isError, JSON.parse(text).detail]).toEqual([true, "Transaction with id [..] not found"]);
});

test("an unknown tool is an error of the protocol", async () => {
  await using mcp = await openMcpClient(open.base);
  await expect(mcp.call("dropAll")).rejects.toThrow("there is no such tool");
});

describe("with tokens", () => {
  const bearer = async (claims: JWTPayload) => ({ authorization: `Bearer ${await issuer.sign(claims)}` });

  test("a client without one gets 401", async () => {
    const { status, headers } = await guarded.request("/mcp", { method: "POST", body: "{}" });
    expect([status, headers["www-authenticate"]]).toEqual([401, expect.stringMatching(/^Bearer /)]);
    await expect(openMcpClient(guarded.base)).rejects.toThrow();
    await expect(
      openMcpClient(guarded.base, "2026-07-28", { authorization: "Bearer nonsense" }),
    ).rejects.toThrow();
  });

  test("a tool may do what the token may do over HTTP", async () => {
    const headers = await bearer({ scope: "ledger:read", accounts: ["57"] });
    await using mcp = await openMcpClient(guarded.base, "the handshake of 2025", headers);
    const statusOf = async (name: string, given: Record<string, unknown>) => {
      const { isError, text } = await mcp.call(name, given);
      return isError ? JSON.parse(text).status : 200;
    };
    expect(await statusOf("searchTransactions", { account_id: "57" })).toBe(200);
    expect(await statusOf("searchTransactions", { account_id: "58" })).toBe(403);
    expect(await statusOf("searchTransactions", { override_account_id_restriction: true })).toBe(403);
    expect(await statusOf("getTransaction", { transactionExternalId: "pay-0", account_id: "58" })).toBe(403);
    expect(await statusOf("getIntake", {})).toBe(403);
  });

  test("a request with several headers Authorization is rejected", async () => {
    const { authorization } = await bearer({ scope: "ledger:read", accounts: ["57"] });
    const headers = [
      "content-type",
      "application/json",
      "authorization",
      authorization,
      "authorization",
      authorization,
    ];
    expect((await guarded.request("/mcp", { method: "POST", headers, body: "{}" })).status).toBe(400);
  });
});

test("a call is measured as a request of its operation", async () => {
  await using mcp = await openMcpClient(open.base);
  await mcp.call("getIntake");
  await eventually(async () =>
    expect((await open.request("/metrics")).text).toMatch(
      /http_request_duration_seconds_count\{operation="getIntake",status="200"\} [1-9]/,
    ),
  );
});
