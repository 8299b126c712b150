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
  "transaction_events": [
    {
      "event_type": "PAYMENT_CREATED",
      "state": "CREATED"
    },
    {
      "event_type": "PAYMENT_STARTED",
      "state": "STARTED"
    },
    {
      "event_type": "GATEWAY_REQUIRES_3DS_AUTHORISATION",
      "state": "STARTED"
    },
    {
      "event_type": "AUTHORISATION_SUCCEEDED",
      "state": "SUBMITTED"
    },
    {
      "event_type": "AUTHORISATION_REJECTED",
      "state": "FAILED_REJECTED"
    },
    {
      "event_type": "STATUS_CORRECTED_TO_AUTHORISATION_REJECTED_TO_MATCH_GATEWAY_STATUS",
      "state": "FAILED_REJECTED"
    },
    {
      "event_type": "AUTHORISATION_CANCELLED",
      "state": "FAILED_REJECTED"
    },
    {
      "event_type": "GATEWAY_ERROR_DURING_AUTHORISATION",
      "state": "ERROR_GATEWAY"
    },
    {
      "event_type": "GATEWAY_TIMEOUT_DURING_AUTHORISATION",
      "state": "ERROR_GATEWAY"
    },
    {
      "event_type": "UNEXPECTED_GATEWAY_ERROR_DURING_AUTHORISATION",
      "state": "ERROR_GATEWAY"
    },
    {
      "event_type": "STATUS_CORRECTED_TO_AUTHORISATION_ERROR_TO_MATCH_GATEWAY_STATUS",
      "state": "ERROR_GATEWAY"
    },
    {
      "event_type": "USER_APPROVED_FOR_CAPTURE_AWAITING_SERVICE_APPROVAL",
      "state": "CAPTURABLE"
    },
    {
      "event_type": "USER_APPROVED_FOR_CAPTURE",
      "state": "SUCCESS"
    },
    {
      "event_type": "SERVICE_APPROVED_FOR_CAPTURE",
      "state": "SUCCESS"
    },
    {
      "event_type": "QUEUED_FOR_CAPTURE",
      "state": "SUCCESS"
    },
    {
      "event_type": "CAPTURE_SUBMITTED",
      "state": "SUCCESS"
    },
    {
      "event_type": "CAPTURE_CONFIRMED",
      "state": "SUCCESS"
    },
    {
      "event_type": "CAPTURE_CONFIRMED_BY_GATEWAY_NOTIFICATION",
      "state": "SUCCESS"
    },
    {
      "event_type": "CAPTURE_ERRORED",
      "state": "ERROR_GATEWAY"
    },
    {
      "event_type": "CAPTURE_ABANDONED_AFTER_TOO_MANY_RETRIES",
      "state": "ERROR_GATEWAY"
    },
    {
      "event_type": "PAYMENT_EXPIRED",
      "state": "FAILED_EXPIRED"
    },
    {
      "event_type": "CANCEL_BY_EXPIRATION_SUBMITTED",
      "state": "FAILED_EXPIRED"
    },
    {
      "event_type": "CANCEL_BY_EXPIRATION_FAILED",
      "state": "FAILED_EXPIRED"
    },
    {
      "event_type": "CANCELLED_BY_EXPIRATION",
      "state": "FAILED_EXPIRED"
    },
    {
      "event_type": "CANCEL_BY_USER_SUBMITTED",
      "state": "FAILED_CANCELLED"
    },
    {
      "event_type": "CANCEL_BY_USER_FAILED",
      "state": "FAILED_CANCELLED"
    },
    {
      "event_type": "CANCELLED_BY_USER",
      "state": "FAILED_CANCELLED"
    },
    {
      "event_type": "CANCEL_BY_EXTERNAL_SERVICE_SUBMITTED",
      "state": "CANCELLED"
    },
    {
      "event_type": "CANCEL_BY_EXTERNAL_SERVICE_FAILED",
      "state": "CANCELLED"
    },
    {
      "event_type": "CANCELLED_BY_EXTERNAL_SERVICE",
      "state": "CANCELLED"
    },
    {
      "event_type": "STATUS_CORRECTED_TO_CAPTURED_TO_MATCH_GATEWAY_STATUS",
      "state": "SUCCESS"
    },
    {
      "event_type": "PAYMENT_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN",
      "state": "SUCCESS"
    },
    {
      "event_type": "PAYMENT_STATUS_CORRECTED_TO_ERROR_BY_ADMIN",
      "state": "ERROR"
    },
    {
      "event_type": "REFUND_CREATED_BY_SERVICE",
      "state": "SUBMITTED"
    },
    {
      "event_type": "REFUND_CREATED_BY_USER",
      "state": "SUBMITTED"
    },
    {
      "event_type": "REFUND_SUBMITTED",
      "state": "SUBMITTED"
    },
    {
      "event_type": "REFUND_SUCCEEDED",
      "state": "SUCCESS"
    },
    {
      "event_type": "REFUND_ERROR",
      "state": "ERROR"
    },
    {
      "event_type": "REFUND_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN",
      "state": "SUCCESS"
    },
    {
      "event_type": "REFUND_STATUS_CORRECTED_TO_ERROR_BY_ADMIN",
      "state": "ERROR"
    },
    {
      "event_type": "DISPUTE_CREATED",
      "state": "NEEDS_RESPONSE"
    },
    {
      "event_type": "DISPUTE_EVIDENCE_SUBMITTED",
      "state": "UNDER_REVIEW"
    },
    {
      "event_type": "DISPUTE_LOST",
      "state": "LOST"
    },
    {
      "event_type": "DISPUTE_WON",
      "state": "WON"
    }
  ],
  "payout_events": [
    {
      "event_type": "PAYOUT_CREATED",
      "state": "IN_TRANSIT"
    },
    {
      "event_type": "PAYOUT_PAID",
      "state": "PAID_OUT"
    },
    {
      "event_type": "PAYOUT_FAILED",
      "state": "FAILED"
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
