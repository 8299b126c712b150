import type { components } from "../../../generated/ledger.ts";
import type { Members } from "../../values/json-members.ts";
import {
  constantWriter,
  type MemberWriters,
  noWriter,
  objectWriter,
  orElse,
  valueWriter,
  type Writer,
  writer,
} from "../../values/json-writer.ts";
import type { ReportedTransaction } from "../tables/reported-transaction.ts";
import { cardWriter } from "./card.ts";
import { boolean, day, member, milliseconds, pence, plainText, text } from "./details.ts";
import { dayLine, line, millisecondsLine, presentLine, Reported } from "./reported.ts";
import { type StatusVersion, stateJson } from "./state.ts";

type Schemas = components["schemas"];

/** Writes transactions as callers see them. */
export function transactionWriter(
  version: StatusVersion,
): Writer<ReportedTransaction, Schemas["TransactionView"]> {
  return writer((transaction, out) => reportedWriter(shown.read(transaction, version), out));
}

/** Writes transactions that were read. */
export const reportedWriter = writer<Reported, Schemas["TransactionView"]>((reported, out) =>
  writers[reported.type](reported, out),
);

/** Writes a payment as callers see it. */
export const paymentWriter = writer<ReportedTransaction, Schemas["Payment"]>((transaction, out) =>
  payment(shown.read(transaction), out),
);

/** The transaction that is written. */
const shown = new Reported();

/** Writes from the details of the payment. */
const ofPayment = <Value, Written extends boolean>(write: Writer<Members, Value, Written>) =>
  writer<Reported, Value, Written>(({ payment }, out) => write(payment, out));

const none = constantWriter(null);
const no = constantWriter(false);

const state = writer<Reported, Schemas["TransactionState"]>(({ state, version }, out) => {
  out.copy(stateJson(state, version));
  return true;
});

const canRetry = boolean("can_retry");

const paymentState = writer<Reported, Schemas["TransactionState"]>((reported, out) => {
  state(reported, out);
  const length = out.length - "}".length;
  out.cutTo(length);
  out.ascii(',"can_retry":');
  if (!canRetry(reported, out)) out.cutTo(length);
  out.ascii("}");
  return true;
});

/** Writes for details that have one of these members. */
const ifAny = <Value>(members: Writer<Members, unknown, boolean>[], write: Writer<Members, Value>) =>
  writer<Members, Value, boolean>((details, out) => {
    const { length } = out;
    const isAny = members.some((one) => one(details, out));
    out.cutTo(length);
    return isAny && write(details, out);
  });

const authorisation = ifAny(
  [boolean("requires_3ds"), text("version_3ds")],
  objectWriter<Members, Schemas["AuthorisationSummary"]>({
    three_d_secure: objectWriter<Members, NonNullable<Schemas["AuthorisationSummary"]["three_d_secure"]>>({
      required: orElse(boolean("requires_3ds"), no),
      version: text("version_3ds"),
    }),
  }),
);

/** Providers without refunds, whatever the events contain. */
const withoutRefunds = new Set(["epdq", "smartpay"]);
const provider = plainText("payment_provider");
const unavailable = writer<Members, "unavailable", boolean>((details, out) => {
  const isUnavailable = withoutRefunds.has(provider(details)?.toLowerCase() ?? "");
  if (isUnavailable) out.ascii('"unavailable"');
  return isUnavailable;
});
const refunded = orElse(pence("refund_amount_refunded"), none);

const refundSummary = ifAny(
  [text("refund_status"), pence("refund_amount_available"), pence("refund_amount_refunded")],
  objectWriter<Members, Schemas["RefundSummary"]>({
    status: orElse(unavailable, orElse(text("refund_status"), none)),
    user_external_id: none,
    amount_available: orElse(pence("refund_amount_available"), none),
    amount_submitted: refunded,
    amount_refunded: refunded,
  }),
);

const exemptionResults: Record<string, NonNullable<Schemas["Exemption"]["outcome"]>["result"]> = {
  EXEMPTION_HONOURED: "honoured",
  EXEMPTION_REJECTED: "rejected",
  EXEMPTION_OUT_OF_SCOPE: "out of scope",
};
const readExemption = { outcome: plainText("exemption3ds"), requested: plainText("exemption_3ds_requested") };

const exemption = valueWriter((details: Members): Schemas["Exemption"] | undefined => {
  const outcome = readExemption.outcome(details);
  const requested = readExemption.requested(details);
  if (outcome === "EXEMPTION_NOT_REQUESTED") return { requested: false };
  if (outcome === undefined && requested === undefined) return undefined;
  const result = outcome === undefined ? undefined : exemptionResults[outcome];
  return {
    requested: true,
    type: requested === "CORPORATE" ? "corporate" : undefined,
    outcome: result && { result },
  };
});

const created = millisecondsLine("created_date");
/** A transaction is settled when its payout is paid. */
const settled = dayLine("paid_out_date");

const payment = objectWriter<Reported, Schemas["Payment"]>({
  transaction_id: presentLine("external_id"),
  transaction_type: constantWriter("PAYMENT"),
  gateway_account_id: line("gateway_account_id"),
  service_id: line("service_id"),
  credential_external_id: text("credential_external_id"),
  amount: pence("amount"),
  total_amount: pence("total_amount"),
  corporate_card_surcharge: pence("corporate_surcharge"),
  fee: pence("fee"),
  net_amount: pence("net_amount"),
  state: paymentState,
  description: text("description"),
  reference: text("reference"),
  language: text("language"),
  return_url: text("return_url"),
  email: text("email"),
  payment_provider: text("payment_provider"),
  created_date: created,
  card_details: cardWriter({ brand: "card_brand_label", hasAddress: true }),
  exemption: exemption,
  delayed_capture: orElse(boolean("delayed_capture"), no),
  gateway_transaction_id: text("gateway_transaction_id"),
  refund_summary: refundSummary,
  settlement_summary: objectWriter<Reported, Schemas["PaymentSettlementSummary"]>({
    capture_submit_time: orElse(milliseconds("capture_submitted_date"), none),
    captured_date: orElse(day("captured_date"), none),
    settled_date: settled,
  }),
  authorisation_summary: authorisation,
  metadata: member("external_metadata"),
  moto: orElse(boolean("moto"), no),
  live: line("live"),
  source: member("source"),
  wallet_type: text("wallet"),
  gateway_payout_id: text("gateway_payout_id"),
  authorisation_mode: orElse(
    member<Schemas["AuthorisationMode"]>("authorisation_mode"),
    constantWriter("web"),
  ),
  agreement_id: text("agreement_id"),
  agreement_payment_type: text("agreement_payment_type"),
  disputed: orElse(boolean("disputed"), no),
});

const childMembers = {
  transaction_id: presentLine<string>("external_id"),
  parent_transaction_id: line<string>("parent_external_id"),
  gateway_account_id: line<string>("gateway_account_id"),
  service_id: line<string>("service_id"),
  amount: pence("amount"),
  state,
  created_date: created,
  gateway_transaction_id: text("gateway_transaction_id"),
  settlement_summary: objectWriter<Reported, Schemas["SettlementSummary"]>({ settled_date: settled }),
  live: line<boolean>("live"),
};

const paymentMembers: MemberWriters<Reported, Omit<Schemas["PaymentDetails"], "wallet_type">> = {
  description: ofPayment(text("description")),
  reference: ofPayment(text("reference")),
  email: ofPayment(text("email")),
  // Always there: pages of alphagov/pay-selfservice fail without it. That ledger shows no refund before its payment.
  card_details: ofPayment(
    orElse(cardWriter({ brand: "card_brand_label", hasAddress: false }), constantWriter({ card_brand: "" })),
  ),
  transaction_type: constantWriter("PAYMENT"),
};

const refund = objectWriter<Reported, Schemas["Refund"]>({
  ...childMembers,
  transaction_type: constantWriter("REFUND"),
  refunded_by: text("refunded_by"),
  refunded_by_user_email: text("user_email"),
  gateway_payout_id: text("gateway_payout_id"),
  payment_details: objectWriter<Reported, Schemas["PaymentDetails"]>({
    ...paymentMembers,
    wallet_type: ofPayment(text("wallet")),
  }),
});

type Reason = NonNullable<Schemas["Dispute"]["reason"]>;
const reasons: Record<string, Reason> = {
  credit_not_processed: "credit_not_processed",
  duplicate: "duplicate",
  fraudulent: "fraudulent",
  general: "general",
  product_not_received: "product_not_received",
  product_unacceptable: "product_unacceptable",
  subscription_canceled: "subscription_canceled",
  unrecognized: "unrecognised",
};
const readReason = plainText("reason");

const reason = valueWriter((details: Members): Reason | undefined => {
  const given = readReason(details);
  if (given === undefined || given.trim() === "") return undefined;
  return (Object.hasOwn(reasons, given) ? reasons[given] : undefined) ?? "other";
});

const dispute = objectWriter<Reported, Schemas["Dispute"]>({
  ...childMembers,
  transaction_type: constantWriter("DISPUTE"),
  fee: pence("fee"),
  net_amount: pence("net_amount"),
  payment_details: objectWriter<Reported, Schemas["PaymentDetails"]>({
    ...paymentMembers,
    wallet_type: noWriter,
  }),
  evidence_due_date: milliseconds("evidence_due_date"),
  reason: reason,
});

const writers = { PAYMENT: payment, REFUND: refund, DISPUTE: dispute };
