// Generated from openapi/ledger.yaml by npm run codegen. Do not edit.

import type { ClientOperation } from "../src/client/operation.ts";

export const operations: ClientOperation[] = [
  {
    "operationId": "checkHealth",
    "method": "GET",
    "path": "/healthcheck",
    "parameters": [],
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "publishing",
            "*",
            "behind_ms"
          ],
          [
            "publishing",
            "*",
            "waiting",
            "*",
            "event_id"
          ],
          [
            "transparency_log",
            "size"
          ],
          [
            "transparency_log",
            "checkpoint_size"
          ],
          [
            "transparency_log",
            "behind_ms"
          ]
        ]
      }
    }
  },
  {
    "operationId": "getMetrics",
    "method": "GET",
    "path": "/metrics",
    "parameters": [],
    "successes": {
      "200": {
        "type": "text",
        "bigints": []
      }
    }
  },
  {
    "operationId": "listEvents",
    "method": "GET",
    "path": "/v1/event",
    "parameters": [
      {
        "name": "account_id",
        "isJoined": true
      },
      {
        "name": "resource_types"
      },
      {
        "name": "event_types"
      },
      {
        "name": "cursor"
      },
      {
        "name": "limit"
      },
      {
        "name": "Last-Event-ID",
        "in": "header"
      },
      {
        "name": "at_least"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
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
    "operationId": "addEvents",
    "method": "POST",
    "path": "/v1/event",
    "parameters": [
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
    "hasBody": true,
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
        "name": "from_date"
      },
      {
        "name": "to_date"
      },
      {
        "name": "event_types"
      },
      {
        "name": "cursor"
      },
      {
        "name": "at_least"
      }
    ],
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
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "at_least"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
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
    "operationId": "listAccessRecords",
    "method": "GET",
    "path": "/v1/audit",
    "parameters": [
      {
        "name": "resource_id"
      },
      {
        "name": "subject"
      },
      {
        "name": "from_date"
      },
      {
        "name": "to_date"
      },
      {
        "name": "cursor"
      },
      {
        "name": "limit"
      },
      {
        "name": "Last-Event-ID",
        "in": "header"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
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
        "name": "account_id"
      },
      {
        "name": "override_account_id_restriction"
      },
      {
        "name": "transaction_type"
      },
      {
        "name": "parent_external_id"
      },
      {
        "name": "status_version"
      },
      {
        "name": "as_of"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "known_at"
      },
      {
        "name": "at_least"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
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
        "name": "gateway_transaction_id"
      },
      {
        "name": "payment_provider"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "at_least"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
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
        "isJoined": true
      },
      {
        "name": "override_account_id_restriction"
      },
      {
        "name": "from_date"
      },
      {
        "name": "to_date"
      },
      {
        "name": "email"
      },
      {
        "name": "reference"
      },
      {
        "name": "exact_reference_match"
      },
      {
        "name": "cardholder_name"
      },
      {
        "name": "first_digits_card_number"
      },
      {
        "name": "last_digits_card_number"
      },
      {
        "name": "payment_states",
        "isJoined": true
      },
      {
        "name": "refund_states",
        "isJoined": true
      },
      {
        "name": "dispute_states",
        "isJoined": true
      },
      {
        "name": "card_brands",
        "isJoined": true
      },
      {
        "name": "state"
      },
      {
        "name": "transaction_type"
      },
      {
        "name": "gateway_payout_id"
      },
      {
        "name": "gateway_transaction_id"
      },
      {
        "name": "from_settled_date"
      },
      {
        "name": "to_settled_date"
      },
      {
        "name": "metadata_value"
      },
      {
        "name": "agreement_id"
      },
      {
        "name": "status_version"
      },
      {
        "name": "limit_total"
      },
      {
        "name": "limit_total_size"
      },
      {
        "name": "format"
      },
      {
        "name": "page"
      },
      {
        "name": "display_size"
      },
      {
        "name": "cursor"
      },
      {
        "name": "fee_headers"
      },
      {
        "name": "moto_header"
      },
      {
        "name": "currency_header"
      },
      {
        "name": "card_brand",
        "isJoined": true
      },
      {
        "name": "extended"
      },
      {
        "name": "live"
      },
      {
        "name": "columns",
        "isJoined": true
      },
      {
        "name": "separator"
      },
      {
        "name": "byte_order_mark"
      },
      {
        "name": "position_line"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "known_at"
      },
      {
        "name": "at_least"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": []
      }
    }
  },
  {
    "operationId": "queryTransactions",
    "method": "QUERY",
    "path": "/v1/transaction/",
    "parameters": [
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
    "hasBody": true,
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
        "name": "gateway_account_id"
      },
      {
        "name": "cursor"
      },
      {
        "name": "include_all_events"
      },
      {
        "name": "status_version"
      },
      {
        "name": "as_of"
      },
      {
        "name": "extended"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "known_at"
      },
      {
        "name": "at_least"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
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
        "name": "gateway_account_id"
      },
      {
        "name": "transaction_type"
      },
      {
        "name": "cursor"
      },
      {
        "name": "extended"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "known_at"
      },
      {
        "name": "at_least"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
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
        "isJoined": true
      },
      {
        "name": "time_zone"
      },
      {
        "name": "account_id",
        "isJoined": true
      },
      {
        "name": "override_account_id_restriction"
      },
      {
        "name": "from_date"
      },
      {
        "name": "to_date"
      },
      {
        "name": "transaction_type"
      },
      {
        "name": "state"
      },
      {
        "name": "payment_states",
        "isJoined": true
      },
      {
        "name": "refund_states",
        "isJoined": true
      },
      {
        "name": "dispute_states",
        "isJoined": true
      },
      {
        "name": "status_version"
      },
      {
        "name": "display_size"
      },
      {
        "name": "cursor"
      },
      {
        "name": "format"
      },
      {
        "name": "currency_header"
      },
      {
        "name": "live"
      },
      {
        "name": "separator"
      },
      {
        "name": "byte_order_mark"
      },
      {
        "name": "position_line"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "known_at"
      },
      {
        "name": "at_least"
      }
    ],
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
    "operationId": "listTransactionReportChanges",
    "method": "GET",
    "path": "/v1/report/transactions/changes",
    "parameters": [
      {
        "name": "since"
      },
      {
        "name": "until"
      },
      {
        "name": "group_by",
        "isJoined": true
      },
      {
        "name": "time_zone"
      },
      {
        "name": "account_id",
        "isJoined": true
      },
      {
        "name": "override_account_id_restriction"
      },
      {
        "name": "from_date"
      },
      {
        "name": "to_date"
      },
      {
        "name": "transaction_type"
      },
      {
        "name": "state"
      },
      {
        "name": "payment_states",
        "isJoined": true
      },
      {
        "name": "refund_states",
        "isJoined": true
      },
      {
        "name": "dispute_states",
        "isJoined": true
      },
      {
        "name": "status_version"
      },
      {
        "name": "live"
      },
      {
        "name": "display_size"
      },
      {
        "name": "cursor"
      },
      {
        "name": "at_least"
      }
    ],
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
          ],
          [
            "changes",
            "*",
            "event",
            "event_id"
          ],
          [
            "changes",
            "*",
            "groups",
            "*",
            "amount"
          ],
          [
            "changes",
            "*",
            "groups",
            "*",
            "total_amount"
          ],
          [
            "changes",
            "*",
            "groups",
            "*",
            "net_amount"
          ],
          [
            "changes",
            "*",
            "groups",
            "*",
            "fee"
          ],
          [
            "changes",
            "*",
            "groups",
            "*",
            "refunded_amount"
          ],
          [
            "changes",
            "*",
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
        "name": "account_id"
      },
      {
        "name": "override_account_id_restriction"
      },
      {
        "name": "from_date"
      },
      {
        "name": "to_date"
      },
      {
        "name": "override_from_date_validation"
      },
      {
        "name": "include_moto_statistics"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "known_at"
      },
      {
        "name": "at_least"
      }
    ],
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
        "name": "account_id"
      },
      {
        "name": "override_account_id_restriction"
      },
      {
        "name": "from_date"
      },
      {
        "name": "to_date"
      },
      {
        "name": "include_moto_statistics"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "known_at"
      },
      {
        "name": "at_least"
      }
    ],
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
        "name": "from_date"
      },
      {
        "name": "to_date"
      },
      {
        "name": "cursor"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "known_at"
      },
      {
        "name": "at_least"
      }
    ],
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
        "name": "from_date"
      },
      {
        "name": "to_date"
      },
      {
        "name": "state"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "known_at"
      },
      {
        "name": "at_least"
      }
    ],
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
        "name": "from_date"
      },
      {
        "name": "to_date"
      },
      {
        "name": "state"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "known_at"
      },
      {
        "name": "at_least"
      }
    ],
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
        "name": "from_date"
      },
      {
        "name": "to_date"
      },
      {
        "name": "cursor"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "known_at"
      },
      {
        "name": "at_least"
      }
    ],
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
        "isJoined": true
      },
      {
        "name": "override_account_id_restriction"
      },
      {
        "name": "state"
      },
      {
        "name": "page"
      },
      {
        "name": "display_size"
      },
      {
        "name": "from_date"
      },
      {
        "name": "to_date"
      },
      {
        "name": "live"
      },
      {
        "name": "extended"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "known_at"
      },
      {
        "name": "at_least"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "results",
            "*",
            "settled",
            "*",
            "amount"
          ],
          [
            "results",
            "*",
            "settled",
            "*",
            "fee"
          ],
          [
            "results",
            "*",
            "settled",
            "*",
            "settled_amount"
          ],
          [
            "results",
            "*",
            "settled_amount"
          ],
          [
            "results",
            "*",
            "difference"
          ]
        ]
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
        "name": "gateway_account_id"
      },
      {
        "name": "override_account_id_restriction"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "known_at"
      },
      {
        "name": "at_least"
      }
    ],
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
        "name": "service_id"
      },
      {
        "name": "account_id"
      },
      {
        "name": "override_account_or_service_id_restriction"
      },
      {
        "name": "status"
      },
      {
        "name": "reference"
      },
      {
        "name": "exact_reference_match"
      },
      {
        "name": "live"
      },
      {
        "name": "page"
      },
      {
        "name": "display_size"
      },
      {
        "name": "cursor"
      },
      {
        "name": "limit_total"
      },
      {
        "name": "limit_total_size"
      },
      {
        "name": "extended"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "at_least"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
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
        "name": "service_id"
      },
      {
        "name": "account_id"
      },
      {
        "name": "override_account_or_service_id_restriction"
      },
      {
        "name": "as_of"
      },
      {
        "name": "X-Consistent",
        "in": "header"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "at_least"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
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
        "name": "service_id"
      },
      {
        "name": "account_id"
      },
      {
        "name": "as_of"
      },
      {
        "name": "cursor"
      },
      {
        "name": "include_all_events"
      },
      {
        "name": "extended"
      },
      {
        "name": "If-None-Match",
        "in": "header"
      },
      {
        "name": "at_least"
      },
      {
        "name": "Access-Reason",
        "in": "header"
      }
    ],
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
    "operationId": "getIntake",
    "method": "GET",
    "path": "/v1/intake",
    "parameters": [],
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "publishing",
            "*",
            "behind_ms"
          ],
          [
            "publishing",
            "*",
            "waiting",
            "*",
            "event_id"
          ]
        ]
      }
    }
  },
  {
    "operationId": "listDeadLetters",
    "method": "GET",
    "path": "/v1/dead-letter",
    "parameters": [
      {
        "name": "state"
      },
      {
        "name": "display_size"
      },
      {
        "name": "cursor"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "dead_letters",
            "*",
            "dead_letter_id"
          ]
        ]
      }
    }
  },
  {
    "operationId": "getDeadLetter",
    "method": "GET",
    "path": "/v1/dead-letter/{deadLetterId}",
    "parameters": [
      {
        "name": "deadLetterId",
        "in": "path"
      }
    ],
    "successes": {
      "200": {
        "type": "json",
        "bigints": [
          [
            "dead_letter_id"
          ]
        ]
      }
    }
  }
];
