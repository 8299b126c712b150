import createClient from "openapi-fetch";
import type { paths as FeaturePaths } from "./features.js";
import type { paths as LedgerPaths } from "./ledger.js";
import * as requests from "./requests.js";
import { show } from "./show.js";

const [ledgerUrl = "", featuresUrl = ""] = process.argv.slice(2);

async function callLedger() {
  const ledger = createClient<LedgerPaths>({ baseUrl: ledgerUrl });
  const { search, march, ofBoth, message } = requests;
  const missing = await ledger.GET("/v1/event/{eventId}", { params: { path: requests.unknownEvent } });
  show("missing", missing.error);
  show("found", (await ledger.GET("/v1/transaction/", { params: { query: search } })).data);
  const accounts = await ledger.GET("/v1/report/gateway-performance-report", { params: { query: march } });
  show("accounts", accounts.data);
  const params = { ...requests.agreement, header: requests.consistent };
  show("agreement", (await ledger.GET("/v1/agreement/{agreementExternalId}", { params })).data);
  show("agreements", (await ledger.GET("/v1/agreement", { params: { query: ofBoth } })).data);

  const added = await ledger.POST("/v1/event", { body: message });
  show("added", [added.response.status, added.data]);
  const stored = await ledger.GET("/v1/transaction/{transactionExternalId}", { params: requests.stored });
  show("stored", stored.data);
  show("again", (await ledger.POST("/v1/event", { body: [message] })).data);
}

async function callFeatures() {
  const storage = createClient<FeaturePaths>({ baseUrl: featuresUrl });
  const { customer: path, changes, context, replacement: body } = requests;
  const added = await storage.POST("/features/{resource}/{id}/{feature}", { params: requests.zebra });
  show("feature", [added.response.status, added.data]);
  const lateRequest = { params: requests.late, parseAs: "text" as const };
  const late = await storage.POST("/features/{resource}/{id}/{feature}", lateRequest);
  show("late", [late.response.status, late.error]);

  show("changed", (await storage.POST("/changes", { body: { changes } })).data);
  const listed = await storage.GET("/features/{resource}/{id}", { params: { path } });
  show("listed", listed.data);
  const header = { "If-Match": listed.response.headers.get("etag") ?? "" };
  const replaced = await storage.PUT("/features/{resource}/{id}", { params: { path, header }, body });
  show("replaced", replaced.data);
  const flag = { params: { path: { key: "bee" } }, body: { context } };
  show("flag", (await storage.POST("/ofrep/v1/evaluate/flags/{key}", flag)).data);
  const removed = await storage.DELETE("/features/{resource}/{id}/{feature}", { params: requests.bee });
  show("removed", removed.response.status);
  const { data: feed } = await storage.GET("/changes", { params: { query: requests.feed } });
  // JSON, not the text of NDJSON or of a stream.
  const records = typeof feed === "object" ? feed.changes.filter(({ id }) => id === path.id) : [];
  show("records", [records[0], records.at(-1)]);
}

void Promise.all([callLedger(), callFeatures()]);
