import type { components } from "../../../generated/ledger.ts";
import { booleanOf, penceOf, textOf } from "../projection/details.ts";
import type { Details } from "../tables/event.ts";
import type { ReportedTransaction } from "../tables/reported-transaction.ts";
import { viewCardDetails } from "./card.ts";
import { viewDay, viewMilliseconds, viewProducerDay, viewProducerInstant } from "./date.ts";
import { type StatusVersion, viewState } from "./state.ts";

type Schemas = components["schemas"];

/** A transaction as callers see it. Undefined members are not sent. */
export const viewTransaction = (
  row: ReportedTransaction,
  version: StatusVersion,
): Schemas["TransactionView"] => views[row.transaction_type](row, version);

const views = { PAYMENT: viewPayment, REFUND: viewRefund, DISPUTE: viewDispute };

export function viewPayment(row: ReportedTransaction, version: StatusVersion): Schemas["Payment"] {
  const { details } = row;
  const text = (name: keyof Details) => textOf(details, name);
  const pence = (name: keyof Details) => penceOf(details, name);
  return {
    transaction_id: row.external_id,
    transaction_type: "PAYMENT",
    gateway_account_id: row.gateway_account_id ?? undefined,
    service_id: row.service_id ?? undefined,
    credential_external_id: text("credential_external_id"),
    amount: pence("amount"),
    total_amount: pence("total_amount"),
    corporate_card_surcharge: pence("corporate_surcharge"),
    fee: pence("fee"),
    net_amount: pence("net_amount"),
    state: { ...viewState(row.state, version), can_retry: booleanOf(details, "can_retry") },
    description: text("description"),
    reference: text("reference"),
    language: text("language"),
    return_url: text("return_url"),
    email: text("email"),
    payment_provider: text("payment_provider"),
    created_date: viewMilliseconds(row.created_date),
    card_details: viewCardDetails(details, { brand: "card_brand_label", hasAddress: true }),
    exemption: viewExemption(details),
    delayed_capture: booleanOf(details, "delayed_capture") ?? false,
    gateway_transaction_id: text("gateway_transaction_id"),
    refund_summary: viewRefundSummary(details),
    settlement_summary: {
      capture_submit_time: viewProducerInstant(details, "capture_submitted_date") ?? null,
      captured_date: viewProducerDay(details, "captured_date") ?? null,
      ...viewSettlement(row),
    },
    authorisation_summary: viewAuthorisation(details),
    metadata: details.external_metadata as Schemas["Payment"]["metadata"],
    moto: booleanOf(details, "moto") ?? false,
    live: row.live ?? undefined,
    source: details.source as Schemas["Source"] | undefined,
    wallet_type: text("wallet"),
    gateway_payout_id: text("gateway_payout_id"),
    authorisation_mode: (details.authorisation_mode as Schemas["AuthorisationMode"] | undefined) ?? "web",
    agreement_id: text("agreement_id"),
    agreement_payment_type: text("agreement_payment_type"),
    disputed: booleanOf(details, "disputed") ?? false,
  };
}

function viewChild(row: ReportedTransaction, version: StatusVersion) {
  return {
    transaction_id: row.external_id,
    parent_transaction_id: row.parent_external_id ?? undefined,
    gateway_account_id: row.gateway_account_id ?? undefined,
    service_id: row.service_id ?? undefined,
    amount: penceOf(row.details, "amount"),
    state: viewState(row.state, version),
    created_date: viewMilliseconds(row.created_date),
    gateway_transaction_id: textOf(row.details, "gateway_transaction_id"),
    settlement_summary: viewSettlement(row),
    live: row.live ?? undefined,
  };
}

/** A transaction is settled when its payout is paid. */
const viewSettlement = ({ paid_out_date: paidOut }: ReportedTransaction): Schemas["SettlementSummary"] => ({
  settled_date: paidOut === null ? undefined : viewDay(paidOut),
});

function viewRefund(row: ReportedTransaction, version: StatusVersion): Schemas["Refund"] {
  const payment = row.payment_details ?? {};
  return {
    ...viewChild(row, version),
    transaction_type: "REFUND",
    refunded_by: textOf(row.details, "refunded_by"),
    refunded_by_user_email: textOf(row.details, "user_email"),
    gateway_payout_id: textOf(row.details, "gateway_payout_id"),
    payment_details: {
      ...viewPaymentDetails(payment),
      wallet_type: textOf(payment, "wallet"),
    },
  };
}

function viewDispute(row: ReportedTransaction, version: StatusVersion): Schemas["Dispute"] {
  return {
    ...viewChild(row, version),
    transaction_type: "DISPUTE",
    fee: penceOf(row.details, "fee"),
    net_amount: penceOf(row.details, "net_amount"),
    payment_details: viewPaymentDetails(row.payment_details ?? {}),
    evidence_due_date: viewProducerInstant(row.details, "evidence_due_date"),
    reason: viewReason(textOf(row.details, "reason")),
  };
}

function viewPaymentDetails(payment: Details): Schemas["PaymentDetails"] {
  return {
    description: textOf(payment, "description"),
    reference: textOf(payment, "reference"),
    email: textOf(payment, "email"),
    // Always there: pages of alphagov/pay-selfservice fail without it. That ledger shows no refund before its payment.
    card_details: viewCardDetails(payment, { brand: "card_brand_label", hasAddress: false }) ?? {
      card_brand: "",
    },
    transaction_type: "PAYMENT",
  };
}

/** Providers without refunds, whatever the events contain. */
const withoutRefunds = new Set(["epdq", "smartpay"]);

function viewRefundSummary(details: Details): Schemas["RefundSummary"] | undefined {
  const status = textOf(details, "refund_status");
  const available = penceOf(details, "refund_amount_available");
  const refunded = penceOf(details, "refund_amount_refunded");
  if (status === undefined && available === undefined && refunded === undefined) return undefined;
  const provider = textOf(details, "payment_provider")?.toLowerCase() ?? "";
  return {
    status: withoutRefunds.has(provider) ? "unavailable" : (status ?? null),
    user_external_id: null,
    amount_available: available ?? null,
    amount_submitted: refunded ?? null,
    amount_refunded: refunded ?? null,
  };
}

const exemptionResults: Record<string, NonNullable<Schemas["Exemption"]["outcome"]>["result"]> = {
  EXEMPTION_HONOURED: "honoured",
  EXEMPTION_REJECTED: "rejected",
  EXEMPTION_OUT_OF_SCOPE: "out of scope",
};

function viewExemption(details: Details): Schemas["Exemption"] | undefined {
  const outcome = textOf(details, "exemption3ds");
  const requested = textOf(details, "exemption_3ds_requested");
  if (outcome === "EXEMPTION_NOT_REQUESTED") return { requested: false };
  if (outcome === undefined && requested === undefined) return undefined;
  const result = outcome === undefined ? undefined : exemptionResults[outcome];
  return {
    requested: true,
    type: requested === "CORPORATE" ? "corporate" : undefined,
    outcome: result && { result },
  };
}

function viewAuthorisation(details: Details): Schemas["AuthorisationSummary"] | undefined {
  const required = booleanOf(details, "requires_3ds");
  const version = textOf(details, "version_3ds");
  if (required === undefined && version === undefined) return undefined;
  return { three_d_secure: { required: required ?? false, version } };
}

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

function viewReason(reason: string | undefined): Reason | undefined {
  if (reason === undefined || reason.trim() === "") return undefined;
  return (Object.hasOwn(reasons, reason) ? reasons[reason] : undefined) ?? "other";
}
