import axios from "axios";
import * as features from "./features";
import * as ledger from "./ledger";
import * as requests from "./requests";
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
  const { agreement, message, stored } = requests;
  const missing = await failureOf<ledger.Problem>(ledger.getEvent(requests.unknownEvent.eventId, {}, at));
  show("missing", missing?.data);
  show("found", (await ledger.searchTransactions(requests.search, at)).data);
  show("accounts", (await ledger.listGatewayPerformance(requests.march, at)).data);
  const consistent = { ...at, headers: requests.consistent };
  show("agreement", (await ledger.getAgreement("demo-agreement", agreement.query, consistent)).data);
  show("agreements", (await ledger.searchAgreements(requests.ofBoth, at)).data);

  const added = await ledger.addEvents(message, at);
  show("added", [added.status, added.data]);
  show("stored", (await ledger.getTransaction(message.resource_external_id, stored.query, at)).data);
  show("again", (await ledger.addEvents([message], at)).data);
}

async function callFeatures() {
  const at = { baseURL: featuresUrl };
  const { changes, context, zebra, late: past } = requests;
  const { resource, id } = requests.customer;
  const added = await features.addFeature(resource, id, "zebra ü", zebra.query, at);
  show("feature", [added.status, added.data]);
  const late = await failureOf<string>(features.addFeature(resource, id, "late", past.query, at));
  show("late", [late?.status, late?.data]);

  show("changed", (await features.changeFeatures({ changes }, at)).data);
  const listed = await features.listFeatures(resource, id, undefined, at);
  show("listed", listed.data);
  const matching = { ...at, headers: { "If-Match": listed.headers.etag } };
  show("replaced", (await features.replaceFeatures(resource, id, requests.replacement, matching)).data);
  show("flag", (await features.evaluateFlag("bee", { context }, at)).data);
  show("removed", (await features.removeFeature(resource, id, "bee", at)).status);
  const { data: feed } = await features.listChanges(requests.feed, at);
  // JSON, not the text of NDJSON or of a stream.
  const records = typeof feed === "object" ? feed.changes.filter((record) => record.id === id) : [];
  show("records", [records[0], records.at(-1)]);
}

void Promise.all([callLedger(), callFeatures()]);
