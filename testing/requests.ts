import type { operations as FeatureOperations } from "../generated/features.ts";
import type { operations as LedgerOperations } from "../generated/ledger.ts";

export interface Request {
  method: "GET" | "POST" | "PUT" | "DELETE" | "QUERY";
  path: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
}

/** A request that succeeds. */
export interface Sample extends Request {
  status: number;
  /** A token needs one of these. Empty if the operation needs no token. */
  scopes: string[];
}

const readAll = ["ledger:read:all"];
const read = ["ledger:read", ...readAll];
const operate = ["ledger:operate"];

const get = (path: string, scopes: string[]): Sample => ({ method: "GET", path, scopes, status: 200 });
export const march = "from_date=2024-03-01T00:00:00Z&to_date=2024-04-01T00:00:00Z";

/** An event of a payment that no other request names. */
export const addedEvent = {
  event_type: "PAYMENT_CREATED",
  resource_type: "payment",
  resource_external_id: "added",
  timestamp: "2024-03-05T09:14:22Z",
};

/**
 * A request for each operation of a ledger that has stored a dead letter and, of account 57, the payment `full`, the payout
 * `po_44` and the agreement `agr-1`.
 */
export const ledgerSamples: Record<keyof LedgerOperations, Sample> = {
  checkHealth: get("/healthcheck", []),
  getMetrics: get("/metrics", []),
  listEvents: get("/v1/event?account_id=57", read),
  addEvents: { method: "POST", path: "/v1/event", body: addedEvent, scopes: ["ledger:write"], status: 202 },
  listTickerEvents: get(`/v1/event/ticker?${march}`, readAll),
  getEvent: get("/v1/event/1", readAll),
  listAccessRecords: get("/v1/audit", ["ledger:audit"]),
  getTransaction: get("/v1/transaction/full?account_id=57", read),
  getTransactionByGatewayTransactionId: get(
    "/v1/transaction/gateway-transaction?gateway_transaction_id=gtx-1&payment_provider=sandbox",
    readAll,
  ),
  searchTransactions: get("/v1/transaction/?account_id=57", read),
  queryTransactions: {
    ...{ method: "QUERY", path: "/v1/transaction/", body: { account_id: ["57"] } },
    ...{ scopes: read, status: 200 },
  },
  listTransactionEvents: get("/v1/transaction/full/event?gateway_account_id=57", read),
  listChildTransactions: get("/v1/transaction/full/transaction?gateway_account_id=57", read),
  getTransactionReport: get("/v1/report/transactions?account_id=57", read),
  listTransactionReportChanges: get("/v1/report/transactions/changes?account_id=57", read),
  getTransactionsSummary: get(`/v1/report/transactions-summary?account_id=57&${march}`, read),
  getPaymentsByState: get("/v1/report/payments_by_state?account_id=57", read),
  listTransactionsByHour: get(`/v1/report/transactions-by-hour?${march}`, readAll),
  getPerformanceReport: get("/v1/report/performance-report", readAll),
  getLegacyPerformanceReport: get("/v1/report/performance-report-legacy", readAll),
  listGatewayPerformance: get(
    "/v1/report/gateway-performance-report?from_date=2024-03-01&to_date=2024-03-31",
    readAll,
  ),
  searchPayouts: get("/v1/payout?gateway_account_id=57", read),
  getPayout: get("/v1/payout/po_44?gateway_account_id=57", read),
  searchAgreements: get("/v1/agreement?account_id=57", read),
  getAgreement: get("/v1/agreement/agr-1?account_id=57", read),
  listAgreementEvents: get("/v1/agreement/agr-1/event?account_id=57", read),
  getIntake: get("/v1/intake", operate),
  listDeadLetters: get("/v1/dead-letter", operate),
  getDeadLetter: get("/v1/dead-letter/1", operate),
};

const readFeatures = ["features:read"];
const customer = { resource: "customer", id: "42" };
const context = { targetingKey: "customer/42" };
const write = (method: Request["method"], path: string, status: number, body?: unknown): Sample => ({
  ...{ method, path, status, scopes: ["features:write"] },
  ...(body !== undefined && { body }),
});
const query = (method: "POST" | "QUERY", path: string, body: unknown): Sample => ({
  ...{ method, path, body, scopes: readFeatures, status: 200 },
});
const queried = { resources: [customer], features: ["dark-mode"] };

/** A request for each operation of a feature storage. In this order they succeed in an empty one. */
export const featureSamples: Record<keyof FeatureOperations, Sample> = {
  checkHealth: get("/healthcheck", []),
  getMetrics: get("/metrics", []),
  addFeature: write("POST", "/features/customer/42/dark-mode", 201),
  changeFeatures: write("POST", "/changes", 200, {
    changes: [{ type: "add", ...customer, feature: "invoices" }],
  }),
  listFeatures: get("/features/customer/42", readFeatures),
  hasFeature: get("/features/customer/42/dark-mode", readFeatures),
  listKinds: get("/resources", readFeatures),
  listFeaturesInUse: get("/resources/customer", readFeatures),
  getResource: get("/resources/customer/42", readFeatures),
  listResourceChanges: get("/resources/customer/42/changes", readFeatures),
  listResources: get("/features/customer?feature=dark-mode", readFeatures),
  hasFeatures: query("POST", "/query", queried),
  queryFeatures: query("QUERY", "/query", queried),
  listEntries: get("/features?resource=customer", readFeatures),
  listChanges: get("/changes", readFeatures),
  evaluateFlag: query("POST", "/ofrep/v1/evaluate/flags/dark-mode", { context }),
  queryFlag: query("QUERY", "/ofrep/v1/evaluate/flags/dark-mode", { context }),
  evaluateFlags: query("POST", "/ofrep/v1/evaluate/flags", { context }),
  queryFlags: query("QUERY", "/ofrep/v1/evaluate/flags", { context }),
  followFlags: get("/ofrep/v1/events?resource=customer&id=42", readFeatures),
  replaceFeatures: {
    ...write("PUT", "/features/customer/44", 200, ["dark-mode"]),
    headers: { "if-match": "*" },
  },
  removeFeature: write("DELETE", "/features/customer/44/dark-mode", 204),
  removeFeatures: write("DELETE", "/features/customer/44", 204),
};
