// Generated from openapi/ledger.yaml by npm run codegen. Do not edit.

/** Default values of parameters, by operation. */
export const defaults = {
  "checkHealth": {},
  "getMetrics": {},
  "listEvents": {
    "limit": 100
  },
  "addEvents": {},
  "listTickerEvents": {},
  "getEvent": {},
  "listAccessRecords": {
    "limit": 100
  },
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
    "moto_header": false,
    "currency_header": false,
    "separator": "comma",
    "byte_order_mark": false,
    "position_line": false
  },
  "queryTransactions": {},
  "listTransactionEvents": {
    "include_all_events": false,
    "status_version": 2
  },
  "listChildTransactions": {},
  "getTransactionReport": {
    "time_zone": "UTC",
    "override_account_id_restriction": false,
    "status_version": 2,
    "display_size": 500,
    "currency_header": false,
    "separator": "comma",
    "byte_order_mark": false,
    "position_line": false
  },
  "listTransactionReportChanges": {
    "time_zone": "UTC",
    "override_account_id_restriction": false,
    "status_version": 2,
    "display_size": 100
  },
  "getTransactionsSummary": {
    "override_account_id_restriction": false,
    "override_from_date_validation": false,
    "include_moto_statistics": false
  },
  "getPaymentsByState": {
    "override_account_id_restriction": false,
    "include_moto_statistics": false
  },
  "listTransactionsByHour": {},
  "getPerformanceReport": {},
  "getLegacyPerformanceReport": {},
  "listGatewayPerformance": {},
  "searchPayouts": {
    "override_account_id_restriction": false,
    "page": 1,
    "display_size": 20,
    "extended": false
  },
  "getPayout": {
    "override_account_id_restriction": false
  },
  "searchAgreements": {
    "override_account_or_service_id_restriction": false,
    "exact_reference_match": false,
    "page": 1,
    "display_size": 20
  },
  "getAgreement": {
    "override_account_or_service_id_restriction": false
  },
  "listAgreementEvents": {},
  "getIntake": {},
  "listDeadLetters": {
    "state": "open",
    "display_size": 100
  },
  "getDeadLetter": {}
} as const;
