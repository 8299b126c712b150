import * as features from "./features";
import { client as featuresClient } from "./features/client.gen";
import * as ledger from "./ledger";
import { client as ledgerClient } from "./ledger/client.gen";
import * as requests from "./requests";
import { show } from "./show";

const [ledgerUrl = "", featuresUrl = ""] = process.argv.slice(2);
ledgerClient.setConfig({ baseUrl: ledgerUrl });
featuresClient.setConfig({ baseUrl: featuresUrl });

async function callLedger() {
  show("missing", (await ledger.getEvent({ path: requests.unknownEvent })).error);
  show("found", (await ledger.searchTransactions({ query: requests.search })).data);
  show("accounts", (await ledger.listGatewayPerformance({ query: requests.march })).data);
  const agreement = await ledger.getAgreement({ ...requests.agreement, headers: requests.consistent });
  show("agreement", agreement.data);
  show("agreements", (await ledger.searchAgreements({ query: requests.ofBoth })).data);

  const added = await ledger.addEvents({ body: requests.message });
  show("added", [added.response?.status, added.data]);
  show("stored", (await ledger.getTransaction(requests.stored)).data);
  show("again", (await ledger.addEvents({ body: [requests.message] })).data);
}

async function callFeatures() {
  const { customer: path, changes, context } = requests;
  const added = await features.addFeature(requests.zebra);
  show("feature", [added.response?.status, added.data]);
  // The type of an error is that of a problem document.
  const late = await features.addFeature({ ...requests.late, headers: { Accept: "application/json" } });
  show("late", [late.response?.status, `${late.error?.detail}\n`]);

  show("changed", (await features.changeFeatures({ body: { changes } })).data);
  const listed = await features.listFeatures({ path });
  show("listed", listed.data);
  const headers = { "If-Match": listed.response?.headers.get("etag") ?? "" };
  show("replaced", (await features.replaceFeatures({ path, headers, body: requests.replacement })).data);
  show("flag", (await features.evaluateFlag({ path: { key: "bee" }, body: { context } })).data);
  show("removed", (await features.removeFeature(requests.bee)).response?.status);
  const feed = await features.listChanges({ query: requests.feed });
  const records = feed.data?.changes.filter(({ id }) => id === path.id) ?? [];
  show("records", [records[0], records.at(-1)]);
}

void Promise.all([callLedger(), callFeatures()]);
