import { describe, expect, test } from "vitest";
import { eventually } from "../../../testing/eventually.ts";
import { story } from "../../../testing/messages.ts";
import { ledgerContract } from "../../contract/contracts.ts";
import { operationsOf } from "../../contract/operations.ts";
import { ledgerOfFile, payment } from "./ledger.fixture.ts";

const account = { gateway_account_id: "57" };
const live = { service_id: "svc", live: true };
const succeeded = (id: string, amount: number) => [
  ...story(
    "payment",
    id,
    [
      "10:00",
      "PAYMENT_CREATED",
      { ...account, amount, gateway_transaction_id: "gtx", payment_provider: "sandbox" },
      live,
    ],
    ["10:01", "CAPTURE_CONFIRMED", {}, live],
  ),
  ...story(
    "refund",
    `${id}-refund`,
    ["11:00", "REFUND_CREATED_BY_USER", { ...account, amount: 1 }],
    ["11:01", "REFUND_SUCCEEDED", {}, { parent_resource_external_id: id }],
  ),
];
const payout = (id: string) => story("payout", id, ["12:00", "PAYOUT_CREATED", { ...account, amount: 9 }]);
const agreement = (id: string) =>
  story("agreement", id, ["09:00", "AGREEMENT_CREATED", { ...account, reference: "Permit" }, live]);

const ledger = await ledgerOfFile();
const { get, request, store } = ledger;
await store(
  succeeded("pay1", 100),
  succeeded("pay2", 200),
  payout("po1"),
  agreement("agr1"),
  agreement("agr2"),
);
// The feed can end before an event while an older SQL transaction is in flight.
const eventId = await eventually(async () => {
  const { events } = await get("/v1/event?account_id=57&limit=1");
  expect(events).toHaveLength(1);
  return events[0].event_id;
});

const days = "from_date=2024-03-05&to_date=2024-03-05";
const instants = "from_date=2024-03-05T00:00:00.000Z&to_date=2024-03-06T00:00:00.000Z";
const override = "override_account_id_restriction=true";

/** A request of each operation that has an entity tag. */
const paths: Record<string, string> = {
  getEvent: `/v1/event/${eventId}`,
  getTransaction: "/v1/transaction/pay1?account_id=57",
  getTransactionByGatewayTransactionId:
    "/v1/transaction/gateway-transaction?gateway_transaction_id=gtx&payment_provider=sandbox",
  searchTransactions: "/v1/transaction?account_id=57&extended=true&display_size=1",
  listTransactionEvents: "/v1/transaction/pay1/event?gateway_account_id=57",
  listChildTransactions: "/v1/transaction/pay1/transaction?gateway_account_id=57",
  getTransactionReport: "/v1/report/transactions?account_id=57&group_by=type&display_size=1",
  getTransactionsSummary: `/v1/report/transactions-summary?account_id=57&${instants}`,
  getPaymentsByState: "/v1/report/payments_by_state?account_id=57",
  listTransactionsByHour: `/v1/report/transactions-by-hour?${instants}`,
  getPerformanceReport: `/v1/report/performance-report?${days}`,
  getLegacyPerformanceReport: `/v1/report/performance-report-legacy?${instants}`,
  listGatewayPerformance: `/v1/report/gateway-performance-report?${days}`,
  searchPayouts: "/v1/payout?gateway_account_id=57",
  getPayout: `/v1/payout/po1?${override}`,
  searchAgreements: "/v1/agreement?account_id=57&extended=true&display_size=1",
  getAgreement: "/v1/agreement/agr1?account_id=57",
  listAgreementEvents: "/v1/agreement/agr1/event?account_id=57",
};

const conditional = (path: string, tag: string) => request(path, { headers: { "if-none-match": tag } });

test("each operation with the status 304 is in the list", () => {
  const declared = operationsOf(ledgerContract).filter(
    ({ method, responses }) => method === "GET" && responses[304],
  );
  expect(declared.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(paths).sort());
});

describe("a response", () => {
  test.each(Object.entries(paths))("of %s is confirmed as long as it is current", async (_, path) => {
    const first = await request(path);
    expect([first.status, first.headers["cache-control"]]).toEqual([200, "private, no-cache"]);
    const tag = String(first.headers.etag);
    const second = await conditional(path, `"other", W/${tag}`);
    expect([second.status, second.text, second.headers.etag]).toEqual([304, "", tag]);
    expect([second.headers.vary, second.headers.link]).toEqual([first.headers.vary, undefined]);
    const other = await conditional(path, '"other"');
    expect([other.status, other.headers.etag]).toEqual([200, tag]);
  });

  test("that differs has another tag", async () => {
    const same = ["getEvent", "getPayout", "getTransactionByGatewayTransactionId", "searchAgreements"];
    const shown = Object.entries(paths).filter(([id]) => !same.includes(id));
    const tags = new Map<string, string>();
    for (const [, path] of shown) tags.set(path, String((await request(path)).headers.etag));
    await store(
      succeeded("pay0", 300),
      story("refund", "pay1-second", [
        "11:30",
        "REFUND_CREATED_BY_USER",
        { ...account, amount: 1 },
        { parent_resource_external_id: "pay1" },
      ]),
      payout("po2"),
    );
    await ledger.send(
      ...story("payment", "pay1", ["10:02", "USER_EMAIL_COLLECTED", { email: "a@example.org" }]),
      ...story("agreement", "agr1", ["09:30", "AGREEMENT_SET_UP"]),
    );
    await ledger.until(paths.getTransaction as string, { email: "a@example.org" });
    await ledger.until(paths.getAgreement as string, { status: "ACTIVE" });
    for (const [path, tag] of tags) {
      const { status, headers } = await conditional(path, tag);
      expect([path, status, headers.etag === tag]).toEqual([path, 200, false]);
    }
  });

  test("of CSV has no tag", async () => {
    for (const path of ["/v1/transaction?account_id=57", "/v1/report/transactions?account_id=57"]) {
      const { status, headers } = await request(`${path}&format=csv`, { headers: { "if-none-match": "*" } });
      expect([path, status, headers.etag, headers.vary]).toEqual([
        path,
        200,
        undefined,
        "accept, accept-encoding",
      ]);
    }
  });

  test("of HEAD has the tag of GET", async () => {
    const { headers } = await request(paths.getPayout as string);
    const head = await request(paths.getPayout as string, { method: "HEAD" });
    expect([head.status, head.text, head.headers.etag]).toEqual([200, "", headers.etag]);
  });

  test("of a thousand and one hours has a tag", async () => {
    const hour = (n: number) => new Date(Date.UTC(2020, 0, 1, n)).toISOString();
    const hours = Array.from({ length: 1001 }, (_, n) => ({
      ...payment(`hour${n}`, { ...account, amount: 1 })[0],
      service_id: "svc",
      live: true,
      timestamp: hour(n),
    }));
    await store(hours);
    const path = `/v1/report/transactions-by-hour?from_date=${hour(0)}&to_date=${hour(1001)}`;
    const { json, headers } = await request(path);
    expect(json).toHaveLength(1001);
    expect((await conditional(path, String(headers.etag))).status).toBe(304);
  });
});
