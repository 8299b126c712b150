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
  }
];
