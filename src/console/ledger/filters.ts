import { formatDay } from "../format.ts";
import { listOf, type Search } from "./client.ts";
import { disputeStatuses, paymentStatuses, refundStatuses, statusName } from "./state.tsx";

/** A filter of a search. Its name is that of the parameter, also in the address. */
export interface Filter {
  name: keyof Search & string;
  title: string;
  /** The values of which it has one or, with `isList`, several. Default: any text. */
  options?: readonly string[];
  isList?: boolean;
  /** A way to write a text, which the field shows. */
  placeholder?: string;
  /** A value for people. Default: the value. */
  show?: (value: string) => string;
}

/** The types of transactions, in the plural. */
export const types = new Map([
  ["PAYMENT", "Payments"],
  ["REFUND", "Refunds"],
  ["DISPUTE", "Disputes"],
]);
const day = { placeholder: "2026-03-05", show: (value: string) => formatDayIfValid(value) };
const formatDayIfValid = (value: string) => (/^\d{4}-\d\d-\d\d$/.test(value) ? formatDay(value) : value);
const states = (
  name: "payment_states" | "refund_states" | "dispute_states",
  title: string,
  options: readonly string[],
) => ({ name, title, options, isList: true, show: statusName }) satisfies Filter;

/** The filters of the drawer, in its order. The accounts, the period and the money are in the selection. */
export const filters: Filter[] = [
  {
    name: "transaction_type",
    title: "Type",
    options: [...types.keys()],
    show: (type) => types.get(type) ?? type,
  },
  {
    name: "state",
    title: "State",
    options: [...new Set([...paymentStatuses, ...disputeStatuses])],
    show: statusName,
  },
  { name: "reference", title: "Reference" },
  { name: "email", title: "Email" },
  { name: "cardholder_name", title: "Name on the card" },
  { name: "last_digits_card_number", title: "Last four digits of the card" },
  { name: "first_digits_card_number", title: "First six digits of the card" },
  { name: "card_brands", title: "Card brands", isList: true, placeholder: "visa, master-card" },
  { name: "gateway_transaction_id", title: "Provider's id" },
  { name: "gateway_payout_id", title: "Payout" },
  { name: "agreement_id", title: "Agreement" },
  { name: "metadata_value", title: "Metadata" },
  { name: "from_settled_date", title: "Settled from", ...day },
  { name: "to_settled_date", title: "Settled to", ...day },
  states("payment_states", "Payments in state", paymentStatuses),
  states("refund_states", "Refunds in state", refundStatuses),
  states("dispute_states", "Disputes in state", disputeStatuses),
];

/** A switch that makes `reference` the whole reference. */
export const exactReference = "exact_reference_match";

/** The filters in an address. */
export function filtersIn(parameters: URLSearchParams): Search {
  const given = filters.flatMap(({ name, isList }): [string, unknown][] => {
    const text = parameters.get(name) ?? "";
    const value = isList ? listOf(text) : text;
    return value.length > 0 ? [[name, value]] : [];
  });
  const isExact = parameters.get(exactReference) === "true";
  return Object.fromEntries([...given, ...(isExact ? [[exactReference, true]] : [])]) as Search;
}

/** The filters that a report has too, so that it can add up the same transactions. */
const ofReports = new Set(["transaction_type", "state", "payment_states", "refund_states", "dispute_states"]);
export const isReported = (search: Search): boolean =>
  Object.keys(search).every((name) => ofReports.has(name));

/** What the search box can find by, in the order of its choice. An id leads to one transaction. */
export const kinds = {
  reference: "Reference",
  id: "Id",
  email: "Email",
  last_digits_card_number: "Last four digits",
  gateway_transaction_id: "Provider's id",
  gateway_payout_id: "Payout",
  cardholder_name: "Name on the card",
};
export type Kind = keyof typeof kinds;

/** What a text is most likely meant as. */
export function guessKind(text: string): Kind {
  if (text.includes("@")) return "email";
  if (/^\d{4}$/.test(text)) return "last_digits_card_number";
  if (/^po_|payout/i.test(text)) return "gateway_payout_id";
  if (/^(pi|ch|tr|re|gtx)[_-]/i.test(text) || /^[\da-f]{8}-[\da-f]{4}-/i.test(text))
    return "gateway_transaction_id";
  if (/^(?=.*\d)[a-z\d]{20,}$/.test(text)) return "id";
  return "reference";
}
