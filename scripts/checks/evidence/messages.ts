import { type EventMessage, story } from "../../../testing/messages.ts";

type Details = NonNullable<EventMessage["event_details"]>;

/** The messages of one resource. Its events are an hour apart, from midnight of 5 March 2024. */
const hourly = (
  type: EventMessage["resource_type"],
  id: string,
  events: [eventType: string, details?: Details][],
  members: Partial<EventMessage> = {},
): EventMessage[] =>
  story(
    type,
    id,
    ...events.map(([eventType, details = {}], hour): [string, string, Details] => [
      `${String(hour).padStart(2, "0")}:00`,
      eventType,
      details,
    ]),
  ).map((message) => ({ ...message, ...members }));

const payment = (id: string, ...events: [string, Details?][]) => hourly("payment", id, events);
const childOf =
  (parent: string, type: "refund" | "dispute") =>
  (id: string, ...events: [string, Details?][]) =>
    hourly(type, id, events, { parent_resource_external_id: parent });
const refund = childOf("full", "refund");
const dispute = childOf("full", "dispute");

/** Three of these are more than a page has. */
const large: Details = { gateway_account_id: "58", description: "x".repeat(900_000) };

/** The number of events on a page of the ticker. */
const tickerPage = 200;

/** Every detail of a payment. */
const allDetails: Details = {
  amount: 4250,
  total_amount: "4500",
  net_amount: 4440,
  fee: 60,
  corporate_surcharge: 250,
  refund_amount_available: 4500,
  refund_amount_refunded: 0,
  credential_external_id: "cred1",
  reference: "LIC-88",
  description: "Fishing licence",
  language: "en",
  return_url: "https://licences.example/done",
  email: "angler@example.org",
  payment_provider: "sandbox",
  cardholder_name: "A. Angler",
  card_brand: "visa",
  card_brand_label: "Visa",
  card_type: "DEBIT",
  expiry_date: "11/29",
  first_digits_card_number: 424242,
  last_digits_card_number: "4242",
  address_line1: "1 Lake Street",
  address_line2: "Shore",
  address_postcode: "AB1 2CD",
  address_city: "Lakeside",
  address_county: "Northshire",
  address_country: "GB",
  wallet: "APPLE_PAY",
  gateway_transaction_id: "gtx-1",
  gateway_payout_id: "po_44",
  agreement_id: "agr-1",
  agreement_payment_type: "RECURRING",
  refund_status: "available",
  version_3ds: 2.1,
  live: "true",
  moto: true,
  delayed_capture: true,
  disputed: true,
  can_retry: true,
  requires_3ds: "true",
  source: "CARD_API",
  authorisation_mode: "web",
  exemption3ds: "EXEMPTION_HONOURED",
  exemption_3ds_requested: "CORPORATE",
  capture_submitted_date: "2024-03-05T08:00:00Z",
  captured_date: "2024-03-05T09:00:00Z",
  fee_breakdown: [{ fee_type: "transaction", amount: 60 }],
  external_metadata: { branch: "North", copies: 2, gift: false },
};

/** The events whose details are stored only. */
const storedOnly: EventMessage[] = [
  ...hourly("payment", "stored-only", [
    [
      "PAYMENT_CREATED",
      { payment_instrument_id: "pi-1", save_payment_instrument_to_agreement: true, agreement_id: "agr-1" },
    ],
    ["PAYMENT_DETAILS_ENTERED", { address_state_province: "Northshire" }],
    ["AUTHORISATION_REJECTED", { gateway_rejection_reason: "expired_card" }],
    [
      "STATUS_CORRECTED_TO_CAPTURED_TO_MATCH_GATEWAY_STATUS",
      { gateway_event_date: "2024-03-05T02:00:00.000000Z" },
    ],
    [
      "PAYMENT_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN",
      { updated_reason: "captured by hand", admin_github_id: "admin (1)", zendesk_id: "77" },
    ],
  ]),
  ...hourly("payout", "stored-only-payout", [
    [
      "PAYOUT_CREATED",
      {
        estimated_arrival_date_in_bank: "2024-03-08T00:00:00.000000Z",
        gateway_status: "pending",
        destination_type: "bank_account",
        statement_descriptor: "LICENCES",
      },
    ],
    [
      "PAYOUT_FAILED",
      {
        failure_code: "account_closed",
        failure_message: "The account is closed",
        failure_balance_transaction: "txn_1",
      },
    ],
  ]),
];

const ofService = { service_id: "svc91b27", live: true };

/** Agreements of every status, one with every member. */
const agreements: EventMessage[] = [
  ...hourly(
    "agreement",
    "agr-1",
    [
      ["AGREEMENT_CREATED", { user_identifier: "payer-1", reference: "PERMIT-7", description: "Permit" }],
      ["AGREEMENT_SET_UP", { payment_instrument_external_id: "pi-1" }],
      [
        "AGREEMENT_CANCELLED_BY_USER",
        {
          user_external_id: "usr1",
          user_email: "user@example.org",
          cancelled_date: "2024-03-05T02:00:00.000000Z",
        },
      ],
    ],
    ofService,
  ),
  ...hourly("payment_instrument", "pi-1", [
    ["PAYMENT_INSTRUMENT_CREATED", { type: "CARD", ...allDetails }],
    ["PAYMENT_INSTRUMENT_CONFIRMED", { agreement_external_id: "agr-1" }],
  ]),
  ...hourly("agreement", "agr-created", [["AGREEMENT_CREATED"]], ofService),
  ...hourly("payment_instrument", "pi-unknown", [
    ["PAYMENT_INSTRUMENT_CONFIRMED", { agreement_external_id: "agr-created" }],
  ]),
  ...hourly("agreement", "agr-active", [["AGREEMENT_SET_UP"]]),
  ...hourly("agreement", "agr-inactive", [["AGREEMENT_INACTIVATED", { reason: "expired" }]]),
  ...hourly("agreement", "agr-undefined", [["SOMETHING_ELSE", { gateway_account_id: undefined }]]),
  ...hourly("agreement", "agr-large", [
    ["AGREEMENT_CREATED", large],
    ["ONE", large],
    ["TWO", large],
    ["THREE", large],
  ]),
];

/** Messages that cover every state, member and enum value of the ledger's contract. */
export const messages: EventMessage[] = [
  ...hourly("payment", "full", [["PAYMENT_CREATED", allDetails], ["CAPTURE_CONFIRMED"], ["SOMETHING_ELSE"]], {
    service_id: "svc91b27",
    live: true,
  }),
  ...hourly("payout", "po_44", [
    ["PAYOUT_CREATED", { amount: 4190 }],
    ["PAYOUT_PAID", { paid_out_date: "2024-03-11T09:00:00Z" }],
  ]),
  ...payment("minimal", ["PAYMENT_CREATED"]),
  ...hourly("payment", "without-account", [["PAYMENT_CREATED", { gateway_account_id: undefined }]], {
    live: false,
  }),
  ...hourly("refund", "refund-without-account", [
    ["REFUND_CREATED_BY_SERVICE", { gateway_account_id: undefined }],
  ]),
  ...hourly("dispute", "dispute-without-account", [["DISPUTE_CREATED", { gateway_account_id: undefined }]]),
  ...payment("without-state", ["PAYMENT_NOTIFICATION_SEEN"]),
  ...payment("started", ["PAYMENT_CREATED"], ["PAYMENT_STARTED", { source: "CARD_PAYMENT_LINK" }]),
  ...payment(
    "submitted",
    ["PAYMENT_CREATED", { amount: 1, description: true }],
    [
      "AUTHORISATION_SUCCEEDED",
      {
        card_type: "CREDIT",
        card_brand_label: "Visa",
        moto: false,
        disputed: "false",
        authorisation_mode: "moto_api",
      },
    ],
  ),
  ...payment("capturable", [
    "USER_APPROVED_FOR_CAPTURE_AWAITING_SERVICE_APPROVAL",
    { refund_status: "pending", description: false, reference: false, external_metadata: null },
  ]),
  ...payment("declined", [
    "AUTHORISATION_REJECTED",
    { can_retry: false, source: "CARD_AGENT_INITIATED_MOTO", authorisation_mode: "agreement" },
  ]),
  ...payment("timedout", [
    "PAYMENT_EXPIRED",
    { source: "CARD_EXTERNAL_TELEPHONE", authorisation_mode: "external" },
  ]),
  ...payment("cancelled-by-user", [
    "CANCELLED_BY_USER",
    { exemption3ds: "EXEMPTION_NOT_REQUESTED", requires_3ds: false },
  ]),
  ...payment("cancelled", [
    "CANCELLED_BY_EXTERNAL_SERVICE",
    { exemption3ds: "EXEMPTION_REJECTED", exemption_3ds_requested: "OPTIMISED", refund_amount_refunded: 0 },
  ]),
  ...payment("error", [
    "GATEWAY_ERROR_DURING_AUTHORISATION",
    { exemption3ds: "EXEMPTION_OUT_OF_SCOPE", address_city: "Lakeside" },
  ]),
  ...payment("exemption-requested", [
    "PAYMENT_CREATED",
    { exemption_3ds_requested: "OPTIMISED", address_county: "Northshire", reference: true },
  ]),
  ...hourly(
    "refund",
    "refund",
    [
      ["REFUND_CREATED_BY_USER", { amount: 1000, refunded_by: "usr4411", user_email: "clerk@example.org" }],
      ["REFUND_SUCCEEDED", { gateway_transaction_id: "re_9", gateway_payout_id: "po_44" }],
    ],
    { parent_resource_external_id: "full", service_id: "svc91b27", live: "true" },
  ),
  ...refund("refund-minimal", ["REFUND_CREATED_BY_SERVICE"]),
  ...refund("refund-failed", ["REFUND_ERROR"]),
  ...hourly("refund", "refund-without-parent", [["REFUND_CREATED_BY_SERVICE"]], { live: false }),
  ...hourly("refund", "refund-of-minimal", [["REFUND_CREATED_BY_SERVICE"]], {
    parent_resource_external_id: "minimal",
  }),
  ...hourly(
    "dispute",
    "dispute",
    [
      [
        "DISPUTE_CREATED",
        {
          amount: 4250,
          evidence_due_date: "2024-03-19T22:59:59Z",
          reason: "unrecognized",
          gateway_payout_id: "po_44",
        },
      ],
      ["DISPUTE_LOST", { fee: 1500, net_amount: -5750, gateway_transaction_id: "du_7" }],
    ],
    { parent_resource_external_id: "full", service_id: "svc91b27", live: true },
  ),
  ...dispute("dispute-minimal", ["DISPUTE_CREATED"]),
  ...dispute("dispute-evidence-submitted", ["DISPUTE_EVIDENCE_SUBMITTED"]),
  ...dispute("dispute-won", ["DISPUTE_WON"]),
  ...hourly("dispute", "dispute-without-parent", [["DISPUTE_CREATED"]], { live: false }),
  ...hourly("dispute", "dispute-of-minimal", [["DISPUTE_CREATED"]], {
    parent_resource_external_id: "minimal",
  }),
  ...[
    "credit_not_processed",
    "duplicate",
    "fraudulent",
    "general",
    "product_not_received",
    "product_unacceptable",
    "subscription_canceled",
    "unknown_reason",
  ].flatMap((reason) => dispute(`dispute-${reason}`, ["DISPUTE_CREATED", { reason }])),
  ...(["agreement", "payment_instrument", "service", "card_payment"] as const).flatMap((type) =>
    hourly(type, type, [["SOMETHING_HAPPENED"]], { live: "false", reproject_domain_object: "false" }),
  ),
  {
    ...hourly("service", "without-details", [["SOMETHING_HAPPENED"]])[0],
    event_details: undefined,
    live: "null",
  } as EventMessage,
  {
    ...hourly("service", "reproject-null", [["SOMETHING_HAPPENED", { live: false, moto: "false" }]])[0],
    reproject_domain_object: "null",
  } as EventMessage,
  {
    ...hourly("service", "reproject-false", [["SOMETHING_HAPPENED"]])[0],
    reproject_domain_object: false,
  } as EventMessage,
  ...storedOnly,
  ...agreements,
  ...hourly("payment", "large", [["PAYMENT_CREATED", large], ["PAYMENT_STARTED"]]),
  ...["large-1", "large-2", "large-3"].flatMap((id) =>
    hourly("refund", id, [["REFUND_SUBMITTED", large]], { parent_resource_external_id: "large" }),
  ),
  ...hourly(
    "payment",
    "live-without-account",
    [["CAPTURE_CONFIRMED", { gateway_account_id: undefined, authorisation_mode: "agreement" }]],
    { live: true },
  ),
  ...hourly("payout", "payout-in-transit", [["PAYOUT_CREATED"]], { service_id: "svc91b27", live: true }),
  ...hourly("payout", "payout-without-state", [["SOMETHING_HAPPENED"]]),
  ...hourly("payout", "payout-without-account", [["PAYOUT_CREATED", { gateway_account_id: undefined }]], {
    service_id: "svc91b27",
    live: true,
  }),
  ...Array.from({ length: tickerPage }, (_, second) => ({
    ...(hourly("payment", "full", [["SOMETHING_ELSE"]])[0] as EventMessage),
    timestamp: new Date(Date.UTC(2024, 2, 7, 0, 0, second)).toISOString(),
  })),
];

/** Messages that request a rebuild of a stored resource. */
export const rebuilds: EventMessage[] = [true, "true" as const].map((reproject_domain_object) => ({
  event_type: "REPROJECT",
  resource_type: "payment",
  resource_external_id: "full",
  timestamp: "2024-03-06T00:00:00Z",
  reproject_domain_object,
}));
