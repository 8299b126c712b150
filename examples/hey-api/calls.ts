import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import * as features from "./features";
import { client as featuresClient } from "./features/client.gen";
import * as ledger from "./ledger";
import { client as ledgerClient } from "./ledger/client.gen";

const [ledgerUrl = "", featuresUrl = ""] = process.argv.slice(2);
ledgerClient.setConfig({ baseUrl: ledgerUrl });
featuresClient.setConfig({ baseUrl: featuresUrl });

async function callLedger() {
  const account_id = "demo";

  const { data: payment } = await ledger.getTransaction({
    path: { transactionExternalId: "demo-success" },
    query: { account_id },
  });
  assert(payment?.transaction_type === "PAYMENT");
  const { capture_submit_time, captured_date } = payment.settlement_summary;
  assert.deepEqual([payment.amount, payment.state.status], [4250, "success"]);
  assert.deepEqual([capture_submit_time, captured_date], [null, "2024-03-05"]);
  assert.deepEqual([payment.refund_summary?.user_external_id, payment.total_amount], [null, undefined]);

  const { error, response } = await ledger.getTransaction({
    path: { transactionExternalId: "demo-missing" },
    query: { account_id },
  });
  const problem: ledger.Problem | undefined = error;
  assert.deepEqual([response?.status, problem?.status], [404, 404]);
  assert.equal(problem?.detail, "Transaction with id [demo-missing] not found");

  const { data: found } = await ledger.searchTransactions({
    query: {
      account_id: [account_id, "other"],
      payment_states: ["success", "declined"],
      refund_states: ["success"],
      state: "success",
      from_date: "2024-03-01T00:00:00Z",
    },
  });
  assert.deepEqual(
    found?.results.map(({ transaction_id, transaction_type }) => [transaction_id, transaction_type]),
    [
      ["demo-disputed", "PAYMENT"],
      ["demo-refund", "REFUND"],
      ["demo-success", "PAYMENT"],
    ],
  );
  const refund = found?.results[1];
  assert(refund?.transaction_type === "REFUND");
  assert.equal(refund.payment_details.reference, "fishing-88");

  const { data: children } = await ledger.listChildTransactions({
    path: { parentTransactionExternalId: "demo-disputed" },
    query: { gateway_account_id: account_id, transaction_type: "DISPUTE" },
  });
  const dispute = children?.transactions[0];
  assert(dispute?.transaction_type === "DISPUTE");
  assert.equal(dispute.reason, "unrecognised");

  const { data: history } = await ledger.listTransactionEvents({
    path: { transactionExternalId: "demo-success" },
    query: { gateway_account_id: account_id, include_all_events: true },
  });
  const [created, , entered] = history?.events ?? [];
  assert.equal(history?.events.length, 11);
  assert.deepEqual([created?.state?.status, entered?.state], ["created", null]);

  const { data: event } = await ledger.getEvent({ path: { eventId: created?.event_id ?? 0 } });
  assert.deepEqual(
    [event?.event_id, event?.resource_type, event?.parent_resource_external_id],
    [created?.event_id, "payment", null],
  );

  const { data: report } = await ledger.getTransactionReport({
    query: { account_id: [account_id], group_by: ["type", "state"] },
  });
  assert(typeof report === "object");
  const [first] = report.groups;
  assert.deepEqual([first?.type, first?.state, first?.count], ["DISPUTE", "needs_response", 1]);

  const { data: accounts } = await ledger.listGatewayPerformance({
    query: { from_date: "2024-03-01", to_date: "2024-03-31" },
  });
  assert.deepEqual(
    accounts?.map(({ gateway_account_id, average_amount }) => [gateway_account_id, average_amount]),
    [
      [57, 16_777_217],
      ["demo", 2725],
      [null, 0],
    ],
  );

  const { data: payout } = await ledger.getPayout({
    path: { gatewayPayoutId: "plain-payout" },
    query: { gateway_account_id: "plain" },
  });
  assert.deepEqual([payout?.state.status, payout?.paid_out_date], ["intransit", null]);

  const agreementPath = { agreementExternalId: "demo-agreement" };
  const { data: agreement } = await ledger.getAgreement({
    path: agreementPath,
    query: { account_id },
    headers: { "X-Consistent": true },
  });
  assert.deepEqual([agreement?.status, agreement?.cancelled_date], ["ACTIVE", null]);
  assert.equal(agreement?.payment_instrument?.card_details?.card_brand, "visa");

  const { data: agreements } = await ledger.searchAgreements({
    query: { account_id: [account_id, "plain"] },
  });
  assert.deepEqual(
    agreements?.results.map(({ external_id }) => external_id),
    ["plain-agreement", "demo-agreement"],
  );
  const plain = agreements?.results[0];
  assert.deepEqual([plain?.payment_instrument, plain?.reference], [null, null]);

  const { data: agreed } = await ledger.listAgreementEvents({ path: agreementPath, query: { account_id } });
  assert.deepEqual([agreed?.events.length, agreed?.events[1]?.resource_type], [4, "PAYMENT_INSTRUMENT"]);

  const message: ledger.EventMessage = {
    event_type: "PAYMENT_CREATED",
    resource_type: "payment",
    resource_external_id: randomUUID(),
    timestamp: "2024-03-05T09:14:22Z",
    event_details: { gateway_account_id: "added", amount: 4250 },
  };
  const one = await ledger.addEvents({ body: message });
  const event_id = one.data?.events[0]?.event_id;
  assert(typeof event_id === "number");
  assert.deepEqual([one.response?.status, one.data], [202, { events: [{ event_id, is_new: true }] }]);

  const { data: added } = await ledger.getTransaction({
    path: { transactionExternalId: message.resource_external_id },
    query: { account_id: "added" },
  });
  assert.equal(added?.amount, 4250);

  const { data: again } = await ledger.addEvents({ body: [message] });
  assert.deepEqual(again, { events: [{ event_id, is_new: false }] });
}

async function callFeatures() {
  const path = { resource: "customer", id: randomUUID() };
  const expires_at = "2037-03-05T09:14:22.018Z";

  const added = await features.addFeature({ path: { ...path, feature: "zebra ü" }, query: { expires_at } });
  assert.deepEqual([added.response?.status, added.data], [201, { result: true }]);

  const rejected = await features.addFeature({
    path: { ...path, feature: "late" },
    query: { expires_at: "2001-01-01T00:00:00Z" },
  });
  assert.deepEqual(
    [rejected.response?.status, rejected.error],
    [400, "query parameter expires_at must be in the future\n"],
  );

  const changes = ["mango", "apple", "apple"].map((feature) => ({ type: "add" as const, ...path, feature }));
  const changed = await features.changeFeatures({ body: { changes } });
  assert.deepEqual(changed.data?.results, [{ changed: true }, { changed: true }, { changed: false }]);

  const listed = await features.listFeatures({ path });
  assert.deepEqual(listed.data, ["zebra ü", "mango", "apple"]);

  const replaced = await features.replaceFeatures({
    path,
    headers: { "If-Match": listed.response?.headers.get("etag") ?? "" },
    body: ["yak", "mango", "bee"],
  });
  assert.deepEqual(replaced.data, ["mango", "yak", "bee"]);

  const checked = await features.hasFeatures({ body: { resources: [path], features: ["bee", "zebra ü"] } });
  assert.deepEqual(checked.data?.results, [{ ...path, has: [true, false] }]);

  const flag = await features.evaluateFlag({
    path: { key: "bee" },
    body: { context: { targetingKey: `${path.resource}/${path.id}` } },
  });
  assert.deepEqual([flag.data?.value, flag.data?.reason], [true, "TARGETING_MATCH"]);

  const removed = await features.removeFeature({ path: { ...path, feature: "bee" } });
  assert.equal(removed.response?.status, 204);

  const feed = await features.listChanges({ query: { limit: 1000 } });
  const records = feed.data?.changes.filter(({ id }) => id === path.id) ?? [];
  assert.deepEqual([records[0]?.type, records[0]?.expires_at], ["added", expires_at]);
  assert.deepEqual([records.at(-1)?.type, records.at(-1)?.expires_at], ["removed", undefined]);
}

void Promise.all([callLedger(), callFeatures()]);
