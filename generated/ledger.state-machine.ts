// Generated from openapi/ledger.yaml by npm run codegen. Do not edit.

export const stateMachine = {
  "transaction_states": [
    {
      "state": "UNDEFINED",
      "status": "undefined",
      "finished": false
    },
    {
      "state": "CREATED",
      "status": "created",
      "finished": false
    },
    {
      "state": "STARTED",
      "status": "started",
      "finished": false
    },
    {
      "state": "SUBMITTED",
      "status": "submitted",
      "finished": false
    },
    {
      "state": "CAPTURABLE",
      "status": "capturable",
      "finished": false
    },
    {
      "state": "SUCCESS",
      "status": "success",
      "finished": true
    },
    {
      "state": "FAILED_REJECTED",
      "status": "declined",
      "finished": true,
      "status_version_1": "failed",
      "code": "P0010",
      "message": "Payment method rejected"
    },
    {
      "state": "FAILED_EXPIRED",
      "status": "timedout",
      "finished": true,
      "status_version_1": "failed",
      "code": "P0020",
      "message": "Payment expired"
    },
    {
      "state": "FAILED_CANCELLED",
      "status": "cancelled",
      "finished": true,
      "status_version_1": "failed",
      "code": "P0030",
      "message": "Payment was cancelled by the user"
    },
    {
      "state": "CANCELLED",
      "status": "cancelled",
      "finished": true,
      "code": "P0040",
      "message": "Payment was cancelled by the service"
    },
    {
      "state": "ERROR",
      "status": "error",
      "finished": true,
      "code": "P0050",
      "message": "Payment provider returned an error"
    },
    {
      "state": "ERROR_GATEWAY",
      "status": "error",
      "finished": true,
      "code": "P0050",
      "message": "Payment provider returned an error"
    },
    {
      "state": "NEEDS_RESPONSE",
      "status": "needs_response",
      "finished": false
    },
    {
      "state": "UNDER_REVIEW",
      "status": "under_review",
      "finished": false
    },
    {
      "state": "LOST",
      "status": "lost",
      "finished": true
    },
    {
      "state": "WON",
      "status": "won",
      "finished": true
    }
  ],
  "payout_states": [
    {
      "state": "UNDEFINED",
      "status": "undefined",
      "finished": false
    },
    {
      "state": "IN_TRANSIT",
      "status": "intransit",
      "finished": false
    },
    {
      "state": "PAID_OUT",
      "status": "paidout",
      "finished": true
    },
    {
      "state": "FAILED",
      "status": "failed",
      "finished": true
    }
  ],
  "csv_states": [
    {
      "state": "CREATED",
      "payment": "In progress",
      "refund": "Refund submitted"
    },
    {
      "state": "STARTED",
      "payment": "In progress"
    },
    {
      "state": "SUBMITTED",
      "payment": "In progress",
      "refund": "Refund submitted"
    },
    {
      "state": "CAPTURABLE",
      "payment": "In progress"
    },
    {
      "state": "SUCCESS",
      "payment": "Success",
      "refund": "Refund success"
    },
    {
      "state": "FAILED_REJECTED",
      "payment": "Declined"
    },
    {
      "state": "FAILED_EXPIRED",
      "payment": "Timed out"
    },
    {
      "state": "FAILED_CANCELLED",
      "payment": "Cancelled"
    },
    {
      "state": "CANCELLED",
      "payment": "Cancelled"
    },
    {
      "state": "ERROR",
      "payment": "Error",
      "refund": "Refund error"
    },
    {
      "state": "ERROR_GATEWAY",
      "payment": "Error",
      "refund": "Refund error"
    },
    {
      "state": "NEEDS_RESPONSE",
      "dispute": "Dispute awaiting evidence"
    },
    {
      "state": "UNDER_REVIEW",
      "dispute": "Dispute under review"
    },
    {
      "state": "LOST",
      "dispute": "Dispute lost to customer"
    },
    {
      "state": "WON",
      "dispute": "Dispute won in your favour"
    }
  ]
} as const;
