// Generated from openapi/ledger.yaml by npm run codegen. Do not edit.

export const eventTypes = {
  "payment": [
    {
      "event_type": "PAYMENT_CREATED",
      "state": "CREATED"
    },
    {
      "event_type": "PAYMENT_NOTIFICATION_CREATED"
    },
    {
      "event_type": "PAYMENT_STARTED",
      "state": "STARTED"
    },
    {
      "event_type": "PAYMENT_DETAILS_ENTERED"
    },
    {
      "event_type": "PAYMENT_DETAILS_SUBMITTED_BY_API"
    },
    {
      "event_type": "PAYMENT_DETAILS_TAKEN_FROM_PAYMENT_INSTRUMENT"
    },
    {
      "event_type": "USER_EMAIL_COLLECTED"
    },
    {
      "event_type": "BACKFILLER_RECREATED_USER_EMAIL_COLLECTED"
    },
    {
      "event_type": "QUEUED_FOR_AUTHORISATION_WITH_USER_NOT_PRESENT"
    },
    {
      "event_type": "GATEWAY_REQUIRES_3DS_AUTHORISATION",
      "state": "STARTED"
    },
    {
      "event_type": "GATEWAY_DOES_NOT_REQUIRE_3DS_AUTHORISATION"
    },
    {
      "event_type": "GATEWAY_3DS_INFO_OBTAINED"
    },
    {
      "event_type": "REQUESTED_3DS_EXEMPTION"
    },
    {
      "event_type": "GATEWAY_3DS_EXEMPTION_RESULT_OBTAINED"
    },
    {
      "event_type": "GATEWAY_3DS_EXEMPTION_RESULT_OBTAINED_EVENT"
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
      "event_type": "AUTHORISATION_ERROR_CHECKED_WITH_GATEWAY_CHARGE_WAS_MISSING"
    },
    {
      "event_type": "AUTHORISATION_ERROR_CHECKED_WITH_GATEWAY_CHARGE_WAS_REJECTED"
    },
    {
      "event_type": "CANCELLED_WITH_GATEWAY_AFTER_AUTHORISATION_ERROR"
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
      "event_type": "FEE_INCURRED"
    },
    {
      "event_type": "FEE_INCURRED_EVENT"
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
      "event_type": "STATUS_CORRECTED_TO_USER_CANCELLED_TO_MATCH_GATEWAY_STATUS"
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
      "event_type": "SYSTEM_CANCELLED"
    },
    {
      "event_type": "STATUS_CORRECTED_TO_SYSTEM_CANCELLED_TO_MATCH_GATEWAY_STATUS"
    },
    {
      "event_type": "BACKFILLER_GATEWAY_TRANSACTION_ID_SET"
    },
    {
      "event_type": "REFUND_AVAILABILITY_UPDATED"
    },
    {
      "event_type": "REFUND_FAILURE_FUNDS_SENT_TO_CONNECT_ACCOUNT"
    },
    {
      "event_type": "PAYMENT_DISPUTED"
    },
    {
      "event_type": "PAYMENT_INCLUDED_IN_PAYOUT"
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
    }
  ],
  "refund": [
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
      "event_type": "REFUND_INCLUDED_IN_PAYOUT"
    }
  ],
  "dispute": [
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
    },
    {
      "event_type": "DISPUTE_INCLUDED_IN_PAYOUT"
    }
  ],
  "payout": [
    {
      "event_type": "PAYOUT_CREATED",
      "state": "IN_TRANSIT"
    },
    {
      "event_type": "PAYOUT_UPDATED"
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
  "agreement": [
    {
      "event_type": "AGREEMENT_CREATED",
      "state": "CREATED"
    },
    {
      "event_type": "AGREEMENT_SET_UP",
      "state": "ACTIVE"
    },
    {
      "event_type": "AGREEMENT_CANCELLED_BY_SERVICE",
      "state": "CANCELLED"
    },
    {
      "event_type": "AGREEMENT_CANCELLED_BY_USER",
      "state": "CANCELLED"
    },
    {
      "event_type": "AGREEMENT_INACTIVATED",
      "state": "INACTIVE"
    }
  ],
  "payment_instrument": [
    {
      "event_type": "PAYMENT_INSTRUMENT_CREATED"
    },
    {
      "event_type": "PAYMENT_INSTRUMENT_CONFIRMED"
    }
  ]
} as const;
