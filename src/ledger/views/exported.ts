import { readTimestamp } from "../../values/timestamp.ts";
import { penceOf } from "../projection/details.ts";
import type { WholeEvent } from "../tables/event.ts";
import type { FoundPayout } from "../tables/payout.ts";
import type { ReportedLine } from "../tables/reported-transaction.ts";
import { plainPence, plainText } from "./details.ts";
import { viewPayout } from "./payout.ts";
import type { Reported } from "./reported.ts";
import { viewState } from "./state.ts";

/** The types of the columns of an export. An instant is text in UTC with six fraction digits, and JSON is text. */
export interface ColumnTypes {
  text: string;
  json: string;
  instant: string;
  boolean: boolean;
  integer: bigint;
}

/** A column of an export, by its type. */
export type Column<Row> = {
  [Type in keyof ColumnTypes]: {
    name: string;
    type: Type;
    read(row: Row): ColumnTypes[Type] | null;
  };
}[keyof ColumnTypes];

const pence = (name: Parameters<typeof plainPence>[0]) => {
  const read = plainPence(name);
  return (reported: Reported) => {
    const amount = read(reported);
    return amount === undefined ? null : BigInt(amount);
  };
};
const amount = pence("amount");
const totalAmount = pence("total_amount");

/** The type of a transaction, its status and its amounts, for sums. */
export const transactionSums = (reported: Reported) => ({
  group: [reported.type, viewState(reported.state, 2).status],
  sums: [amount(reported) ?? 0n, totalAmount(reported) ?? 0n],
});

const textLine = (name: ReportedLine) => (reported: Reported) => {
  const json = reported.lineText(name);
  if (json === "null") return null;
  return json.includes("\\") ? (JSON.parse(json) as string) : json.slice(1, -1);
};
const instantLine = (name: ReportedLine) => (reported: Reported) => {
  const text = reported.lineText(name);
  return text === "null" ? null : readTimestamp(text);
};
const ownText = (name: Parameters<typeof plainText>[0]) => {
  const read = plainText(name);
  return (reported: Reported) => read(reported) ?? null;
};

export const transactionColumns: Column<Reported>[] = [
  { name: "transaction_id", type: "text", read: textLine("external_id") },
  { name: "transaction_type", type: "text", read: ({ type }) => type },
  { name: "parent_transaction_id", type: "text", read: textLine("parent_external_id") },
  { name: "gateway_account_id", type: "text", read: textLine("gateway_account_id") },
  { name: "service_id", type: "text", read: textLine("service_id") },
  {
    name: "live",
    type: "boolean",
    read: (reported) => JSON.parse(reported.lineText("live")) as boolean | null,
  },
  { name: "state", type: "text", read: ({ state }) => viewState(state, 2).status },
  { name: "created_date", type: "instant", read: instantLine("created_date") },
  { name: "amount", type: "integer", read: amount },
  { name: "total_amount", type: "integer", read: totalAmount },
  { name: "fee", type: "integer", read: pence("fee") },
  { name: "net_amount", type: "integer", read: pence("net_amount") },
  { name: "reference", type: "text", read: ownText("reference") },
  { name: "gateway_transaction_id", type: "text", read: ownText("gateway_transaction_id") },
  { name: "gateway_payout_id", type: "text", read: ownText("gateway_payout_id") },
  { name: "paid_out_date", type: "instant", read: instantLine("paid_out_date") },
  { name: "details", type: "json", read: (reported) => reported.lineText("details") },
];

export const eventColumns: Column<WholeEvent>[] = [
  { name: "event_id", type: "integer", read: ({ id }) => id },
  { name: "timestamp", type: "instant", read: ({ timestamp }) => timestamp },
  { name: "event_type", type: "text", read: ({ event_type }) => event_type },
  { name: "resource_type", type: "text", read: ({ resource_type }) => resource_type },
  { name: "resource_external_id", type: "text", read: (event) => event.resource_external_id },
  { name: "parent_resource_external_id", type: "text", read: (event) => event.parent_resource_external_id },
  { name: "service_id", type: "text", read: ({ service_id }) => service_id },
  { name: "live", type: "boolean", read: ({ live }) => live },
  { name: "event_details", type: "json", read: ({ event_details }) => event_details },
];

const payoutAmount = ({ details }: FoundPayout) => BigInt(penceOf(details, "amount") ?? 0);

/** The status of a payout and its amount, for sums. */
export const payoutSums = (payout: FoundPayout) => ({
  group: [viewPayout(payout).state.status],
  sums: [payoutAmount(payout)],
});

export const payoutColumns: Column<FoundPayout>[] = [
  { name: "gateway_payout_id", type: "text", read: (payout) => payout.gateway_payout_id },
  { name: "gateway_account_id", type: "text", read: (payout) => payout.gateway_account_id },
  { name: "service_id", type: "text", read: ({ service_id }) => service_id },
  { name: "live", type: "boolean", read: ({ live }) => live },
  { name: "state", type: "text", read: (payout) => viewPayout(payout).state.status },
  { name: "created_date", type: "instant", read: ({ created_date }) => created_date },
  { name: "paid_out_date", type: "instant", read: ({ paid_out_date }) => paid_out_date },
  { name: "amount", type: "integer", read: payoutAmount },
];
