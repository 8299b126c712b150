import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import axios from "axios";
import * as features from "./features";
import * as ledger from "./ledger";

const [ledgerUrl = "", featuresUrl = ""] = process.argv.slice(2);
// Orval leaves the form of a list to axios, which by default sends `account_id[]`. This sends `account_id` repeatedly.
axios.defaults.paramsSerializer = { indexes: null };

async function callLedger() {
  const at = { baseURL: ledgerUrl };
  const account_id = "demo";

  const { data: payment } = await ledger.getTransaction("demo-success", { account_id }, at);
  assert(payment.transaction_type === "PAYMENT");
  const { capture_submit_time, captured_date } = payment.settlement_summary;
  assert.deepEqual([payment.amount, payment.state.status], [4250, "success"]);
  assert.deepEqual([capture_submit_time, captured_date], [null, "2024-03-05"]);
  assert.deepEqual([payment.refund_summary?.user_external_id, payment.total_amount], [null, undefined]);

  const missing = ledger.getTransaction("demo-missing", { account_id }, at);
  const error = await missing.catch((reason) => reason);
  assert(axios.isAxiosError<ledger.Problem>(error));
  const problem = error.response?.data;
  assert.deepEqual([problem?.status, problem?.detail], [404, "Transaction with id [demo-missing] not found"]);

  const { data: found } = await ledger.searchTransactions(
    {
      account_id: [account_id, "other"],
      payment_states: ["success", "declined"],
      refund_states: ["success"],
      state: "success",
      from_date: "2024-03-01T00:00:00Z",
    },
    at,
  );
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

  const { data: children } = await ledger.listChildTransactions(
    "demo-disputed",
    { gateway_account_id: account_id, transaction_type: "DISPUTE" },
    at,
  );
  const dispute = children.transactions[0];
  assert(dispute?.transaction_type === "DISPUTE");
  assert.equal(dispute.reason, "unrecognised");

  const { data: history } = await ledger.listTransactionEvents(
    "demo-success",
    { gateway_account_id: account_id, include_all_events: true },
    at,
  );
  const [created, , entered] = history.events;
  assert.equal(history.events.length, 11);
  assert.deepEqual([created?.state?.status, entered?.state], ["created", null]);

  const eventId = created?.event_id ?? 0;
  const { data: event } = await ledger.getEvent(eventId, at);
  assert.deepEqual(
    [event.event_id, event.resource_type, event.parent_resource_external_id],
    [eventId, "payment", null],
  );

  const { data: report } = await ledger.getTransactionReport(
    { account_id: [account_id], group_by: ["type", "state"] },
    at,
  );
  assert(typeof report === "object");
  const [first] = report.groups;
  assert.deepEqual([first?.type, first?.state, first?.count], ["DISPUTE", "needs_response", 1]);

  const march = { from_date: "2024-03-01", to_date: "2024-03-31" };
  const { data: accounts } = await ledger.listGatewayPerformance(march, at);
  assert.deepEqual(
    accounts.map(({ gateway_account_id, average_amount }) => [gateway_account_id, average_amount]),
    [
      [57, 16_777_217],
      ["demo", 2725],
      [null, 0],
    ],
  );

  const { data: payout } = await ledger.getPayout("plain-payout", { gateway_account_id: "plain" }, at);
  assert.deepEqual([payout.state.status, payout.paid_out_date], ["intransit", null]);

  const consistent = { ...at, headers: { "X-Consistent": true } };
  const { data: agreement } = await ledger.getAgreement("demo-agreement", { account_id }, consistent);
  assert.deepEqual(
    [agreement.status, agreement.cancelled_date],
    [ledger.AgreementStatus.AGREEMENT_ACTIVE, null],
  );
  assert.equal(agreement.payment_instrument?.card_details?.card_brand, "visa");

  const { data: agreements } = await ledger.searchAgreements({ account_id: [account_id, "plain"] }, at);
  assert.deepEqual(
    agreements.results.map(({ external_id }) => external_id),
    ["plain-agreement", "demo-agreement"],
  );
  const plain = agreements.results[0];
  assert.deepEqual([plain?.payment_instrument, plain?.reference], [null, null]);

  const { data: agreed } = await ledger.listAgreementEvents("demo-agreement", { account_id }, at);
  assert.equal(agreed.events.length, 4);
  assert.equal(agreed.events[1]?.resource_type, ledger.AgreementResourceType.PAYMENT_INSTRUMENT_EVENT);

  const message: ledger.EventMessage = {
    event_type: "PAYMENT_CREATED",
    resource_type: ledger.ResourceType.PAYMENT_RESOURCE,
    resource_external_id: randomUUID(),
    timestamp: "2024-03-05T09:14:22Z",
    event_details: { gateway_account_id: "added", amount: 4250 },
  };
  const one = await ledger.addEvents(message, at);
  const event_id = one.data.events[0]?.event_id;
  assert(typeof event_id === "number");
  assert.deepEqual([one.status, one.data], [202, { events: [{ event_id, is_new: true }] }]);

  const { resource_external_id } = message;
  const { data: added } = await ledger.getTransaction(resource_external_id, { account_id: "added" }, at);
  assert.equal(added.amount, 4250);

  const { data: again } = await ledger.addEvents([message], at);
  assert.deepEqual(again, { events: [{ event_id, is_new: false }] });
}

async function callFeatures() {
  const at = { baseURL: featuresUrl };
  const path = { resource: "customer", id: randomUUID() };
  const { resource, id } = path;
  const expires_at = "2037-03-05T09:14:22.018Z";

  const added = await features.addFeature(resource, id, "zebra ü", { expires_at }, at);
  assert.deepEqual([added.status, added.data], [201, { result: true }]);

  const late = features.addFeature(resource, id, "late", { expires_at: "2001-01-01T00:00:00Z" }, at);
  const error = await late.catch((reason) => reason);
  assert(axios.isAxiosError<string>(error));
  assert.deepEqual(
    [error.response?.status, error.response?.data],
    [400, "query parameter expires_at must be in the future\n"],
  );

  const changes = ["mango", "apple", "apple"].map((feature) => ({ type: "add" as const, ...path, feature }));
  const changed = await features.changeFeatures({ changes }, at);
  assert.deepEqual(changed.data.results, [{ changed: true }, { changed: true }, { changed: false }]);

  const listed = await features.listFeatures(resource, id, undefined, at);
  assert.deepEqual(listed.data, ["zebra ü", "mango", "apple"]);

  const headers = { "If-Match": listed.headers.etag };
  const replaced = await features.replaceFeatures(resource, id, ["yak", "mango", "bee"], { ...at, headers });
  assert.deepEqual(replaced.data, ["mango", "yak", "bee"]);

  const checked = await features.hasFeatures({ resources: [path], features: ["bee", "zebra ü"] }, at);
  assert.deepEqual(checked.data.results, [{ ...path, has: [true, false] }]);

  const context = { targetingKey: `${resource}/${id}` };
  const flag = await features.evaluateFlag("bee", { context }, at);
  assert.deepEqual([flag.data.value, flag.data.reason], [true, "TARGETING_MATCH"]);

  const removed = await features.removeFeature(resource, id, "bee", at);
  assert.equal(removed.status, 204);

  const { data: feed } = await features.listChanges({ limit: 1000 }, at);
  // JSON, not the text of NDJSON or of a stream.
  assert(typeof feed === "object");
  const records = feed.changes.filter((record) => record.id === id);
  assert.deepEqual([records[0]?.type, records[0]?.expires_at], ["added", expires_at]);
  assert.deepEqual([records.at(-1)?.type, records.at(-1)?.expires_at], ["removed", undefined]);
}

void Promise.all([callLedger(), callFeatures()]);
