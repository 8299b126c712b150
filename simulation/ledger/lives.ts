import type { Random } from "../random.ts";

/** What an event says, apart from how a producer writes it down. */
export interface ToldEvent {
  resource_type: string;
  resource_external_id: string;
  parent_resource_external_id: string | null;
  /** UTC, six fraction digits. */
  timestamp: string;
  event_type: string;
  service_id: string | null;
  live: boolean | null;
  event_details: Record<string, unknown>;
}

export interface EventMessage {
  kind: "event";
  body: string;
  event: ToldEvent;
}

/** A message as it is published, and what must become of it. */
export type Message =
  | EventMessage
  | { kind: "reprojection"; body: string }
  | { kind: "broken"; body: string; reason: RegExp };

export const accounts = ["57", "58", "59", "account é", "60", "61"];
const providers = ["sandbox", "worldpay", "stripe", "epdq", "Smartpay"];
export const references = [
  "LIC-88",
  "100% off",
  "a_b",
  "back\\slash",
  "=formula",
  "Ärger",
  '"quoted", text',
  "x",
];
export const emails = ["angler@example.org", "O'Hara@Example.com", "@formula.example", "é@example.net"];
export const names = ["A Angler", "MS PLANTED-HOLDER", "Zoë", "+plus", "line\nbreak"];
export const brands = ["visa", "master-card", "american-express"];
export const metadataTexts = ["North", "north", "2", "true", "İstanbul".slice(1), "x".repeat(256)];
/** Payouts of an account are numbered from 0. */
export const payoutMax = 5;

/** The id of a payment by its number; some are odd. */
export const paymentId = (number: number) => (number % 50 === 7 ? `pay-${number} ü/%2F?#&` : `pay-${number}`);
export const refundId = (payment: number, number: number) => `ref-${payment}-${number}`;
export const disputeId = (payment: number) => `dis-${payment}`;
export const payoutId = (account: string, number: number) => `po-${account}-${number}`;

/** What no event of a payment is about before this, in microseconds since 1970, but for clocks that are wrong. */
export const epoch = Date.UTC(2024, 2, 5, 8) * 1000;
const day = 86_400_000_000;
/** Between one event and the next of a life; none at all is frequent. */
const gaps = [0, 0, 1, 999, 1000, 60_000_000, 3_600_000_000, day];

export const instantAt = (microseconds: number) => {
  const milliseconds = Math.floor(microseconds / 1000);
  const rest = String(microseconds - milliseconds * 1000).padStart(3, "0");
  return `${new Date(milliseconds).toISOString().slice(0, 23)}${rest}Z`;
};

/** Where a life begins: among a few instants, so that many begin at the same, or wherever a wrong clock says. */
function beginning(random: Random): number {
  if (random.chance(0.05)) return Date.UTC(random.whole(1971, 2005), random.whole(0, 11)) * 1000;
  if (random.chance(0.05)) return Date.UTC(random.whole(2040, 2090), random.whole(0, 11)) * 1000;
  return epoch + random.whole(0, 400) * 600_000_000 + random.one([0, 0, 0, 1, 500]);
}

type Step = [eventType: string, details: (random: Random) => Record<string, unknown>];
const nothing = () => ({});
const instant = (random: Random) =>
  random.chance(0.1) ? "yesterday" : `${instantAt(epoch + random.whole(0, 20) * day).slice(0, 23)}+01:00`;

const card = (random: Random) => ({
  cardholder_name: random.one(names),
  card_brand: random.one(brands),
  card_brand_label: random.one(["Visa", "Mastercard", "American Express"]),
  card_type: random.one(["DEBIT", "CREDIT", "OTHER"]),
  first_digits_card_number: random.one(["424242", "555555", 424242]),
  last_digits_card_number: random.one(["4242", "0007"]),
  expiry_date: random.one(["11/29", "01/30"]),
});

const paymentSteps: Step[] = [
  ["PAYMENT_STARTED", nothing],
  ["GATEWAY_REQUIRES_3DS_AUTHORISATION", () => ({ requires_3ds: true, version_3ds: "2.1.0" })],
  ["GATEWAY_DOES_NOT_REQUIRE_3DS_AUTHORISATION", () => ({ requires_3ds: "false" })],
  [
    "REQUESTED_3DS_EXEMPTION",
    (random) => ({ exemption_3ds_requested: random.one(["OPTIMISED", "CORPORATE"]) }),
  ],
  [
    "GATEWAY_3DS_EXEMPTION_RESULT_OBTAINED",
    (random) => ({
      exemption3ds: random.one([
        "EXEMPTION_NOT_REQUESTED",
        "EXEMPTION_HONOURED",
        "EXEMPTION_REJECTED",
        "EXEMPTION_OUT_OF_SCOPE",
      ]),
    }),
  ],
  [
    "PAYMENT_DETAILS_ENTERED",
    (random) => ({
      ...card(random),
      email: random.one(emails),
      total_amount: random.whole(100, 500_000),
      corporate_surcharge: random.one([0, 250, "300"]),
      gateway_transaction_id: `gtx-${random.whole(0, 300)}`,
      ...(random.chance(0.5) && { wallet: random.one(["APPLE_PAY", "GOOGLE_PAY"]) }),
      ...(random.chance(0.5) && {
        address_line1: "1 High Street",
        address_postcode: "E1 8QS",
        address_country: "GB",
      }),
    }),
  ],
  ["USER_EMAIL_COLLECTED", (random) => ({ email: random.one(emails) })],
  ["AUTHORISATION_SUCCEEDED", nothing],
  [
    "AUTHORISATION_REJECTED",
    (random) => (random.chance(0.5) ? { can_retry: random.one([true, "false"]) } : {}),
  ],
  ["AUTHORISATION_CANCELLED", nothing],
  ["GATEWAY_TIMEOUT_DURING_AUTHORISATION", nothing],
  ["USER_APPROVED_FOR_CAPTURE_AWAITING_SERVICE_APPROVAL", nothing],
  ["USER_APPROVED_FOR_CAPTURE", nothing],
  ["CAPTURE_SUBMITTED", (random) => ({ capture_submitted_date: instant(random) })],
  [
    "CAPTURE_CONFIRMED",
    (random) => ({
      captured_date: instant(random),
      fee: random.whole(1, 99),
      net_amount: random.whole(-50, 9999),
    }),
  ],
  ["CAPTURE_ERRORED", nothing],
  ["PAYMENT_EXPIRED", nothing],
  ["CANCELLED_BY_USER", nothing],
  ["CANCELLED_BY_EXTERNAL_SERVICE", nothing],
  ["PAYMENT_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN", nothing],
  ["PAYMENT_STATUS_CORRECTED_TO_ERROR_BY_ADMIN", nothing],
  [
    "FEE_INCURRED",
    () => ({
      fee: "17",
      net_amount: 83,
      fee_breakdown: [
        { fee_type: "transaction", amount: 10 },
        { fee_type: "radar", amount: 5 },
        { fee_type: "three_ds", amount: 2 },
      ],
    }),
  ],
  [
    "REFUND_AVAILABILITY_UPDATED",
    (random) => ({
      refund_status: random.one(["available", "full"]),
      refund_amount_available: random.whole(0, 900),
      refund_amount_refunded: String(random.whole(0, 900)),
    }),
  ],
  ["PAYMENT_DISPUTED", () => ({ disputed: true })],
  ["SOMETHING_NEW", (random) => ({ extra: random.one([1, "two", [3], { four: 4 }]) })],
  ["constructor", nothing],
];

const refundSteps: Step[] = [
  ["REFUND_CREATED_BY_SERVICE", nothing],
  ["REFUND_SUBMITTED", (random) => ({ gateway_transaction_id: `gtx-${random.whole(0, 300)}` })],
  ["REFUND_SUCCEEDED", nothing],
  ["REFUND_ERROR", nothing],
  ["SOMETHING_NEW", () => ({ reference: "own" })],
];

const disputeSteps: Step[] = [
  ["DISPUTE_EVIDENCE_SUBMITTED", nothing],
  ["DISPUTE_WON", nothing],
  ["DISPUTE_LOST", (random) => ({ fee: 1500, net_amount: -random.whole(1500, 9999) })],
];

const payoutSteps: Step[] = [
  ["PAYOUT_CREATED", (random) => ({ amount: random.whole(0, 99_999) })],
  ["PAYOUT_PAID", (random) => ({ paid_out_date: instant(random) })],
  ["PAYOUT_FAILED", nothing],
  ["PAYOUT_UPDATED", nothing],
];

const metadata = (random: Random) =>
  Object.fromEntries(
    random
      .some(["branch", "copies", "constructor", "__proto__", "Ключ"], 0.4)
      .map((key) => [key, random.one([...metadataTexts, 2, true, 1.5, { nested: null }])]),
  );

const created = (random: Random, account: string) => ({
  gateway_account_id: /^\d+$/.test(account) && random.chance(0.3) ? Number(account) : account,
  amount: random.chance(0.3) ? String(random.whole(1, 500_000)) : random.whole(1, 500_000),
  reference: random.chance(0.1) ? random.whole(1, 99) : random.one(references),
  description: random.one(["Fishing licence", "-5 off", "Parking, zone B"]),
  payment_provider: random.one(providers),
  ...(random.chance(0.5) && {
    language: "en",
    return_url: "https://service.example/done",
    moto: random.chance(0.5),
  }),
  ...(random.chance(0.3) && {
    source: "CARD_API",
    authorisation_mode: random.one(["web", "moto_api", "agreement", "external"]),
    delayed_capture: "true",
    credential_external_id: "credential",
    agreement_id: random.one(["agr-1", "agr-2"]),
    agreement_payment_type: "recurring",
  }),
  ...(random.chance(0.3) && { live: random.chance(0.5) }),
  ...(random.chance(0.6) && { external_metadata: metadata(random) }),
});

interface Resource {
  type: string;
  id: string;
  parent?: string;
  steps: [eventType: string, details: Record<string, unknown>][];
}

/** The events of one resource, one after another and some at the same time. */
function tell(random: Random, { type, id, parent, steps }: Resource): ToldEvent[] {
  let time = beginning(random);
  return steps.map(([event_type, event_details]) => {
    time += random.one(gaps);
    return {
      resource_type: type,
      resource_external_id: id,
      parent_resource_external_id: parent !== undefined && random.chance(0.8) ? parent : null,
      timestamp: instantAt(time),
      event_type,
      service_id: random.chance(0.7) ? `service-${random.whole(1, 3)}` : null,
      live: random.chance(0.6) ? random.chance(0.7) : null,
      event_details,
    };
  });
}

const draw = (random: Random, steps: Step[], max: number): Resource["steps"] =>
  Array.from({ length: random.whole(0, max) }, () => random.one(steps)).map(([eventType, details]) => [
    eventType,
    details(random),
  ]);

const perhaps = (random: Random, share: number, make: () => Resource): Resource[] =>
  random.chance(share) ? [make()] : [];

/** What happens to one payment, and to its refunds, its dispute and its payout; no event twice. */
function lifeOf(random: Random, number: number): ToldEvent[] {
  const account = random.chance(0.5) ? (accounts[0] as string) : random.one(accounts);
  const id = paymentId(number);
  const inPayout = (type: string): Resource["steps"] =>
    random.chance(0.4)
      ? [[`${type}_INCLUDED_IN_PAYOUT`, { gateway_payout_id: payoutId(account, random.whole(0, payoutMax)) }]]
      : [];
  const foreign = random.chance(0.03);
  const childAccount = foreign ? random.one(accounts) : account;
  const payment: Resource = {
    type: "payment",
    id,
    steps: [
      ...(random.chance(0.9) ? ([["PAYMENT_CREATED", created(random, account)]] as Resource["steps"]) : []),
      ...draw(random, paymentSteps, 7),
      ...inPayout("PAYMENT"),
    ],
  };
  const refunds = Array.from(
    { length: random.chance(0.4) ? random.whole(1, 3) : 0 },
    (_, index): Resource => ({
      type: "refund",
      id: refundId(number, index),
      parent: random.chance(0.95) ? id : paymentId(number + 10_000_000),
      steps: [
        [
          "REFUND_CREATED_BY_USER",
          {
            amount: random.whole(1, 900),
            gateway_account_id: childAccount,
            refunded_by: "user-1",
            user_email: "clerk@example.org",
          },
        ],
        ...draw(random, refundSteps, 3),
        ...inPayout("REFUND"),
      ],
    }),
  );
  const disputes = perhaps(random, 0.15, () => ({
    type: "dispute",
    id: disputeId(number),
    parent: id,
    steps: [
      [
        "DISPUTE_CREATED",
        {
          amount: random.whole(1, 900),
          gateway_account_id: childAccount,
          reason: random.one(["fraudulent", "unrecognized", "unheard of", " "]),
          evidence_due_date: instant(random),
          gateway_transaction_id: `gtx-${random.whole(0, 300)}`,
        },
      ],
      ...draw(random, disputeSteps, 2),
      ...inPayout("DISPUTE"),
    ],
  }));
  const payouts = perhaps(random, 0.05, () => ({
    type: "payout",
    id: payoutId(account, random.whole(0, payoutMax)),
    steps: draw(random, payoutSteps, 3).map(([eventType, details]) => [
      eventType,
      { ...details, ...(random.chance(0.9) && { gateway_account_id: account }) },
    ]),
  }));
  const others = perhaps(random, 0.05, () => ({
    type: random.one(["agreement", "service", "card_payment", "payment_instrument"]),
    id: random.chance(0.5) ? id : `other-${number}`,
    steps: [["SOMETHING_NEW", { gateway_account_id: account }]],
  }));
  return [payment, ...refunds, ...disputes, ...payouts, ...others].flatMap((one) => tell(random, one));
}

/** Why a message cannot be an event, with what the ledger must say of it. */
const breakages: [reason: RegExp, body: (random: Random, event: ToldEvent) => string][] = [
  [/not JSON/, (_, event) => JSON.stringify(event).slice(0, -1)],
  [/object/, (random) => random.one(["[]", '"text"', "17", "null"])],
  [
    /timestamp/,
    (random, event) => JSON.stringify({ ...event, timestamp: random.one([undefined, "2024-03-05", 17]) }),
  ],
  [/resource_type/, (_, event) => JSON.stringify({ ...event, resource_type: "PAYMENT" })],
  [
    /resource_external_id/,
    (random, event) =>
      JSON.stringify({ ...event, resource_external_id: random.one([undefined, "", 17, "x".repeat(256)]) }),
  ],
  [
    /event_type/,
    (random, event) => JSON.stringify({ ...event, event_type: random.one([undefined, "", {}]) }),
  ],
  [
    /event_details/,
    (random, event) => JSON.stringify({ ...event, event_details: random.one(["text", [], 17]) }),
  ],
  [
    /amount/,
    (random, event) =>
      JSON.stringify({ ...event, event_details: { amount: random.one([1.5, "1.5", 1e300, true]) } }),
  ],
  [/source/, (_, event) => JSON.stringify({ ...event, event_details: { source: "CARD_TERMINAL" } })],
  [
    /nested/,
    (_, event) =>
      JSON.stringify({ ...event, event_details: { deep: JSON.parse("[".repeat(150) + "]".repeat(150)) } }),
  ],
  [
    /NUL|surrogate/,
    (random, event) =>
      JSON.stringify({ ...event, event_details: { email: random.one(["\u0000", "\ud800"]) } }),
  ],
];

/** Each message of a run, in the order in which lives begin; the model is told what each amounts to. */
export function* messagesOf(random: Random): Generator<Message[]> {
  const seen = new Set<string>();
  for (let number = 0; ; number += 1) {
    const events = lifeOf(random, number).filter((event) => isNew(seen, event));
    const messages: Message[] = events.map((event) => ({ kind: "event", body: write(random, event), event }));
    const [first] = events;
    if (first && random.chance(0.05)) {
      const [reason, body] = random.one(breakages);
      // Its own id, so that it is told from others.
      const resource_external_id = `broken-${number}`;
      messages.push({ kind: "broken", reason, body: body(random, { ...first, resource_external_id }) });
    }
    if (first && random.chance(0.02)) {
      const resource_external_id = random.one([first.resource_external_id, `never-${number}`]);
      const wish = { ...first, resource_external_id, reproject_domain_object: random.one([true, "true"]) };
      messages.push({ kind: "reprojection", body: JSON.stringify(wish) });
    }
    yield messages;
  }
}

function isNew(seen: Set<string>, event: ToldEvent): boolean {
  const key = keyOf(event);
  return !seen.has(key) && seen.add(key) !== undefined;
}

/** What makes it that event and no other. */
export const keyOf = ({ resource_type, resource_external_id, timestamp, event_type }: ToldEvent) =>
  JSON.stringify([resource_type, resource_external_id, timestamp, event_type]);

/** The event as one of many producers writes it down. */
export function write(random: Random, event: ToldEvent): string {
  const absent = (value: unknown, ...ways: unknown[]) => value ?? random.one([undefined, null, ...ways]);
  const message = {
    ...event,
    timestamp: writeInstant(random, event.timestamp),
    parent_resource_external_id: absent(event.parent_resource_external_id, ""),
    service_id: absent(event.service_id, ""),
    live:
      event.live === null
        ? random.one([undefined, null, "null"])
        : random.one([event.live, String(event.live)]),
    event_details: writeDetails(random, event.event_details),
    ...(random.chance(0.1) && { gateway_account_id: 57, unheard_of: { of: [] } }),
    ...(random.chance(0.1) && { reproject_domain_object: random.one([false, "false", null]) }),
  };
  const body = JSON.stringify(message, undefined, random.one([undefined, undefined, 2]));
  return random.chance(0.1)
    ? JSON.stringify({ Type: "Notification", MessageId: "1", TopicArn: "arn", Message: body })
    : body;
}

function writeDetails(random: Random, details: ToldEvent["event_details"]): unknown {
  if (Object.keys(details).length === 0) return random.one([{}, null, undefined, { nothing: null }]);
  return random.chance(0.1) ? { ...details, nothing: null } : details;
}

/** With more digits than are kept, with those that are needed, or in another zone. */
function writeInstant(random: Random, timestamp: string): string {
  const plain = timestamp.slice(0, -1);
  const form = random.whole(0, 5);
  if (form === 0) return `${plain}${random.whole(0, 999).toString().padStart(3, "0")}Z`;
  if (form === 1) return `${plain.replace(/\.?0+$/, "")}Z`;
  if (form > 2) return timestamp;
  const hours = random.whole(0, 13);
  const there = new Date(Date.parse(`${plain.slice(0, 19)}Z`) + hours * 3_600_000).toISOString();
  return `${there.slice(0, 19)}${plain.slice(19)}+${String(hours).padStart(2, "0")}:00`;
}
