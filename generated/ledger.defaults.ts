// Generated from openapi/ledger.yaml by npm run codegen. Do not edit.

/** Default values of parameters, by operation. */
export const defaults = {
  "checkHealth": {},
  "getMetrics": {},
  "getEvent": {},
  "getTransaction": {
    "override_account_id_restriction": false,
    "status_version": 2
  },
  "getTransactionByGatewayTransactionId": {},
  "searchTransactions": {
    "override_account_id_restriction": false,
    "exact_reference_match": false,
    "status_version": 2,
    "limit_total": false,
    "limit_total_size": 10000,
    "page": 1,
    "display_size": 500,
    "fee_headers": false,
    "moto_header": false
  },
  "listTransactionEvents": {
    "include_all_events": false,
    "status_version": 2
  },
  "listChildTransactions": {}
} as const;
