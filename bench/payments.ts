import { randomBytes } from "node:crypto";
import { type Details, messagesAbout } from "../testing/event-messages.ts";

/** The events of one round of ingestion. */
export interface Workload {
  /** Number of new payments, of 3 events each. */
  payments: number;
  order: EventOrder;
}

/**
 * `adjacent`: the events of a payment follow each other. `interleaved`: all payments are created before the first is
 * paid, as with many payers at the same time, so a batch has one event of each of its payments.
 */
export type EventOrder = "adjacent" | "interleaved";

/** The messages of new payments, as producers write them. */
export function messagesOf({ payments, order }: Workload): string[] {
  const all = Array.from({ length: payments }, (_, index) => messagesOfPayment(index));
  if (order === "adjacent") return all.flat();
  return [0, 1, 2].flatMap((step) => all.map((messages) => messages[step] as string));
}

function messagesOfPayment(index: number): string[] {
  const resource = {
    ...{ resource_type: "payment" as const, resource_external_id: randomBytes(13).toString("hex") },
    ...{ service_id: `service-${index % 100}`, live: true },
  };
  const created: Details = {
    ...{ gateway_account_id: String(index % 100), amount: 1000 + (index % 9000), reference: `LIC-${index}` },
    ...{ description: "Fishing licence", language: "en", source: "CARD_API", payment_provider: "sandbox" },
    external_metadata: { branch: `branch ${index % 20}`, copies: 2 },
  };
  const entered: Details = {
    ...{ email: `angler${index}@example.org`, cardholder_name: `Angler ${index}`, expiry_date: "11/29" },
    ...{ card_type: "DEBIT", card_brand: "visa", card_brand_label: "Visa" },
    first_digits_card_number: "424242",
    last_digits_card_number: String(index % 10_000).padStart(4, "0"),
    gateway_transaction_id: `gtx-${index}`,
  };
  const captured = { captured_date: "2024-03-05T10:00:00.000000Z", fee: 60, net_amount: 940 };
  const microseconds = String(index % 1_000_000).padStart(6, "0");
  return messagesAbout(resource, "2024-03-05", [
    [`09:14:22.${microseconds}`, "PAYMENT_CREATED", created],
    [`09:16:40.${microseconds}`, "PAYMENT_DETAILS_ENTERED", entered],
    [`10:00:00.${microseconds}`, "CAPTURE_CONFIRMED", captured],
  ]).map((message) => JSON.stringify(message));
}
