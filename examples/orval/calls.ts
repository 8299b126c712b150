import axios from "axios";
import * as features from "./features";
import * as ledger from "./ledger";
import { changes, context, customer, march, message, ofBoth, replacement, search } from "./requests";
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
  const ofDemo = { account_id: "demo" };
  show("payment", (await ledger.getTransaction("demo-success", ofDemo, at)).data);
  const missing = ledger.getTransaction("demo-missing", ofDemo, at);
  show("missing", (await failureOf<ledger.Problem>(missing))?.data);
  show("plain", (await ledger.getTransaction("plain-refund", { account_id: "plain" }, at)).data);
  show("found", (await ledger.searchTransactions(search, at)).data);
  show("accounts", (await ledger.listGatewayPerformance(march, at)).data);
  const consistent = { ...at, headers: { "X-Consistent": true } };
  show("agreement", (await ledger.getAgreement("demo-agreement", ofDemo, consistent)).data);
  show("agreements", (await ledger.searchAgreements(ofBoth, at)).data);

  const added = await ledger.addEvents(message, at);
  show("added", [added.status, added.data]);
  const { resource_external_id } = message;
  show("stored", (await ledger.getTransaction(resource_external_id, { account_id: "added" }, at)).data);
  show("again", (await ledger.addEvents([message], at)).data);
}

async function callFeatures() {
  const at = { baseURL: featuresUrl };
  const { resource, id } = customer;
  const expires_at = "2037-03-05T09:14:22.018Z";
  const added = await features.addFeature(resource, id, "zebra ü", { expires_at }, at);
  show("feature", [added.status, added.data]);
  const past = { expires_at: "2001-01-01T00:00:00Z" };
  const late = await failureOf<string>(features.addFeature(resource, id, "late", past, at));
  show("late", [late?.status, late?.data]);

  show("changed", (await features.changeFeatures({ changes }, at)).data);
  const listed = await features.listFeatures(resource, id, undefined, at);
  show("listed", listed.data);
  const matching = { ...at, headers: { "If-Match": listed.headers.etag } };
  show("replaced", (await features.replaceFeatures(resource, id, replacement, matching)).data);
  show("flag", (await features.evaluateFlag("bee", { context }, at)).data);
  show("removed", (await features.removeFeature(resource, id, "bee", at)).status);
  const { data: feed } = await features.listChanges({ limit: 1000 }, at);
  // JSON, not the text of NDJSON or of a stream.
  const records = typeof feed === "object" ? feed.changes.filter((record) => record.id === id) : [];
  show("records", [records[0], records.at(-1)]);
}

void Promise.all([callLedger(), callFeatures()]);
