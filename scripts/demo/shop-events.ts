import { type EventMessage, messagesAbout, type Step } from "../../testing/event-messages.ts";

/** The account of the shop. */
export const shopAccount = "demo-shop";

const daysShown = 30;
const dayMs = 86_400_000;
const service = { service_id: "demo-shop-service", live: true };
const account = { gateway_account_id: shopAccount };

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
  ...Array<End>(15).fill("success"),
  ...(["declined", "declined", "timedout", "cancelled", "error", "refunded"] as const),
];
type End = "success" | "declined" | "timedout" | "cancelled" | "error" | "refunded";

/** A payment of the shop, and what its payout contains of it. */
interface Sale {
  messages: EventMessage[];
  settledPence: number;
}

/**
 * The events of a shop in the 30 days until now, and a payout for the payments of each day that is over. One payout does
 * not add up. The events of a day are the same whenever this is called.
 */
export function shopEvents(now: Date): EventMessage[] {
  const days = Array.from({ length: daysShown }, (_, index) => dayBefore(now, daysShown - 1 - index));
  const upToNow = ({ timestamp }: EventMessage) => Date.parse(timestamp) <= now.getTime();
  return days.flatMap(eventsOfDay).filter(upToNow);
}

const dayBefore = (now: Date, days: number) =>
  new Date(now.getTime() - days * dayMs).toISOString().slice(0, 10);

function eventsOfDay(day: string): EventMessage[] {
  const dayNumber = Date.parse(day) / dayMs;
  const isWeekend = [2, 3].includes(dayNumber % 7);
  const count = (isWeekend ? 14 : 7) + ((dayNumber * 5) % 6);
  const sales = Array.from({ length: count }, (_, index) => sale(day, dayNumber, index, count));
  const settledPence = sales.reduce((sum, { settledPence: own }) => sum + own, 0);
  const mistakePence = dayNumber % 10 === 4 ? 500 : 0;
  const nextDay = new Date((dayNumber + 1) * dayMs).toISOString().slice(0, 10);
  const payout = { resource_type: "payout", resource_external_id: payoutOf(day), ...service } as const;
  return [
    ...sales.flatMap(({ messages }) => messages),
    ...messagesAbout(payout, nextDay, [
      ["04:00", "PAYOUT_CREATED", { amount: settledPence - mistakePence, ...account }],
      ["05:30", "PAYOUT_PAID", { paid_out_date: `${nextDay}T05:30:00.000000Z` }],
    ]),
  ];
}

const payoutOf = (day: string) => `demo-shop-payout-${day}`;

function sale(day: string, dayNumber: number, index: number, count: number): Sale {
  const id = `demo-shop-${day}-${index + 1}`;
  const choice = dayNumber * 31 + index * 17;
  const { amount, description } = goods[choice % goods.length] as (typeof goods)[number];
  const payer = payers[choice % payers.length];
  const end = ends[choice % ends.length] as End;
  const time = (minutes: number) => clock((9 * 60 * index) / count + 8 * 60 + minutes);
  const card = {
    ...payer,
    ...{ card_type: "CREDIT", card_brand: "visa", card_brand_label: "Visa" },
    expiry_date: "11/29",
  };
  const fee = Math.round(amount * 0.015) + 20;
  const created = {
    ...{ amount, description, reference: `SHOP-${dayNumber}-${index + 1}` },
    ...{ payment_provider: "sandbox", language: "en", source: "CARD_API" as const, ...account },
  };
  const captured = { captured_date: `${day}T${time(60)}:00.000000Z`, fee, net_amount: amount - fee };
  const refunded = { refund_status: "full", refund_amount_available: 0, refund_amount_refunded: amount };
  const entered: Step[] = [
    [time(1), "PAYMENT_STARTED"],
    [time(3), "PAYMENT_DETAILS_ENTERED", card],
  ];
  const paid: Step[] = [
    ...entered,
    [time(4), "AUTHORISATION_SUCCEEDED", { gateway_transaction_id: `gtx-${id}` }],
    [time(5), "USER_APPROVED_FOR_CAPTURE"],
    [time(60), "CAPTURE_CONFIRMED", captured],
    ["23:50", "PAYMENT_INCLUDED_IN_PAYOUT", { gateway_payout_id: payoutOf(day) }],
  ];
  const steps: Record<End, Step[]> = {
    success: paid,
    refunded: [...paid, [time(95), "REFUND_AVAILABILITY_UPDATED", refunded]],
    declined: [...entered, [time(4), "AUTHORISATION_REJECTED"]],
    timedout: [
      [time(1), "PAYMENT_STARTED"],
      [time(90), "PAYMENT_EXPIRED"],
    ],
    cancelled: [...entered, [time(4), "CANCELLED_BY_USER"]],
    error: [...entered, [time(4), "GATEWAY_TIMEOUT_DURING_AUTHORISATION"]],
  };
  const payment = { resource_type: "payment", resource_external_id: id, ...service } as const;
  const parent = { parent_resource_external_id: id, ...service };
  const refund = { resource_type: "refund", resource_external_id: `${id}-refund`, ...parent } as const;
  const stepsOfRefund: Step[] = [
    [time(90), "REFUND_CREATED_BY_USER", { amount, user_email: "clerk@example.org", ...account }],
    [time(91), "REFUND_SUBMITTED"],
    [time(94), "REFUND_SUCCEEDED"],
    ["23:50", "REFUND_INCLUDED_IN_PAYOUT", { gateway_payout_id: payoutOf(day) }],
  ];
  const settled: Partial<Record<End, number>> = { success: amount - fee, refunded: -fee };
  return {
    messages: [
      ...messagesAbout(payment, day, [[time(0), "PAYMENT_CREATED", created], ...steps[end]]),
      ...(end === "refunded" ? messagesAbout(refund, day, stepsOfRefund) : []),
    ],
    settledPence: settled[end] ?? 0,
  };
}

/** A time of day, such as `09:05`, from its minutes. */
function clock(minutes: number): string {
  const whole = Math.floor(minutes);
  return [Math.floor(whole / 60), whole % 60].map((part) => String(part).padStart(2, "0")).join(":");
}
