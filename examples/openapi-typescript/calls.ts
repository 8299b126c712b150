import createClient from "openapi-fetch";
import type { paths as FeaturePaths } from "./features.js";
import type { paths as LedgerPaths } from "./ledger.js";
import {
  changes,
  context,
  march,
  message,
  ofBoth,
  customer as path,
  replacement,
  search,
} from "./requests.js";
import { show } from "./show.js";

const [ledgerUrl = "", featuresUrl = ""] = process.argv.slice(2);

async function callLedger() {
  const ledger = createClient<LedgerPaths>({ baseUrl: ledgerUrl });
  const getTransaction = (transactionExternalId: string, account_id: string) =>
    ledger.GET("/v1/transaction/{transactionExternalId}", {
      params: { path: { transactionExternalId }, query: { account_id } },
    });
  show("payment", (await getTransaction("demo-success", "demo")).data);
  show("missing", (await getTransaction("demo-missing", "demo")).error);
  show("plain", (await getTransaction("plain-refund", "plain")).data);
  show("found", (await ledger.GET("/v1/transaction/", { params: { query: search } })).data);
  const accounts = await ledger.GET("/v1/report/gateway-performance-report", { params: { query: march } });
  show("accounts", accounts.data);

  const agreement = await ledger.GET("/v1/agreement/{agreementExternalId}", {
    params: {
      path: { agreementExternalId: "demo-agreement" },
      query: { account_id: "demo" },
      header: { "X-Consistent": true },
    },
  });
  show("agreement", agreement.data);
  show("agreements", (await ledger.GET("/v1/agreement", { params: { query: ofBoth } })).data);

  const added = await ledger.POST("/v1/event", { body: message });
  show("added", [added.response.status, added.data]);
  show("stored", (await getTransaction(message.resource_external_id, "added")).data);
  show("again", (await ledger.POST("/v1/event", { body: [message] })).data);
}

async function callFeatures() {
  const storage = createClient<FeaturePaths>({ baseUrl: featuresUrl });
  const addFeature = (feature: string, expires_at: string) =>
    storage.POST("/features/{resource}/{id}/{feature}", {
      params: { path: { ...path, feature }, query: { expires_at } },
      parseAs: feature === "late" ? "text" : "json",
    });
  const added = await addFeature("zebra ü", "2037-03-05T09:14:22.018Z");
  show("feature", [added.response.status, added.data]);
  const late = await addFeature("late", "2001-01-01T00:00:00Z");
  show("late", [late.response.status, late.error]);

  show("changed", (await storage.POST("/changes", { body: { changes } })).data);
  const listed = await storage.GET("/features/{resource}/{id}", { params: { path } });
  show("listed", listed.data);
  const replaced = await storage.PUT("/features/{resource}/{id}", {
    params: { path, header: { "If-Match": listed.response.headers.get("etag") ?? "" } },
    body: replacement,
  });
  show("replaced", replaced.data);
  const flag = await storage.POST("/ofrep/v1/evaluate/flags/{key}", {
    params: { path: { key: "bee" } },
    body: { context },
  });
  show("flag", flag.data);
  const removed = await storage.DELETE("/features/{resource}/{id}/{feature}", {
    params: { path: { ...path, feature: "bee" } },
  });
  show("removed", removed.response.status);
  const { data: feed } = await storage.GET("/changes", { params: { query: { limit: 1000 } } });
  // JSON, not the text of NDJSON or of a stream.
  const records = typeof feed === "object" ? feed.changes.filter(({ id }) => id === path.id) : [];
  show("records", [records[0], records.at(-1)]);
}

void Promise.all([callLedger(), callFeatures()]);
