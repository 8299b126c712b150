import type { Random } from "../../testing/random.ts";

/** The content of an event, independent of the encodings that producers use. */
export interface LedgerEvent {
  resource_type: string;
  resource_external_id: string;
  parent_resource_external_id: string | null;
  /** In UTC with six fraction digits. */
  timestamp: string;
  event_type: string;
  service_id: string | null;
  live: boolean | null;
  event_details: Record<string, unknown>;
  /** Other members of the message. Missing or null if there are none. */
  other_members?: Record<string, unknown> | null;
}

/** The account that an event names in its details. Default: the account beside them. */
export function accountNamedBy({ event_details, other_members }: LedgerEvent): string | undefined {
  const named = [event_details, other_members ?? {}].map(
    ({ gateway_account_id }) => gateway_account_id ?? "",
  );
  return named.map(String).find((account) => account !== "");
}

/** A published message. An invalid one must become a dead letter whose reason matches `reason`. */
export type Message =
  | { kind: "event"; body: string; event: LedgerEvent }
  | { kind: "reprojection"; body: string }
  | { kind: "invalid"; body: string; reason: RegExp };

export const accounts = ["57", "58", "59", "account é", "60", "61"];
const providers = ["sandbox", "worldpay", "stripe", "epdq", "Smartpay"];
export const references = [
  ...["LIC-88", "100% off", "a_b", "back\\slash", "=formula", "Ärger", '"quoted", text', "x"],
];
export const emails = ["angler@example.org", "O'Hara@Example.com", "@formula.example", "é@example.net"];
export const names = ["A Angler", "MS PLANTED-HOLDER", "Zoë", "+plus", "line\nbreak"];
export const brands = ["visa", "master-card", "american-express"];
export const metadataTexts = ["North", "north", "2", "true", "İstanbul".slice(1), "x".repeat(256)];
/** The payouts of an account have the numbers 0 to this one. */
export const payoutMax = 5;

/** Some ids have characters that must be escaped in a path. */
export const paymentId = (number: number) => (number % 50 === 7 ? `pay-${number} ü/%2F?#&` : `pay-${number}`);
export const refundId = (payment: number, number: number) => `ref-${payment}-${number}`;
export const disputeId = (payment: number) => `dis-${payment}`;
export const agreementId = (number: number) => `agr-${number}`;
const instrumentId = (agreement: number, number: number) => `ins-${agreement}-${number}`;
export const payoutId = (account: string, number: number) => `po-${account}-${number}`;

/** The earliest timestamp of an event, in microseconds since 1970, unless the producer's clock is wrong. */
export const earliest = Date.UTC(2024, 2, 5, 8) * 1000;
const day = 86_400_000_000;
/** Time zones of reports: some an hour or many from UTC, some with half hours, and one where days began at 01:00. */
export const timeZones = [
  ...["UTC", "Europe/London", "America/New_York", "America/Sao_Paulo", "Pacific/Kiritimati"],
  ...["Asia/Kathmandu", "Australia/Lord_Howe"],
];

/**
 * Instants at which a day begins in one of them, or the clocks change there. Some of them begin a week, a month or a year. In
 * the winters until 1971 London was an hour ahead of UTC, too.
 */
export const midnights = [
  ...["1971-01-31T23:00:00Z", "2024-02-29T00:00:00Z", "2024-03-31T00:00:00Z", "2024-03-31T01:00:00Z"],
  ...["2024-03-31T23:00:00Z", "2024-06-30T23:00:00Z", "2024-07-14T23:00:00Z", "2024-08-31T23:00:00Z"],
  ...["2024-10-26T23:00:00Z", "2024-10-27T00:00:00Z", "2024-10-27T01:00:00Z", "2024-10-27T23:00:00Z"],
  ...["2024-12-31T23:00:00Z", "2025-01-01T00:00:00Z", "2060-07-31T23:00:00Z"],
  ...["2018-11-04T03:00:00Z", "2018-02-18T02:00:00Z", "2024-02-29T10:00:00Z", "2024-03-31T18:15:00Z"],
  ...["2024-04-06T13:00:00Z", "2024-04-06T15:00:00Z", "2024-04-30T13:30:00Z", "2024-11-03T04:00:00Z"],
];
/** Microseconds between two events of a resource. Equal timestamps are frequent. */
const gaps = [0, 0, 1, 999, 1000, 60_000_000, 3_600_000_000, day];

export const timestampAt = (microseconds: number) => {
  const milliseconds = Math.floor(microseconds / 1000);
  const rest = String(microseconds - milliseconds * 1000).padStart(3, "0");
  return `${new Date(milliseconds).toISOString().slice(0, 23)}${rest}Z`;
};

/**
 * The timestamp of a resource's first event. There are few different ones, so that many resources share one. Some are
 * those of wrong clocks, and some are around midnights.
 */
function firstTimestamp(random: Random): number {
  if (random.chance(0.05)) return Date.UTC(random.integer(1971, 2005), random.integer(0, 11)) * 1000;
  if (random.chance(0.05)) return Date.UTC(random.integer(2040, 2090), random.integer(0, 11)) * 1000;
  if (random.chance(0.2)) return timestampAroundMidnight(random);
  return earliest + random.integer(0, 400) * 600_000_000 + random.pick([0, 0, 0, 1, 500]);
}

/** A timestamp just before, at or within an hour after one of the midnights. */
const timestampAroundMidnight = (random: Random) =>
  Date.parse(random.pick(midnights)) * 1000 + random.pick([-1, 0, 1, 1_800_000_000, 3_599_999_999]);

type Step = [eventType: string, details: Record<string, unknown>];
/** Event types with their random details. */
type Steps = Record<string, (random: Random) => Step[1]>;
const withoutDetails = (...types: string[]): Steps =>
  Object.fromEntries(types.map((type) => [type, () => ({})]));
const dateDetail = (random: Random) => {
  const local = timestampAt(earliest + random.integer(0, 20) * day).slice(0, 23);
  return random.chance(0.1) ? "yesterday" : `${local}+01:00`;
};
const integerOrText = (random: Random, min: number, max: number) =>
  random.pick<number | string>([random.integer(min, max), String(random.integer(min, max))]);
const gatewayTransaction = (random: Random) => ({ gateway_transaction_id: `gtx-${random.integer(0, 300)}` });

const card = (random: Random) => ({
  cardholder_name: random.pick(names),
  card_brand: random.pick(brands),
  card_brand_label: random.pick(["Visa", "Mastercard", "American Express"]),
  card_type: random.pick(["DEBIT", "CREDIT", "OTHER"]),
  first_digits_card_number: random.pick(["424242", "555555", 424242]),
  last_digits_card_number: random.pick(["4242", "0007"]),
  expiry_date: random.pick(["11/29", "01/30"]),
});

const address = { address_line1: "1 High Street", address_postcode: "E1 8QS", address_country: "GB" };
const feeParts = Object.entries({ transaction: 10, radar: 5, three_ds: 2 }).map(([fee_type, amount]) => ({
  fee_type,
  amount,
}));
const exemptionResults = ["NOT_REQUESTED", "HONOURED", "REJECTED", "OUT_OF_SCOPE"];

const paymentSteps: Steps = {
  ...withoutDetails(
    ...["PAYMENT_STARTED", "AUTHORISATION_SUCCEEDED", "AUTHORISATION_CANCELLED"],
    ...["GATEWAY_TIMEOUT_DURING_AUTHORISATION", "USER_APPROVED_FOR_CAPTURE_AWAITING_SERVICE_APPROVAL"],
    ...["USER_APPROVED_FOR_CAPTURE", "CAPTURE_ERRORED", "PAYMENT_EXPIRED", "CANCELLED_BY_USER"],
    ...["CANCELLED_BY_EXTERNAL_SERVICE", "PAYMENT_STATUS_CORRECTED_TO_SUCCESS_BY_ADMIN"],
    ...["PAYMENT_STATUS_CORRECTED_TO_ERROR_BY_ADMIN", "constructor"],
  ),
  GATEWAY_REQUIRES_3DS_AUTHORISATION: () => ({ requires_3ds: true, version_3ds: "2.1.0" }),
  GATEWAY_DOES_NOT_REQUIRE_3DS_AUTHORISATION: () => ({ requires_3ds: "false" }),
  REQUESTED_3DS_EXEMPTION: (random) => ({ exemption_3ds_requested: random.pick(["OPTIMISED", "CORPORATE"]) }),
  GATEWAY_3DS_EXEMPTION_RESULT_OBTAINED: (random) => ({
    exemption3ds: `EXEMPTION_${random.pick(exemptionResults)}`,
  }),
  PAYMENT_DETAILS_ENTERED: (random) => ({
    ...card(random),
    email: random.pick(emails),
    total_amount: random.integer(100, 500_000),
    corporate_surcharge: random.pick([0, 250, "300"]),
    ...gatewayTransaction(random),
    ...(random.chance(0.5) && { wallet: random.pick(["APPLE_PAY", "GOOGLE_PAY"]) }),
    ...(random.chance(0.5) && address),
  }),
  USER_EMAIL_COLLECTED: (random) => ({ email: random.pick(emails) }),
  AUTHORISATION_REJECTED: (random) => (random.chance(0.5) ? { can_retry: random.pick([true, "false"]) } : {}),
  CAPTURE_SUBMITTED: (random) => ({ capture_submitted_date: dateDetail(random) }),
  CAPTURE_CONFIRMED: (random) => ({
    captured_date: dateDetail(random),
    fee: random.integer(1, 99),
    net_amount: random.integer(-50, 9999),
  }),
  FEE_INCURRED: () => ({ fee: "17", net_amount: 83, fee_breakdown: feeParts }),
  REFUND_AVAILABILITY_UPDATED: (random) => ({
    refund_status: random.pick(["available", "full"]),
    refund_amount_available: random.integer(0, 900),
    refund_amount_refunded: String(random.integer(0, 900)),
  }),
  PAYMENT_DISPUTED: () => ({ disputed: true }),
  SOMETHING_NEW: (random) => ({ extra: random.pick([1, "two", [3], { four: 4 }]) }),
};

const refundSteps: Steps = {
  ...withoutDetails("REFUND_CREATED_BY_SERVICE", "REFUND_ERROR"),
  REFUND_SUBMITTED: gatewayTransaction,
  REFUND_SUCCEEDED: (random) => ({
    ...(random.chance(0.2) && { total_amount: random.integer(1, 900) }),
    ...(random.chance(0.2) && { net_amount: String(random.integer(-50, 900)) }),
    ...(random.chance(0.1) && { moto: true }),
  }),
  SOMETHING_NEW: () => ({ reference: "own" }),
};

const disputeSteps: Steps = {
  ...withoutDetails("DISPUTE_EVIDENCE_SUBMITTED", "DISPUTE_WON"),
  DISPUTE_LOST: (random) => ({ fee: 1500, net_amount: -random.integer(1500, 9999) }),
};

const payoutSteps: Steps = {
  ...withoutDetails("PAYOUT_FAILED", "PAYOUT_UPDATED"),
  PAYOUT_CREATED: (random) => ({
    amount: integerOrText(random, -999, 99_999),
  }),
  PAYOUT_PAID: (random) => ({ paid_out_date: dateDetail(random) }),
};

const agreementSteps: Steps = {
  ...withoutDetails("AGREEMENT_SET_UP", "AGREEMENT_CANCELLED_BY_SERVICE"),
  AGREEMENT_CANCELLED_BY_USER: (random) => (random.chance(0.8) ? { user_email: random.pick(emails) } : {}),
  AGREEMENT_INACTIVATED: () => ({ reason: "expired" }),
  SOMETHING_NEW: (random) => ({ reference: random.pick(references) }),
};

/** The events of an agreement and its payment instruments. Some instruments move to the agreement before it. */
function agreementResources(random: Random, number: number, account: string): Resource[] {
  const id = agreementId(number);
  const details = {
    ...(random.chance(0.9) && { gateway_account_id: account }),
    reference: random.pick(references),
    ...(random.chance(0.5) && { description: "Monthly permit", user_identifier: random.integer(1, 9) }),
  };
  const confirmed = (agreement_external_id: unknown): Step => [
    "PAYMENT_INSTRUMENT_CONFIRMED",
    { agreement_external_id },
  ];
  const instrument = (index: number): Resource => ({
    type: "payment_instrument",
    id: instrumentId(number, index),
    steps: [
      [
        "PAYMENT_INSTRUMENT_CREATED",
        random.chance(0.8) ? { ...card(random), type: "CARD", address_city: "Lakeside" } : {},
      ],
      confirmed(random.chance(0.05) ? { none: true } : id),
      ...maybe(random, 0.2, () => confirmed(agreementId(Math.max(0, number - 1)))),
    ],
  });
  const steps: Step[] = [["AGREEMENT_CREATED", details], ...randomSteps(random, agreementSteps, 3)];
  const instruments = Array.from({ length: random.integer(0, 3) }, (_, index) => instrument(index));
  return [{ type: "agreement", id, steps }, ...instruments];
}

const metadata = (random: Random) =>
  Object.fromEntries(
    random
      .sample(["branch", "copies", "constructor", "__proto__", "Ключ"], 0.4)
      .map((key) => [key, random.pick([...metadataTexts, 2, true, 1.5, { nested: null }])]),
  );

/** A sum of eleven is not a safe integer of JavaScript. */
const largeAmount = 900_719_925_474_099;

const created = (random: Random, account: string) => ({
  gateway_account_id: /^\d+$/.test(account) && random.chance(0.3) ? Number(account) : account,
  amount: random.chance(0.02) ? largeAmount : integerOrText(random, 1, 500_000),
  reference: random.chance(0.1) ? random.integer(1, 99) : random.pick(references),
  description: random.pick(["Fishing licence", "-5 off", "Parking, zone B"]),
  payment_provider: random.pick(providers),
  ...(random.chance(0.5) && {
    language: "en",
    return_url: "https://service.example/done",
    moto: random.pick([true, false, "true", "false"]),
  }),
  ...(random.chance(0.3) && {
    source: "CARD_API",
    authorisation_mode: random.pick(["web", "moto_api", "agreement", "external"]),
    delayed_capture: "true",
    credential_external_id: "credential",
    agreement_id: random.pick(["agr-1", "agr-2"]),
    agreement_payment_type: "recurring",
  }),
  ...(random.chance(0.3) && { live: random.chance(0.5) }),
  ...(random.chance(0.6) && { external_metadata: metadata(random) }),
});

interface Resource {
  type: string;
  id: string;
  parent?: string;
  steps: Step[];
}

/** The events of one resource in the order of their timestamps, some with equal ones. */
function eventsOf(random: Random, { type, id, parent, steps }: Resource): LedgerEvent[] {
  let time = firstTimestamp(random);
  return steps.map(([event_type, event_details]) => {
    time += random.pick(gaps);
    return {
      resource_type: type,
      resource_external_id: id,
      parent_resource_external_id: parent !== undefined && random.chance(0.8) ? parent : null,
      timestamp: timestampAt(time),
      event_type,
      service_id: random.chance(0.7) ? `service-${random.integer(1, 3)}` : null,
      live: random.chance(0.6) ? random.chance(0.7) : null,
      event_details,
      ...(random.chance(0.2) && { other_members: otherMembers(random) }),
    };
  });
}

/** Producers send the account as a number. */
const otherMembers = (random: Random) => ({
  gateway_account_id: random.pick([57, 58, "59", "account é"]),
  ...(random.chance(0.5) && { unknown_member: { list: [1.5, "é"] } }),
});

const randomSteps = (random: Random, steps: Steps, max: number): Step[] =>
  Array.from({ length: random.integer(0, max) }, () => {
    const [type, details] = random.pick(Object.entries(steps));
    return [type, details(random)];
  });

const maybe = <Item>(random: Random, probability: number, make: () => Item): Item[] =>
  random.chance(probability) ? [make()] : [];

/** The events of one payment, its refunds, its dispute, its payout, and an agreement. */
function eventsOfPayment(random: Random, number: number): LedgerEvent[] {
  const account = random.chance(0.5) ? (accounts[0] as string) : random.pick(accounts);
  const id = paymentId(number);
  const somePayout = () => payoutId(account, random.integer(0, payoutMax));
  const included = (type: string, probability: number) =>
    maybe<Step>(random, probability, () => [
      `${type}_INCLUDED_IN_PAYOUT`,
      { gateway_payout_id: somePayout() },
    ]);
  // The second one moves it to another payout.
  const inPayout = (type: string) => [...included(type, 0.4), ...included(type, 0.1)];
  const childAccount = random.chance(0.03) ? random.pick(accounts) : account;
  const ofChild = () => ({ gateway_account_id: childAccount, amount: random.integer(1, 900) });
  const payment: Resource = {
    type: "payment",
    id,
    steps: [
      ...maybe<Step>(random, 0.9, () => ["PAYMENT_CREATED", created(random, account)]),
      ...randomSteps(random, paymentSteps, 7),
      ...inPayout("PAYMENT"),
    ],
  };
  const refund = (index: number): Resource => ({
    type: "refund",
    id: refundId(number, index),
    parent: random.chance(0.95) ? id : paymentId(number + 10_000_000),
    steps: [
      ["REFUND_CREATED_BY_USER", { ...ofChild(), refunded_by: "user-1", user_email: "clerk@example.org" }],
      ...randomSteps(random, refundSteps, 3),
      ...inPayout("REFUND"),
    ],
  });
  const refunds = [0, 1, 2].slice(0, random.chance(0.4) ? random.integer(1, 3) : 0).map(refund);
  const disputes = maybe<Resource>(random, 0.15, () => {
    const details = {
      ...ofChild(),
      reason: random.pick(["fraudulent", "unrecognized", "unknown reason", " "]),
      evidence_due_date: dateDetail(random),
      ...gatewayTransaction(random),
    };
    const others = [...randomSteps(random, disputeSteps, 2), ...inPayout("DISPUTE")];
    const steps: Step[] = [["DISPUTE_CREATED", details], ...others];
    return { type: "dispute", id: disputeId(number), parent: id, steps };
  });
  const payouts = maybe<Resource>(random, 0.05, () => ({
    type: "payout",
    id: somePayout(),
    steps: randomSteps(random, payoutSteps, 3).map(([eventType, details]) => [
      eventType,
      { ...details, ...(random.chance(0.9) && { gateway_account_id: account }) },
    ]),
  }));
  const others = maybe<Resource>(random, 0.05, () => ({
    type: random.pick(["agreement", "service", "card_payment", "payment_instrument"]),
    id: random.chance(0.5) ? id : `other-${number}`,
    steps: [["SOMETHING_NEW", { gateway_account_id: account }]],
  }));
  const agreements = random.chance(0.15) ? agreementResources(random, number, account) : [];
  return [payment, ...refunds, ...disputes, ...payouts, ...others, ...agreements].flatMap((resource) =>
    eventsOf(random, resource),
  );
}

/** The bodies of invalid messages, each with the reason that its dead letter must have: a text, or other members. */
const invalidBodies: [reason: RegExp, body: (random: Random, event: LedgerEvent) => string | object][] = [
  [/not JSON/, (_, event) => JSON.stringify(event).slice(0, -1)],
  [/object/, (random) => random.pick(["[]", '"text"', "17", "null"])],
  [/timestamp/, (random) => ({ timestamp: random.pick([undefined, "2024-03-05", 17]) })],
  [/resource_type/, () => ({ resource_type: "PAYMENT" })],
  [
    /resource_external_id/,
    (random) => ({ resource_external_id: random.pick([undefined, "", 17, "x".repeat(256)]) }),
  ],
  [/event_type/, (random) => ({ event_type: random.pick([undefined, "", {}]) })],
  [/event_details/, (random) => ({ event_details: random.pick(["text", [], 17]) })],
  [/amount/, (random) => ({ event_details: { amount: random.pick([1.5, "1.5", 1e300, true]) } })],
  [/source/, () => ({ event_details: { source: "CARD_TERMINAL" } })],
  [/nested/, () => ({ event_details: { deep: JSON.parse("[".repeat(150) + "]".repeat(150)) } })],
  [/NUL|surrogate/, (random) => ({ event_details: { email: random.pick(["\u0000", "\ud800"]) } })],
];

/** Generates the messages of each payment in turn, without end. No event is repeated. */
export function* generateMessages(random: Random): Generator<Message[]> {
  const seen = new Set<string>();
  const isNew = (key: string) => !seen.has(key) && seen.add(key) !== undefined;
  for (let number = 0; ; number += 1) {
    const events = eventsOfPayment(random, number).filter((event) => isNew(eventKey(event)));
    const messages: Message[] = events.map((event) => ({
      kind: "event",
      body: encode(random, event),
      event,
    }));
    const [first] = events;
    if (first && random.chance(0.05)) {
      const [reason, make] = random.pick(invalidBodies);
      // A unique id distinguishes it from the other messages.
      const event = { ...first, resource_external_id: `invalid-${number}` };
      const made = make(random, event);
      const body = typeof made === "string" ? made : JSON.stringify({ ...event, ...made });
      messages.push({ kind: "invalid", reason, body });
    }
    if (first && random.chance(0.02)) {
      const resource_external_id = random.pick([first.resource_external_id, `unknown-${number}`]);
      const request = {
        ...first,
        resource_external_id,
        reproject_domain_object: random.pick([true, "true"]),
      };
      messages.push({ kind: "reprojection", body: JSON.stringify(request) });
    }
    yield messages;
  }
}

type EventIdentity = Pick<LedgerEvent, "resource_type" | "resource_external_id" | "timestamp" | "event_type">;

/** The identity of an event. */
export const eventKey = ({ resource_type, resource_external_id, timestamp, event_type }: EventIdentity) =>
  JSON.stringify([resource_type, resource_external_id, timestamp, event_type]);

/** Encodes the event in one of the ways that producers use. */
export function encode(random: Random, event: LedgerEvent): string {
  const orAbsent = (value: unknown) => value ?? random.pick([undefined, null, ""]);
  const { other_members, ...members } = event;
  const message = {
    ...members,
    ...other_members,
    timestamp: encodeTimestamp(random, event.timestamp),
    parent_resource_external_id: orAbsent(event.parent_resource_external_id),
    service_id: orAbsent(event.service_id),
    live: random.pick(event.live === null ? [undefined, null, "null"] : [event.live, String(event.live)]),
    event_details: encodeDetails(random, event.event_details),
    ...(random.chance(0.1) && { empty_member: null }),
    ...(random.chance(0.1) && { reproject_domain_object: random.pick([false, "false", null]) }),
  };
  const body = JSON.stringify(message, undefined, random.pick([undefined, undefined, 2]));
  return random.chance(0.1)
    ? JSON.stringify({ Type: "Notification", MessageId: "1", TopicArn: "arn", Message: body })
    : body;
}

function encodeDetails(random: Random, details: LedgerEvent["event_details"]): unknown {
  if (Object.keys(details).length === 0) return random.pick([{}, null, undefined, { empty: null }]);
  return random.chance(0.1) ? { ...details, empty: null } : details;
}

/** Has more fraction digits than are kept, no trailing zeros, or another time zone. */
function encodeTimestamp(random: Random, timestamp: string): string {
  const plain = timestamp.slice(0, -1);
  const format = random.integer(0, 5);
  if (format === 0) return `${plain}${random.integer(0, 999).toString().padStart(3, "0")}Z`;
  if (format === 1) return `${plain.replace(/\.?0+$/, "")}Z`;
  if (format > 2) return timestamp;
  const hours = random.integer(0, 13);
  const local = new Date(Date.parse(`${plain.slice(0, 19)}Z`) + hours * 3_600_000).toISOString();
  return `${local.slice(0, 19)}${plain.slice(19)}+${String(hours).padStart(2, "0")}:00`;
}
