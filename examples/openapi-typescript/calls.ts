import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import createClient from "openapi-fetch";
import type { paths as FeaturePaths } from "./features.js";
import type { components, paths as LedgerPaths } from "./ledger.js";

const [ledgerUrl = "", featuresUrl = ""] = process.argv.slice(2);

async function callLedger() {
  const ledger = createClient<LedgerPaths>({ baseUrl: ledgerUrl });
  const accountId = "demo";

  const { data: payment } = await ledger.GET("/v1/transaction/{transactionExternalId}", {
    params: { path: { transactionExternalId: "demo-success" }, query: { account_id: accountId } },
  });
  assert(payment?.transaction_type === "PAYMENT");
  const { capture_submit_time, captured_date } = payment.settlement_summary;
  assert.deepEqual([payment.amount, payment.state.status], [4250, "success"]);
  assert.deepEqual([capture_submit_time, captured_date], [null, "2024-03-05"]);
  assert.deepEqual([payment.refund_summary?.user_external_id, payment.total_amount], [null, undefined]);

  const { error, response } = await ledger.GET("/v1/transaction/{transactionExternalId}", {
    params: { path: { transactionExternalId: "demo-missing" }, query: { account_id: accountId } },
  });
  const problem: components["schemas"]["Problem"] | undefined = error;
  assert.deepEqual([response.status, problem?.status], [404, 404]);
  assert.equal(problem?.detail, "Transaction with id [demo-missing] not found");

  const { data: found } = await ledger.GET("/v1/transaction/", {
    params: {
      query: {
        account_id: [accountId, "other"],
        payment_states: ["success", "declined"],
        refund_states: ["success"],
        state: "success",
        from_date: "2024-03-01T00:00:00Z",
      },
    },
  });
  // JSON, not the text of the CSV.
  assert(typeof found === "object");
  assert.deepEqual(
    found.results.map(({ transaction_id, transaction_type }) => [transaction_id, transaction_type]),
    [
      ["demo-disputed", "PAYMENT"],
      ["demo-refund", "REFUND"],
      ["demo-success", "PAYMENT"],
    ],
  );
  const refund = found.results[1];
  assert(refund?.transaction_type === "REFUND");
  assert.equal(refund.payment_details.reference, "fishing-88");

  const { data: children } = await ledger.GET("/v1/transaction/{parentTransactionExternalId}/transaction", {
    params: {
      path: { parentTransactionExternalId: "demo-disputed" },
      query: { gateway_account_id: accountId, transaction_type: "DISPUTE" },
    },
  });
  const dispute = children?.transactions[0];
  assert(dispute?.transaction_type === "DISPUTE");
  assert.equal(dispute.reason, "unrecognised");

  const { data: history } = await ledger.GET("/v1/transaction/{transactionExternalId}/event", {
    params: {
      path: { transactionExternalId: "demo-success" },
      query: { gateway_account_id: accountId, include_all_events: true },
    },
  });
  const [created, , entered] = history?.events ?? [];
  assert.equal(history?.events.length, 11);
  assert.deepEqual([created?.state?.status, entered?.state], ["created", null]);

  const { data: event } = await ledger.GET("/v1/event/{eventId}", {
    params: { path: { eventId: created?.event_id ?? 0 } },
  });
  assert.deepEqual(
    [event?.event_id, event?.resource_type, event?.parent_resource_external_id],
    [created?.event_id, "payment", null],
  );

  const { data: report } = await ledger.GET("/v1/report/transactions", {
    params: { query: { account_id: [accountId], group_by: ["type", "state"] } },
  });
  assert(typeof report === "object");
  const [first] = report.groups;
  assert.deepEqual([first?.type, first?.state, first?.count], ["DISPUTE", "needs_response", 1]);

  const { data: accounts } = await ledger.GET("/v1/report/gateway-performance-report", {
    params: { query: { from_date: "2024-03-01", to_date: "2024-03-31" } },
  });
  assert.deepEqual(
    accounts?.map(({ gateway_account_id, average_amount }) => [gateway_account_id, average_amount]),
    [
      [57, 16_777_217],
      ["demo", 2725],
      [null, 0],
    ],
  );

  const { data: payout } = await ledger.GET("/v1/payout/{gatewayPayoutId}", {
    params: { path: { gatewayPayoutId: "plain-payout" }, query: { gateway_account_id: "plain" } },
  });
  assert.deepEqual([payout?.state.status, payout?.paid_out_date], ["intransit", null]);

  const agreementPath = { agreementExternalId: "demo-agreement" };
  const { data: agreement } = await ledger.GET("/v1/agreement/{agreementExternalId}", {
    params: { path: agreementPath, query: { account_id: accountId }, header: { "X-Consistent": true } },
  });
  assert.deepEqual([agreement?.status, agreement?.cancelled_date], ["ACTIVE", null]);
  assert.equal(agreement?.payment_instrument?.card_details?.card_brand, "visa");

  const { data: agreements } = await ledger.GET("/v1/agreement", {
    params: { query: { account_id: [accountId, "plain"] } },
  });
  assert.deepEqual(
    agreements?.results.map(({ external_id }) => external_id),
    ["plain-agreement", "demo-agreement"],
  );
  const plain = agreements?.results[0];
  assert.deepEqual([plain?.payment_instrument, plain?.reference], [null, null]);

  const { data: agreed } = await ledger.GET("/v1/agreement/{agreementExternalId}/event", {
    params: { path: agreementPath, query: { account_id: accountId } },
  });
  assert.deepEqual([agreed?.events.length, agreed?.events[1]?.resource_type], [4, "PAYMENT_INSTRUMENT"]);

  const message: components["schemas"]["EventMessage"] = {
    event_type: "PAYMENT_CREATED",
    resource_type: "payment",
    resource_external_id: randomUUID(),
    timestamp: "2024-03-05T09:14:22Z",
    event_details: { gateway_account_id: "added", amount: 4250 },
  };
  const one = await ledger.POST("/v1/event", { body: message });
  const event_id = one.data?.events[0]?.event_id;
  assert(typeof event_id === "number");
  assert.deepEqual([one.response.status, one.data], [202, { events: [{ event_id, is_new: true }] }]);

  const { data: added } = await ledger.GET("/v1/transaction/{transactionExternalId}", {
    params: {
      path: { transactionExternalId: message.resource_external_id },
      query: { account_id: "added" },
    },
  });
  assert.equal(added?.amount, 4250);

  const { data: again } = await ledger.POST("/v1/event", { body: [message] });
  assert.deepEqual(again, { events: [{ event_id, is_new: false }] });
}

async function callFeatures() {
  const storage = createClient<FeaturePaths>({ baseUrl: featuresUrl });
  const resource = "customer";
  const id = randomUUID();
  const path = { resource, id };
  const expires_at = "2037-03-05T09:14:22.018Z";

  const added = await storage.POST("/features/{resource}/{id}/{feature}", {
    params: { path: { ...path, feature: "zebra ü" }, query: { expires_at } },
  });
  assert.deepEqual([added.response.status, added.data], [201, { result: true }]);

  const rejected = await storage.POST("/features/{resource}/{id}/{feature}", {
    params: { path: { ...path, feature: "late" }, query: { expires_at: "2001-01-01T00:00:00Z" } },
    parseAs: "text",
  });
  assert.deepEqual(
    [rejected.response.status, rejected.error],
    [400, "query parameter expires_at must be in the future\n"],
  );

  const changes = ["mango", "apple"].map((feature) => ({ type: "add" as const, ...path, feature }));
  const changed = await storage.POST("/changes", { body: { changes: [...changes, ...changes.slice(1)] } });
  assert.deepEqual(changed.data?.results, [{ changed: true }, { changed: true }, { changed: false }]);

  const listed = await storage.GET("/features/{resource}/{id}", { params: { path } });
  assert.deepEqual(listed.data, ["zebra ü", "mango", "apple"]);

  const replaced = await storage.PUT("/features/{resource}/{id}", {
    params: { path, header: { "If-Match": listed.response.headers.get("etag") ?? "" } },
    body: ["yak", "mango", "bee"],
  });
  assert.deepEqual(replaced.data, ["mango", "yak", "bee"]);

  const query = await storage.POST("/query", { body: { resources: [path], features: ["bee", "zebra ü"] } });
  assert.deepEqual(query.data?.results, [{ ...path, has: [true, false] }]);

  const flag = await storage.POST("/ofrep/v1/evaluate/flags/{key}", {
    params: { path: { key: "bee" } },
    body: { context: { targetingKey: `${resource}/${id}` } },
  });
  assert.deepEqual([flag.data?.value, flag.data?.reason], [true, "TARGETING_MATCH"]);

  const removed = await storage.DELETE("/features/{resource}/{id}/{feature}", {
    params: { path: { ...path, feature: "bee" } },
  });
  assert.equal(removed.response.status, 204);

  const feed = await storage.GET("/changes", { params: { query: { limit: 1000 } } });
  // JSON, not the text of NDJSON or of a stream.
  assert(typeof feed.data === "object");
  const records = feed.data.changes.filter((record) => record.id === id);
  assert.deepEqual([records[0]?.type, records[0]?.expires_at], ["added", expires_at]);
  assert.deepEqual([records.at(-1)?.type, records.at(-1)?.expires_at], ["removed", undefined]);
}

void Promise.all([callLedger(), callFeatures()]);
