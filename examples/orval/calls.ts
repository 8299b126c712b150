import { randomUUID } from "node:crypto";
import axios from "axios";
import * as features from "./features";
import * as ledger from "./ledger";
import { show } from "./show";

const [ledgerUrl = "", featuresUrl = ""] = process.argv.slice(2);
// Orval leaves the form of a list to axios, which by default sends `account_id[]`. This sends `account_id` repeatedly.
axios.defaults.paramsSerializer = { indexes: null };

/** The response with which a call fails. */
const failureOf = <Body>(call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error) => (axios.isAxiosError<Body>(error) ? error.response : undefined),
  );

async function callLedger() {
  const at = { baseURL: ledgerUrl };
  const account_id = "demo";

  show("payment", (await ledger.getTransaction("demo-success", { account_id }, at)).data);
  const missing = ledger.getTransaction("demo-missing", { account_id }, at);
  show("missing", (await failureOf<ledger.Problem>(missing))?.data);
  show("plain", (await ledger.getTransaction("plain-refund", { account_id: "plain" }, at)).data);

  const search: ledger.SearchTransactionsParams = {
    account_id: [account_id, "other"],
    payment_states: ["success", "declined"],
    refund_states: ["success"],
    state: "success",
    from_date: "2024-03-01T00:00:00Z",
  };
  show("found", (await ledger.searchTransactions(search, at)).data);
  const ofAccount = { gateway_account_id: account_id };
  const disputes = { ...ofAccount, transaction_type: "DISPUTE" as const };
  show("children", (await ledger.listChildTransactions("demo-disputed", disputes, at)).data);

  const every = { ...ofAccount, include_all_events: true };
  const { data: history } = await ledger.listTransactionEvents("demo-success", every, at);
  show("history", history);
  show("event", (await ledger.getEvent(history.events[0]?.event_id ?? 0, at)).data);

  const group_by = [ledger.GroupColumn.GROUP_BY_TYPE, ledger.GroupColumn.GROUP_BY_STATE];
  const { data: report } = await ledger.getTransactionReport({ account_id: [account_id], group_by }, at);
  // JSON, not the text of the CSV.
  show("group", typeof report === "object" ? report.groups[0] : undefined);
  const march = { from_date: "2024-03-01", to_date: "2024-03-31" };
  show("accounts", (await ledger.listGatewayPerformance(march, at)).data);
  show("payout", (await ledger.getPayout("plain-payout", { gateway_account_id: "plain" }, at)).data);

  const consistent = { ...at, headers: { "X-Consistent": true } };
  show("agreement", (await ledger.getAgreement("demo-agreement", { account_id }, consistent)).data);
  show("agreements", (await ledger.searchAgreements({ account_id: [account_id, "plain"] }, at)).data);
  show("agreed", (await ledger.listAgreementEvents("demo-agreement", { account_id }, at)).data);

  const message: ledger.EventMessage = {
    event_type: "PAYMENT_CREATED",
    resource_type: ledger.ResourceType.PAYMENT_RESOURCE,
    resource_external_id: randomUUID(),
    timestamp: "2024-03-05T09:14:22Z",
    event_details: { gateway_account_id: "added", amount: 4250 },
  };
  const added = await ledger.addEvents(message, at);
  show("added", [added.status, added.data]);
  const { resource_external_id } = message;
  show("stored", (await ledger.getTransaction(resource_external_id, { account_id: "added" }, at)).data);
  show("again", (await ledger.addEvents([message], at)).data);
}

async function callFeatures() {
  const at = { baseURL: featuresUrl };
  const path = { resource: "customer", id: randomUUID() };
  const { resource, id } = path;

  const expires_at = "2037-03-05T09:14:22.018Z";
  const added = await features.addFeature(resource, id, "zebra ü", { expires_at }, at);
  show("feature", [added.status, added.data]);
  const past = { expires_at: "2001-01-01T00:00:00Z" };
  const late = await failureOf<string>(features.addFeature(resource, id, "late", past, at));
  show("late", [late?.status, late?.data]);

  const changes = ["mango", "apple", "apple"].map((feature) => ({ type: "add" as const, ...path, feature }));
  show("changed", (await features.changeFeatures({ changes }, at)).data);
  const listed = await features.listFeatures(resource, id, undefined, at);
  show("listed", listed.data);
  const matching = { ...at, headers: { "If-Match": listed.headers.etag } };
  show("replaced", (await features.replaceFeatures(resource, id, ["yak", "mango", "bee"], matching)).data);
  const query = { resources: [path], features: ["bee", "zebra ü"] };
  show("checked", (await features.hasFeatures(query, at)).data);
  const context = { targetingKey: `customer/${id}` };
  show("flag", (await features.evaluateFlag("bee", { context }, at)).data);
  show("removed", (await features.removeFeature(resource, id, "bee", at)).status);

  const { data: feed } = await features.listChanges({ limit: 1000 }, at);
  // JSON, not the text of NDJSON or of a stream.
  const records = typeof feed === "object" ? feed.changes.filter((record) => record.id === id) : [];
  show("records", [records[0], records.at(-1)]);
}

void Promise.all([callLedger(), callFeatures()]);
