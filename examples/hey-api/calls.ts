import * as features from "./features";
import { client as featuresClient } from "./features/client.gen";
import * as ledger from "./ledger";
import { client as ledgerClient } from "./ledger/client.gen";
import { changes, context, march, message, ofBoth, customer as path, replacement, search } from "./requests";
import { show } from "./show";

const [ledgerUrl = "", featuresUrl = ""] = process.argv.slice(2);
ledgerClient.setConfig({ baseUrl: ledgerUrl });
featuresClient.setConfig({ baseUrl: featuresUrl });

async function callLedger() {
  const getTransaction = (transactionExternalId: string, account_id: string) =>
    ledger.getTransaction({ path: { transactionExternalId }, query: { account_id } });
  show("payment", (await getTransaction("demo-success", "demo")).data);
  show("missing", (await getTransaction("demo-missing", "demo")).error);
  show("plain", (await getTransaction("plain-refund", "plain")).data);
  show("found", (await ledger.searchTransactions({ query: search })).data);
  show("accounts", (await ledger.listGatewayPerformance({ query: march })).data);

  const agreement = await ledger.getAgreement({
    path: { agreementExternalId: "demo-agreement" },
    query: { account_id: "demo" },
    headers: { "X-Consistent": true },
  });
  show("agreement", agreement.data);
  show("agreements", (await ledger.searchAgreements({ query: ofBoth })).data);

  const added = await ledger.addEvents({ body: message });
  show("added", [added.response?.status, added.data]);
  show("stored", (await getTransaction(message.resource_external_id, "added")).data);
  show("again", (await ledger.addEvents({ body: [message] })).data);
}

async function callFeatures() {
  const addFeature = (feature: string, expires_at: string) =>
    features.addFeature({ path: { ...path, feature }, query: { expires_at } });
  const added = await addFeature("zebra ü", "2037-03-05T09:14:22.018Z");
  show("feature", [added.response?.status, added.data]);
  const late = await addFeature("late", "2001-01-01T00:00:00Z");
  show("late", [late.response?.status, late.error]);

  show("changed", (await features.changeFeatures({ body: { changes } })).data);
  const listed = await features.listFeatures({ path });
  show("listed", listed.data);
  const headers = { "If-Match": listed.response?.headers.get("etag") ?? "" };
  show("replaced", (await features.replaceFeatures({ path, headers, body: replacement })).data);
  show("flag", (await features.evaluateFlag({ path: { key: "bee" }, body: { context } })).data);
  show("removed", (await features.removeFeature({ path: { ...path, feature: "bee" } })).response?.status);
  const feed = await features.listChanges({ query: { limit: 1000 } });
  const records = feed.data?.changes.filter(({ id }) => id === path.id) ?? [];
  show("records", [records[0], records.at(-1)]);
}

void Promise.all([callLedger(), callFeatures()]);
