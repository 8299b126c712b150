// Generated from openapi/ledger.yaml by npm run codegen. Do not edit.

export const eventTypes = {
  "payment": [
    {
      "event_type": "PAYMENT_CREATED",
      "description": "The service created the payment.",
      "state": "CREATED"
    },
    {
      "event_type": "PAYMENT_NOTIFICATION_CREATED",
      "description": "The payment provider reported a payment by telephone."
    },
    {
      "event_type": "PAYMENT_STARTED",
      "description": "The payer opened the payment page.",
      "state": "STARTED"
    },
    {
      "event_type": "PAYMENT_DETAILS_ENTERED",
      "description": "The payer entered the card details."
    },
    {
      "event_type": "PAYMENT_DETAILS_SUBMITTED_BY_API",
      "description": "The service sent the card details."
    },
    {
      "event_type": "PAYMENT_DETAILS_TAKEN_FROM_PAYMENT_INSTRUMENT",
      "description": "The card details were taken from the agreement."
    },
    {
      "event_type": "USER_EMAIL_COLLECTED",
      "description": "The payer entered an email address."
    },
    {
      "event_type": "BACKFILLER_RECREATED_USER_EMAIL_COLLECTED",
      "description": "The email address was added from older records."
    },
    {
      "event_type": "QUEUED_FOR_AUTHORISATION_WITH_USER_NOT_PRESENT",
      "description": "The payment waits for authorisation without the payer."
    },
    {
      "event_type": "GATEWAY_REQUIRES_3DS_AUTHORISATION",
      "description": "The payment provider required 3-D Secure.",
      "state": "STARTED"
    },
    {
      "event_type": "GATEWAY_DOES_NOT_REQUIRE_3DS_AUTHORISATION",
      "description": "The payment provider did not require 3-D Secure."
    },
    {
      "event_type": "GATEWAY_3DS_INFO_OBTAINED",
      "description": "The payment provider sent the version of 3-D Secure."
    },
    {
      "event_type": "REQUESTED_3DS_EXEMPTION",
      "description": "An exemption from 3-D Secure was requested."
    },
    {
      "event_type": "GATEWAY_3DS_EXEMPTION_RESULT_OBTAINED",
      "description": "The payment provider decided about the exemption from 3-D Secure."
    },
    {
      "event_type": "GATEWAY_3DS_EXEMPTION_RESULT_OBTAINED_EVENT",
      "description": "The payment provider decided about the exemption from 3-D Secure."
    },
    {
      "event_type": "AUTHORISATION_SUCCEEDED",
      "description": "The payment provider authorised the payment.",
      "state": "SUBMITTED"
    },
    {
      "event_type": "AUTHORISATION_REJECTED",
      "description": "The payment provider rejected the payment.",
      "state": "FAILED_REJECTED"
    },
    {
      "event_type": "STATUS_CORRECTED_TO_AUTHORISATION_REJECTED_TO_MATCH_GATEWAY_STATUS",
      "description": "The state was corrected to rejected, as at the payment provider.",
      "state": "FAILED_REJECTED"
    },
    {
      "event_type": "AUTHORISATION_CANCELLED",
      "description": "The payment provider cancelled the authorisation.",
      "state": "FAILED_REJECTED"
    },
    {
      "event_type": "GATEWAY_ERROR_DURING_AUTHORISATION",
      "description": "The payment provider returned an error during authorisation.",
      "state": "ERROR_GATEWAY"
    },
    {
      "event_type": "GATEWAY_TIMEOUT_DURING_AUTHORISATION",
      "description": "The payment provider did not respond during authorisation.",
      "state": "ERROR_GATEWAY"
    },
    {
      "event_type": "UNEXPECTED_GATEWAY_ERROR_DURING_AUTHORISATION",
      "description": "The payment provider returned an unexpected error during authorisation.",
      "state": "ERROR_GATEWAY"
    },
    {
      "event_type": "STATUS_CORRECTED_TO_AUTHORISATION_ERROR_TO_MATCH_GATEWAY_STATUS",
      "description": "The state was corrected to an authorisation error, as at the payment provider.",
      "state": "ERROR_GATEWAY"
    },
    {
      "event_type": "AUTHORISATION_ERROR_CHECKED_WITH_GATEWAY_CHARGE_WAS_MISSING",
      "description": "The payment provider does not know the payment after an authorisation error."
    },
    {
      "event_type": "AUTHORISATION_ERROR_CHECKED_WITH_GATEWAY_CHARGE_WAS_REJECTED",
      "description": "The payment provider had rejected the payment after an authorisation error."
    },
    {
      "event_type": "CANCELLED_WITH_GATEWAY_AFTER_AUTHORISATION_ERROR",
      "description": "The payment was cancelled at the payment provider after an authorisation error."
    },
    {
      "event_type": "USER_APPROVED_FOR_CAPTURE_AWAITING_SERVICE_APPROVAL",
      "description": "The payer confirmed the payment; the service has to approve the capture.",
      "state": "CAPTURABLE"
    },
    {
      "event_type": "USER_APPROVED_FOR_CAPTURE",
      "description": "The payer confirmed the payment.",
      "state": "SUCCESS"
    },
    {
      "event_type": "SERVICE_APPROVED_FOR_CAPTURE",
      "description": "The service approved the capture.",
      "state": "SUCCESS"
    },
    {
      "event_type": "QUEUED_FOR_CAPTURE",
      "description": "The payment waits for capture.",
      "state": "SUCCESS"
    },
    {
      "event_type": "CAPTURE_SUBMITTED",
      "description": "The capture was sent to the payment provider.",
      "state": "SUCCESS"
    },
    {
      "event_type": "CAPTURE_CONFIRMED",
      "description": "The payment provider confirmed the capture.",
      "state": "SUCCESS"
    },
    {
      "event_type": "CAPTURE_CONFIRMED_BY_GATEWAY_NOTIFICATION",
      "description": "The payment provider confirmed the capture by a notification.",
      "state": "SUCCESS"
    },
    {
      "event_type": "CAPTURE_ERRORED",
      "description": "The payment provider returned an error during capture.",
      "state": "ERROR_GATEWAY"
    },
    {
      "event_type": "CAPTURE_ABANDONED_AFTER_TOO_MANY_RETRIES",
      "description": "The capture was given up after too many attempts.",
      "state": "ERROR_GATEWAY"
    },
    {
      "event_type": "FEE_INCURRED",
      "description": "The payment provider charged a fee."
    },
    {
      "event_type": "FEE_INCURRED_EVENT",
      "description": "The payment provider charged a fee."
    },
    {
      "event_type": "PAYMENT_EXPIRED",
      "description": "The payment expired.",
      "state": "FAILED_EXPIRED"
    },
    {
      "event_type": "CANCEL_BY_EXPIRATION_SUBMITTED",
      "description": "The cancellation of the expired payment was sent to the payment provider.",
      "state": "FAILED_EXPIRED"
    },
    {
      "event_type": "CANCEL_BY_EXPIRATION_FAILED",
      "description": "The cancellation of the expired payment failed.",
      "state": "FAILED_EXPIRED"
    },
    {
      "event_type": "CANCELLED_BY_EXPIRATION",
      "description": "The expired payment was cancelled at the payment provider.",
      "state": "FAILED_EXPIRED"
    },
    {
      "event_type": "CANCEL_BY_USER_SUBMITTED",
      "description": "The payer cancelled; the cancellation was sent to the payment provider.",
      "state": "FAILED_CANCELLED"
    },
    {
      "event_type": "CANCEL_BY_USER_FAILED",
      "description": "The cancellation by the payer failed.",
      "state": "FAILED_CANCELLED"
    },
    {
      "event_type": "CANCELLED_BY_USER",
      "description": "The payer cancelled the payment.",
      "state": "FAILED_CANCELLED"
    },
    {
      "event_type": "STATUS_CORRECTED_TO_USER_CANCELLED_TO_MATCH_GATEWAY_STATUS",
      "description": "The records were corrected to cancelled by the payer, as at the payment provider."
    },
    {
      "event_type": "CANCEL_BY_EXTERNAL_SERVICE_SUBMITTED",
      "description": "The service cancelled; the cancellation was sent to the payment provider.",
      "state": "CANCELLED"
    },
    {
      "event_type": "CANCEL_BY_EXTERNAL_SERVICE_FAILED",
      "description": "The cancellation by the service failed.",
      "state": "CANCELLED"
    },
    {
      "event_type": "CANCELLED_BY_EXTERNAL_SERVICE",
      "description": "The service cancelled the payment.",
      "state": "CANCELLED"
    },
    {
      "event_type": "SYSTEM_CANCELLED",
      "description": "The system cancelled the payment."
    },
    {
      "event_type": "STATUS_CORRECTED_TO_SYSTEM_CANCELLED_TO_MATCH_GATEWAY_STATUS",
      "description": "The records were corrected to cancelled by the system, as at the payment provider."
    },
    {
      "event_type": "BACKFILLER_GATEWAY_TRANSACTION_ID_SET",
      "description": "The provider's id was added from older records."
    },
    {
      "event_type": "REFUND_AVAILABILITY_UPDATED",
      "description": "The amount that can be refunded changed."
    },
    {
      "event_type": "REFUND_FAILURE_FUNDS_SENT_TO_CONNECT_ACCOUNT",
      "description": "A refund failed, and an administrator sent its money to the account of the service."
    },
    {
      "event_type": "PAYMENT_DISPUTED",
      "description": "The payer disputed the payment."
    },
    {
      "event_type": "PAYMENT_INCLUDED_IN_PAYOUT",
      "description": "The payment provider included the payment in a payout."
    },
    {
      "event_type": "STATUS_CORRECTED_TO_CAPTURED_TO_MATCH_GATEWAY_STATUS",
      "description": "The state was corrected to captured, as at the payment provider.",
      "state": "SUCCESS"
    },
    {
      "event_type": "PAYMENT_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN",
      "description": "An administrator corrected the state to success.",
      "state": "SUCCESS"
    },
    {
      "event_type": "PAYMENT_STATUS_CORRECTED_TO_ERROR_BY_ADMIN",
      "description": "An administrator corrected the state to error.",
      "state": "ERROR"
    }
  ],
  "refund": [
    {
      "event_type": "REFUND_CREATED_BY_SERVICE",
      "description": "The service created the refund.",
      "state": "SUBMITTED"
    },
    {
      "event_type": "REFUND_CREATED_BY_USER",
      "description": "A user of the service created the refund.",
      "state": "SUBMITTED"
    },
    {
      "event_type": "REFUND_SUBMITTED",
      "description": "The refund was sent to the payment provider.",
      "state": "SUBMITTED"
    },
    {
      "event_type": "REFUND_SUCCEEDED",
      "description": "The payment provider made the refund.",
      "state": "SUCCESS"
    },
    {
      "event_type": "REFUND_ERROR",
      "description": "The payment provider returned an error for the refund.",
      "state": "ERROR"
    },
    {
      "event_type": "REFUND_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN",
      "description": "An administrator corrected the state of the refund to success.",
      "state": "SUCCESS"
    },
    {
      "event_type": "REFUND_STATUS_CORRECTED_TO_ERROR_BY_ADMIN",
      "description": "An administrator corrected the state of the refund to error.",
      "state": "ERROR"
    },
    {
      "event_type": "REFUND_INCLUDED_IN_PAYOUT",
      "description": "The payment provider included the refund in a payout."
    }
  ],
  "dispute": [
    {
      "event_type": "DISPUTE_CREATED",
      "description": "The payer's bank opened the dispute.",
      "state": "NEEDS_RESPONSE"
    },
    {
      "event_type": "DISPUTE_EVIDENCE_SUBMITTED",
      "description": "The service sent evidence.",
      "state": "UNDER_REVIEW"
    },
    {
      "event_type": "DISPUTE_LOST",
      "description": "The service lost the dispute.",
      "state": "LOST"
    },
    {
      "event_type": "DISPUTE_WON",
      "description": "The service won the dispute.",
      "state": "WON"
    },
    {
      "event_type": "DISPUTE_INCLUDED_IN_PAYOUT",
      "description": "The payment provider included the dispute in a payout."
    }
  ],
  "payout": [
    {
      "event_type": "PAYOUT_CREATED",
      "description": "The payment provider created the payout.",
      "state": "IN_TRANSIT"
    },
    {
      "event_type": "PAYOUT_UPDATED",
      "description": "The payment provider changed the payout."
    },
    {
      "event_type": "PAYOUT_PAID",
      "description": "The payment provider paid the payout.",
      "state": "PAID_OUT"
    },
    {
      "event_type": "PAYOUT_FAILED",
      "description": "The payout failed.",
      "state": "FAILED"
    }
  ],
  "agreement": [
    {
      "event_type": "AGREEMENT_CREATED",
      "description": "The service created the agreement.",
      "state": "CREATED"
    },
    {
      "event_type": "AGREEMENT_SET_UP",
      "description": "The agreement got a payment instrument.",
      "state": "ACTIVE"
    },
    {
      "event_type": "AGREEMENT_CANCELLED_BY_SERVICE",
      "description": "The service cancelled the agreement.",
      "state": "CANCELLED"
    },
    {
      "event_type": "AGREEMENT_CANCELLED_BY_USER",
      "description": "A user of the service cancelled the agreement.",
      "state": "CANCELLED"
    },
    {
      "event_type": "AGREEMENT_INACTIVATED",
      "description": "The agreement became inactive.",
      "state": "INACTIVE"
    }
  ],
  "payment_instrument": [
    {
      "event_type": "PAYMENT_INSTRUMENT_CREATED",
      "description": "The payment instrument was created."
    },
    {
      "event_type": "PAYMENT_INSTRUMENT_CONFIRMED",
      "description": "The payment instrument was attached to the agreement."
    }
  ]
} as const;
