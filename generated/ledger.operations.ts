// Generated from openapi/ledger.yaml by npm run codegen. Do not edit.

import type { ClientOperation } from "../src/client/operation.ts";

export const operations: ClientOperation[] = [
  {
    "operationId": "checkHealth",
    "method": "GET",
    "path": "/healthcheck",
    "parameters": [],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "getMetrics",
    "method": "GET",
    "path": "/metrics",
    "parameters": [],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "text",
        "bigints": []
      }
    }
  },
  {
    "operationId": "addEvents",
    "method": "POST",
    "path": "/v1/event",
    "parameters": [],
    "hasBody": true,
    "isIdempotent": true,
    "successes": {
      "202": {
        "type": "json",
        "bigints": [
          [
            "events",
            "*",
            "event_id"
          ]
        ]
      }
    }
  },
  {
    "operationId": "listTickerEvents",
    "method": "GET",
    "path": "/v1/event/ticker",
    "parameters": [
      {
        "name": "from_date",
        "in": "query"
      },
      {
        "name": "to_date",
        "in": "query"
      },
      {
        "name": "event_types",
        "in": "query"
      },
      {
        "name": "cursor",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "getEvent",
    "method": "GET",
    "path": "/v1/event/{eventId}",
    "parameters": [
      {
        "name": "eventId",
        "in": "path"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "event_id"
          ]
        ]
      }
    }
  },
  {
    "operationId": "getTransaction",
    "method": "GET",
    "path": "/v1/transaction/{transactionExternalId}",
    "parameters": [
      {
        "name": "transactionExternalId",
        "in": "path"
      },
      {
        "name": "account_id",
        "in": "query"
      },
      {
        "name": "override_account_id_restriction",
        "in": "query"
      },
      {
        "name": "transaction_type",
        "in": "query"
      },
      {
        "name": "parent_external_id",
        "in": "query"
      },
      {
        "name": "status_version",
        "in": "query"
      },
      {
        "name": "as_of",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "getTransactionByGatewayTransactionId",
    "method": "GET",
    "path": "/v1/transaction/gateway-transaction",
    "parameters": [
      {
        "name": "gateway_transaction_id",
        "in": "query"
      },
      {
        "name": "payment_provider",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "searchTransactions",
    "method": "GET",
    "path": "/v1/transaction/",
    "parameters": [
      {
        "name": "account_id",
        "in": "query",
        "isJoined": true
      },
      {
        "name": "override_account_id_restriction",
        "in": "query"
      },
      {
        "name": "from_date",
        "in": "query"
      },
      {
        "name": "to_date",
        "in": "query"
      },
      {
        "name": "email",
        "in": "query"
      },
      {
        "name": "reference",
        "in": "query"
      },
      {
        "name": "exact_reference_match",
        "in": "query"
      },
      {
        "name": "cardholder_name",
        "in": "query"
      },
      {
        "name": "first_digits_card_number",
        "in": "query"
      },
      {
        "name": "last_digits_card_number",
        "in": "query"
      },
      {
        "name": "payment_states",
        "in": "query",
        "isJoined": true
      },
      {
        "name": "refund_states",
        "in": "query",
        "isJoined": true
      },
      {
        "name": "dispute_states",
        "in": "query",
        "isJoined": true
      },
      {
        "name": "card_brands",
        "in": "query",
        "isJoined": true
      },
      {
        "name": "state",
        "in": "query"
      },
      {
        "name": "transaction_type",
        "in": "query"
      },
      {
        "name": "gateway_payout_id",
        "in": "query"
      },
      {
        "name": "gateway_transaction_id",
        "in": "query"
      },
      {
        "name": "from_settled_date",
        "in": "query"
      },
      {
        "name": "to_settled_date",
        "in": "query"
      },
      {
        "name": "metadata_value",
        "in": "query"
      },
      {
        "name": "agreement_id",
        "in": "query"
      },
      {
        "name": "status_version",
        "in": "query"
      },
      {
        "name": "limit_total",
        "in": "query"
      },
      {
        "name": "limit_total_size",
        "in": "query"
      },
      {
        "name": "format",
        "in": "query"
      },
      {
        "name": "page",
        "in": "query"
      },
      {
        "name": "display_size",
        "in": "query"
      },
      {
        "name": "cursor",
        "in": "query"
      },
      {
        "name": "fee_headers",
        "in": "query"
      },
      {
        "name": "moto_header",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "listTransactionEvents",
    "method": "GET",
    "path": "/v1/transaction/{transactionExternalId}/event",
    "parameters": [
      {
        "name": "transactionExternalId",
        "in": "path"
      },
      {
        "name": "gateway_account_id",
        "in": "query"
      },
      {
        "name": "cursor",
        "in": "query"
      },
      {
        "name": "include_all_events",
        "in": "query"
      },
      {
        "name": "status_version",
        "in": "query"
      },
      {
        "name": "as_of",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "events",
            "*",
            "event_id"
          ]
        ]
      }
    }
  },
  {
    "operationId": "listChildTransactions",
    "method": "GET",
    "path": "/v1/transaction/{parentTransactionExternalId}/transaction",
    "parameters": [
      {
        "name": "parentTransactionExternalId",
        "in": "path"
      },
      {
        "name": "gateway_account_id",
        "in": "query"
      },
      {
        "name": "transaction_type",
        "in": "query"
      },
      {
        "name": "cursor",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "getTransactionReport",
    "method": "GET",
    "path": "/v1/report/transactions",
    "parameters": [
      {
        "name": "group_by",
        "in": "query",
        "isJoined": true
      },
      {
        "name": "time_zone",
        "in": "query"
      },
      {
        "name": "account_id",
        "in": "query",
        "isJoined": true
      },
      {
        "name": "override_account_id_restriction",
        "in": "query"
      },
      {
        "name": "from_date",
        "in": "query"
      },
      {
        "name": "to_date",
        "in": "query"
      },
      {
        "name": "transaction_type",
        "in": "query"
      },
      {
        "name": "state",
        "in": "query"
      },
      {
        "name": "payment_states",
        "in": "query",
        "isJoined": true
      },
      {
        "name": "refund_states",
        "in": "query",
        "isJoined": true
      },
      {
        "name": "dispute_states",
        "in": "query",
        "isJoined": true
      },
      {
        "name": "status_version",
        "in": "query"
      },
      {
        "name": "display_size",
        "in": "query"
      },
      {
        "name": "cursor",
        "in": "query"
      },
      {
        "name": "format",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "groups",
            "*",
            "amount"
          ],
          [
            "groups",
            "*",
            "total_amount"
          ],
          [
            "groups",
            "*",
            "net_amount"
          ],
          [
            "groups",
            "*",
            "fee"
          ],
          [
            "groups",
            "*",
            "refunded_amount"
          ],
          [
            "groups",
            "*",
            "gross_amount"
          ]
        ]
      }
    }
  },
  {
    "operationId": "getTransactionsSummary",
    "method": "GET",
    "path": "/v1/report/transactions-summary",
    "parameters": [
      {
        "name": "account_id",
        "in": "query"
      },
      {
        "name": "override_account_id_restriction",
        "in": "query"
      },
      {
        "name": "from_date",
        "in": "query"
      },
      {
        "name": "to_date",
        "in": "query"
      },
      {
        "name": "override_from_date_validation",
        "in": "query"
      },
      {
        "name": "include_moto_statistics",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "payments",
            "gross_amount"
          ],
          [
            "moto_payments",
            "gross_amount"
          ],
          [
            "refunds",
            "gross_amount"
          ],
          [
            "net_income"
          ]
        ]
      }
    }
  },
  {
    "operationId": "getPaymentsByState",
    "method": "GET",
    "path": "/v1/report/payments_by_state",
    "parameters": [
      {
        "name": "account_id",
        "in": "query"
      },
      {
        "name": "override_account_id_restriction",
        "in": "query"
      },
      {
        "name": "from_date",
        "in": "query"
      },
      {
        "name": "to_date",
        "in": "query"
      },
      {
        "name": "include_moto_statistics",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "listTransactionsByHour",
    "method": "GET",
    "path": "/v1/report/transactions-by-hour",
    "parameters": [
      {
        "name": "from_date",
        "in": "query"
      },
      {
        "name": "to_date",
        "in": "query"
      },
      {
        "name": "cursor",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "*",
            "amount"
          ],
          [
            "*",
            "net_amount"
          ],
          [
            "*",
            "total_amount"
          ],
          [
            "*",
            "fee"
          ]
        ]
      }
    }
  },
  {
    "operationId": "getPerformanceReport",
    "method": "GET",
    "path": "/v1/report/performance-report",
    "parameters": [
      {
        "name": "from_date",
        "in": "query"
      },
      {
        "name": "to_date",
        "in": "query"
      },
      {
        "name": "state",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "total_amount"
          ]
        ]
      }
    }
  },
  {
    "operationId": "getLegacyPerformanceReport",
    "method": "GET",
    "path": "/v1/report/performance-report-legacy",
    "parameters": [
      {
        "name": "from_date",
        "in": "query"
      },
      {
        "name": "to_date",
        "in": "query"
      },
      {
        "name": "state",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "total_amount"
          ]
        ]
      }
    }
  },
  {
    "operationId": "listGatewayPerformance",
    "method": "GET",
    "path": "/v1/report/gateway-performance-report",
    "parameters": [
      {
        "name": "from_date",
        "in": "query"
      },
      {
        "name": "to_date",
        "in": "query"
      },
      {
        "name": "cursor",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "*",
            "total_amount"
          ]
        ]
      }
    }
  },
  {
    "operationId": "searchPayouts",
    "method": "GET",
    "path": "/v1/payout",
    "parameters": [
      {
        "name": "gateway_account_id",
        "in": "query",
        "isJoined": true
      },
      {
        "name": "override_account_id_restriction",
        "in": "query"
      },
      {
        "name": "state",
        "in": "query"
      },
      {
        "name": "page",
        "in": "query"
      },
      {
        "name": "display_size",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "getPayout",
    "method": "GET",
    "path": "/v1/payout/{gatewayPayoutId}",
    "parameters": [
      {
        "name": "gatewayPayoutId",
        "in": "path"
      },
      {
        "name": "gateway_account_id",
        "in": "query"
      },
      {
        "name": "override_account_id_restriction",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "settled",
            "*",
            "amount"
          ],
          [
            "settled",
            "*",
            "fee"
          ],
          [
            "settled",
            "*",
            "settled_amount"
          ],
          [
            "settled_amount"
          ],
          [
            "difference"
          ]
        ]
      }
    }
  },
  {
    "operationId": "searchAgreements",
    "method": "GET",
    "path": "/v1/agreement",
    "parameters": [
      {
        "name": "service_id",
        "in": "query"
      },
      {
        "name": "account_id",
        "in": "query"
      },
      {
        "name": "override_account_or_service_id_restriction",
        "in": "query"
      },
      {
        "name": "status",
        "in": "query"
      },
      {
        "name": "reference",
        "in": "query"
      },
      {
        "name": "exact_reference_match",
        "in": "query"
      },
      {
        "name": "live",
        "in": "query"
      },
      {
        "name": "page",
        "in": "query"
      },
      {
        "name": "display_size",
        "in": "query"
      },
      {
        "name": "cursor",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "getAgreement",
    "method": "GET",
    "path": "/v1/agreement/{agreementExternalId}",
    "parameters": [
      {
        "name": "agreementExternalId",
        "in": "path"
      },
      {
        "name": "service_id",
        "in": "query"
      },
      {
        "name": "account_id",
        "in": "query"
      },
      {
        "name": "override_account_or_service_id_restriction",
        "in": "query"
      },
      {
        "name": "as_of",
        "in": "query"
      },
      {
        "name": "X-Consistent",
        "in": "header"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "listAgreementEvents",
    "method": "GET",
    "path": "/v1/agreement/{agreementExternalId}/event",
    "parameters": [
      {
        "name": "agreementExternalId",
        "in": "path"
      },
      {
        "name": "service_id",
        "in": "query"
      },
      {
        "name": "account_id",
        "in": "query"
      },
      {
        "name": "as_of",
        "in": "query"
      },
      {
        "name": "cursor",
        "in": "query"
      }
    ],
    "hasBody": false,
    "isIdempotent": true,
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "events",
            "*",
            "event_id"
          ]
        ]
      }
    }
  }
];
