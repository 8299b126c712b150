import { type EventMessage, messagesAbout, type Step } from "../../testing/event-messages.ts";

/** A shop: its account, and whether its money is real. */
interface Shop {
  account: { gateway_account_id: string };
  service: { service_id: string; live: boolean };
}
const shop: Shop = {
  account: { gateway_account_id: "demo-shop" },
  service: { service_id: "demo-shop-service", live: true },
};
const trialShop: Shop = {
  account: { gateway_account_id: "demo-shop-test" },
  service: { service_id: "demo-shop-service", live: false },
};
/** The accounts of the shop: one with real money, and one with test money. */
export const shopAccounts = [shop, trialShop].map(({ account }) => account.gateway_account_id);

/** So that the last month has one before it. */
const daysShown = 93;
const trialDaysShown = 7;
const dayMs = 86_400_000;

const goods = [
  { description: "Season ticket", amount: 12_900 },
  { description: "Day ticket", amount: 1450 },
  { description: "Guided walk", amount: 2400 },
  { description: "Map", amount: 895 },
  { description: "Group visit", amount: 48_000 },
];
const payers = [
  { cardholder_name: "J. Fisher", email: "fisher@example.org", last_digits_card_number: "4242" },
  { cardholder_name: "M. Rivers", email: "rivers@example.org", last_digits_card_number: "1881" },
  { cardholder_name: "P. Lake", email: "lake@example.org", last_digits_card_number: "5100" },
];
/** How payments end. Most succeed. */
const ends = [
  ...Array<End>(14).fill("success"),
  ...(["declined", "declined", "timedout", "cancelled", "error", "refunded", "refusedRefund"] as const),
];
type End =
  | "success"
  | "declined"
  | "timedout"
  | "cancelled"
  | "error"
  | "refunded"
  | "refusedRefund"
  | "disputed";
/** The provider's words for a payment that it declines. */
const reasons = ["Insufficient funds", "The card has expired", "Do not honour"];

/** A payment of the shop, and what its payout contains of it. */
interface Sale {
  messages: EventMessage[];
  settledPence: number;
}

/**
 * The events of a shop in the three months until now, and a payout for the payments of each day that is over. A payout in ten
 * does not add up, every fourth day has a disputed payment, and half of the refunds are refused. The last week has payments
 * with test money too. The events of a day are the same whenever this is called.
 */
export function shopEvents(now: Date): EventMessage[] {
  const daysOf = (length: number) => Array.from({ length }, (_, index) => dayBefore(now, length - 1 - index));
  const upToNow = ({ timestamp }: EventMessage) => Date.parse(timestamp) <= now.getTime();
  return [
    ...daysOf(daysShown).flatMap((day) => eventsOfDay(day, shop)),
    ...daysOf(trialDaysShown).flatMap((day) => eventsOfDay(day, trialShop)),
  ].filter(upToNow);
}

const dayBefore = (now: Date, days: number) =>
  new Date(now.getTime() - days * dayMs).toISOString().slice(0, 10);

function eventsOfDay(day: string, ofShop: Shop): EventMessage[] {
  const { account, service } = ofShop;
  const dayNumber = Date.parse(day) / dayMs;
  const isWeekend = [2, 3].includes(dayNumber % 7);
  const usual = service.live ? (isWeekend ? 14 : 7) + ((dayNumber * 5) % 6) : 2;
  const count = dayNumber % 30 < 15 ? usual : usual + 2;
  const sales = Array.from({ length: count }, (_, index) => sale(ofShop, day, dayNumber, index, count));
  const settledPence = sales.reduce((sum, { settledPence: own }) => sum + own, 0);
  const mistakePence = dayNumber % 10 === 4 ? 500 : 0;
  const nextDay = dayOf(dayNumber + 1);
  const payout = {
    resource_type: "payout",
    resource_external_id: payoutOf(ofShop, day),
    ...service,
  } as const;
  return [
    ...sales.flatMap(({ messages }) => messages),
    ...messagesAbout(payout, nextDay, [
      ["04:00", "PAYOUT_CREATED", { amount: settledPence - mistakePence, ...account }],
      ["05:30", "PAYOUT_PAID", { paid_out_date: `${nextDay}T05:30:00.000000Z` }],
    ]),
  ];
}

/** The day with this number since 1970. */
const dayOf = (number: number) => new Date(number * dayMs).toISOString().slice(0, 10);

const payoutOf = ({ account }: Shop, day: string) => `${account.gateway_account_id}-payout-${day}`;

function sale(ofShop: Shop, day: string, dayNumber: number, index: number, count: number): Sale {
  const { account, service } = ofShop;
  const id = `${account.gateway_account_id}-${day}-${index + 1}`;
  const choice = dayNumber * 31 + index * 17;
  const { amount, description } = goods[choice % goods.length] as (typeof goods)[number];
  const isDisputed = dayNumber % 4 === 0 && index === 2;
  const end = isDisputed ? "disputed" : (ends[choice % ends.length] as End);
  const time = (minutes: number) => clock((9 * 60 * index) / count + 8 * 60 + minutes);
  const fee = Math.round(amount * 0.015) + 20;
  const inPayout = { gateway_payout_id: payoutOf(ofShop, day) };
  const created = {
    ...{ amount, description, reference: `SHOP-${dayNumber}-${index + 1}` },
    ...{ payment_provider: "sandbox", language: "en", source: "CARD_API" as const, ...account },
  };
  const captured = { captured_date: `${day}T${time(60)}:00.000000Z`, fee, net_amount: amount - fee };
  const refunded = { refund_status: "full", refund_amount_available: 0, refund_amount_refunded: amount };
  const entered: Step[] = [
    [time(1), "PAYMENT_STARTED"],
    [time(3), "PAYMENT_DETAILS_ENTERED", { ...payers[choice % payers.length], ...card }],
  ];
  const paid: Step[] = [
    ...entered,
    [time(4), "AUTHORISATION_SUCCEEDED", { gateway_transaction_id: `gtx-${id}` }],
    [time(5), "USER_APPROVED_FOR_CAPTURE"],
    [time(60), "CAPTURE_CONFIRMED", captured],
    ["23:50", "PAYMENT_INCLUDED_IN_PAYOUT", inPayout],
  ];
  const words = { gateway_rejection_reason: reasons[choice % reasons.length] };
  const steps: Record<End, Step[]> = {
    success: paid,
    refunded: [...paid, [time(95), "REFUND_AVAILABILITY_UPDATED", refunded]],
    refusedRefund: paid,
    disputed: [...paid, ["23:55", "PAYMENT_DISPUTED", { disputed: true }]],
    declined: [...entered, [time(4), "AUTHORISATION_REJECTED", words]],
    timedout: [
      [time(1), "PAYMENT_STARTED"],
      [time(90), "PAYMENT_EXPIRED"],
    ],
    cancelled: [...entered, [time(4), "CANCELLED_BY_USER"]],
    error: [...entered, [time(4), "GATEWAY_TIMEOUT_DURING_AUTHORISATION"]],
  };
  const payment = { resource_type: "payment", resource_external_id: id, ...service } as const;
  const refund = {
    ...{ resource_type: "refund" as const, resource_external_id: `${id}-refund` },
    ...{ parent_resource_external_id: id, ...service },
  } as const;
  const refundUpTo = (...last: Step[]) =>
    messagesAbout(refund, day, [
      [time(90), "REFUND_CREATED_BY_USER", { amount, user_email: "clerk@example.org", ...account }],
      [time(91), "REFUND_SUBMITTED"],
      ...last,
    ]);
  const children: Partial<Record<End, EventMessage[]>> = {
    refunded: refundUpTo([time(94), "REFUND_SUCCEEDED"], ["23:50", "REFUND_INCLUDED_IN_PAYOUT", inPayout]),
    refusedRefund: refundUpTo([time(94), "REFUND_ERROR"]),
    disputed: disputeEvents(ofShop, id, dayNumber, amount),
  };
  const isPaid = steps[end].includes(paid[4] as Step);
  return {
    messages: [
      ...messagesAbout(payment, day, [[time(0), "PAYMENT_CREATED", created], ...steps[end]]),
      ...(children[end] ?? []),
    ],
    settledPence: (isPaid ? amount - fee : 0) - (end === "refunded" ? amount : 0),
  };
}

const card = {
  card_type: "CREDIT",
  card_brand: "visa",
  card_brand_label: "Visa",
  expiry_date: "11/29",
} as const;

/** A dispute begins a day after its payment, awaits evidence for two weeks, and is then won or lost. */
function disputeEvents({ account, service }: Shop, payment: string, dayNumber: number, amount: number) {
  const dispute = {
    ...{ resource_type: "dispute" as const, resource_external_id: `${payment}-dispute` },
    ...{ parent_resource_external_id: payment, ...service },
  } as const;
  const created = {
    amount,
    reason: "unrecognized",
    evidence_due_date: `${dayOf(dayNumber + 14)}T22:59:59.000000Z`,
  };
  const lost = { fee: 1500, net_amount: -amount - 1500 };
  const ended: Step = dayNumber % 8 === 0 ? ["10:00", "DISPUTE_LOST", lost] : ["10:00", "DISPUTE_WON"];
  return [
    ...messagesAbout(dispute, dayOf(dayNumber + 1), [
      ["09:00", "DISPUTE_CREATED", { ...created, ...account }],
    ]),
    ...messagesAbout(dispute, dayOf(dayNumber + 15), [ended]),
  ];
}

/** A time of day, such as `09:05`, from its minutes. */
function clock(minutes: number): string {
  const whole = Math.floor(minutes);
  return [Math.floor(whole / 60), whole % 60].map((part) => String(part).padStart(2, "0")).join(":");
}
