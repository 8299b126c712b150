import { booleanOf, penceOf, textOf } from "../projection/details.ts";
import { metadataOf } from "../projection/metadata.ts";
import type { Details } from "../tables/event.ts";
import type { ReportedTransaction } from "../tables/reported-transaction.ts";
import type { TransactionType } from "../tables/transaction.ts";
import { viewDay } from "./date.ts";
import { csvStateName, viewState } from "./state.ts";

export interface CsvOptions {
  feeHeaders: boolean;
  motoHeader: boolean;
  /** There is a column for each. */
  metadataKeys: string[];
  /** There is a column for all other keys. */
  hasOtherMetadata: boolean;
}

/** CSV (RFC 4180) with lines that end with a line feed: the header line, and a function for the line of a transaction. */
export function viewCsv(options: CsvOptions) {
  const columns = columnsOf(options);
  return {
    header: writeLine(columns.map(([header]) => writeCell(header))),
    line: (row: ReportedTransaction): string => writeLine(columns.map(([, cell]) => writeCell(cell(row)))),
  };
}

/** A number is an amount in pence. A text can contain anything that a payer or producer has written. */
type Value = string | number | undefined;
type Cell = (row: ReportedTransaction) => Value;
type Column = [header: string, cell: Cell];

const columnsOf = ({ feeHeaders, motoHeader, metadataKeys, hasOtherMetadata }: CsvOptions): Column[] => [
  ["Reference", shown("reference")],
  ["Description", shown("description")],
  ["Email", shown("email")],
  ["Amount", amount],
  ["Card Brand", shown("card_brand_label")],
  ["Cardholder Name", shown("cardholder_name")],
  ["Card Expiry Date", shown("expiry_date")],
  ["Card Number", shown("last_digits_card_number")],
  ["State", ({ transaction_type, state }) => csvStateName(transaction_type, state)],
  ["Finished", ({ state }) => String(viewState(state, 2).finished)],
  ["Error Code", ({ state }) => viewState(state, 2).code],
  ["Error Message", ({ state }) => viewState(state, 2).message],
  ["Provider ID", ({ details }) => textOf(details, "gateway_transaction_id")],
  ["GOV.UK Payment ID", paymentId],
  ["Issued By", of("REFUND", ({ details }) => textOf(details, "user_email"))],
  ["Date Created", ({ created_date }) => dateOf(created_date)],
  ["Time Created", ({ created_date }) => created_date.slice(11, 19)],
  ["Corporate Card Surcharge", of("PAYMENT", ({ details }) => penceOf(details, "corporate_surcharge") ?? 0)],
  ["Total Amount", totalAmount],
  ["Wallet Type", (row) => titleCase(textOf(shownDetails(row), "wallet"))],
  ...(feeHeaders ? feeColumns : []),
  ["Card Type", (row) => textOf(shownDetails(row), "card_type")?.toLowerCase()],
  ...(motoHeader ? [motoColumn] : []),
  ["Payment Provider", of("PAYMENT", ({ details }) => textOf(details, "payment_provider"))],
  [
    "3-D Secure Required",
    of("PAYMENT", ({ details }) => (booleanOf(details, "requires_3ds") ? "true" : undefined)),
  ],
  ...metadataKeys.map(
    (key): Column => [`${key} (metadata)`, of("PAYMENT", ({ details }) => textOf(metadataOf(details), key))],
  ),
  ...(hasOtherMetadata ? [otherMetadata(metadataKeys)] : []),
];

/** The metadata without a column of its own, as JSON. */
function otherMetadata(metadataKeys: string[]): Column {
  const known = new Set(metadataKeys);
  const write = ({ details }: ReportedTransaction) => {
    const others = Object.entries(metadataOf(details)).filter(([key]) => !known.has(key));
    return others.length > 0 ? JSON.stringify(Object.fromEntries(others)) : undefined;
  };
  return ["Other metadata", of("PAYMENT", write)];
}

const feeColumns: Column[] = [
  ["Fee", (row) => (row.transaction_type === "REFUND" ? undefined : penceOf(row.details, "fee"))],
  ["Net", netAmount],
  ["Fee (transaction)", feePart("transaction")],
  ["Fee (3DS)", feePart("three_ds")],
  ["Fee (fraud protection)", feePart("radar")],
];

const motoColumn: Column = [
  "MOTO",
  of("PAYMENT", ({ details }) => String(booleanOf(details, "moto") ?? false)),
];

/** The details of the payment, on refunds and disputes too. */
const shownDetails = ({ details, payment_details }: ReportedTransaction): Details =>
  payment_details ?? details;

function shown(name: keyof Details): Cell {
  return (row) => textOf(shownDetails(row), name);
}

/** A cell of one type of transaction. */
function of(type: TransactionType, cell: Cell): Cell {
  return (row) => (row.transaction_type === type ? cell(row) : undefined);
}

/** Refunds and disputes are negative, except for a dispute that was won. */
function amount({ transaction_type, state, details }: ReportedTransaction): Value {
  const pence = penceOf(details, "amount");
  const stays = transaction_type === "PAYMENT" || (transaction_type === "DISPUTE" && state === "WON");
  return stays ? pence : negated(pence);
}

function totalAmount({ transaction_type, state, details }: ReportedTransaction): Value {
  const total = penceOf(details, "total_amount") ?? penceOf(details, "amount");
  if (transaction_type === "DISPUTE") return undefined;
  if (transaction_type === "REFUND") return negated(total);
  if (state === "SUCCESS") return total;
  return viewState(state, 2).finished ? 0 : undefined;
}

function netAmount({ transaction_type, state, details }: ReportedTransaction): Value {
  const net = penceOf(details, "net_amount");
  const total = net ?? penceOf(details, "total_amount") ?? penceOf(details, "amount");
  if (transaction_type === "DISPUTE") return net;
  if (transaction_type === "REFUND") return negated(total);
  return state === "SUCCESS" ? total : (net ?? 0);
}

function feePart(type: string): Cell {
  return of("PAYMENT", ({ details: { fee_breakdown: parts } }) => {
    const part = Array.isArray(parts) ? parts.find((one) => one?.fee_type === type) : undefined;
    return part && penceOf(part, "amount");
  });
}

const paymentId: Cell = ({ transaction_type, external_id, parent_external_id }) =>
  transaction_type === "PAYMENT" ? external_id : (parent_external_id ?? undefined);

const negated = (pence: number | undefined) => (pence === undefined ? undefined : 0 - pence);

/** `-1234567` pence are `-12,345.67`. */
function pounds(pence: number): string {
  const digits = String(Math.abs(pence)).padStart(3, "0");
  const whole = digits.slice(0, -2);
  const grouped = whole.length <= 3 ? whole : whole.replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return `${pence < 0 ? "-" : ""}${grouped}.${digits.slice(-2)}`;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `05 Mar 2024`, in UTC. */
function dateOf(instant: string): string {
  const [year, month, day] = viewDay(instant).split("-");
  return `${day} ${months[Number(month) - 1]} ${year}`;
}

/** `APPLE_PAY` is `Apple Pay`. */
const titleCase = (text: string | undefined) =>
  text
    ?.split("_")
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase())
    .join(" ");

/** The characters with which a formula begins, with the full-width forms of `= + - @`. */
const start = "[=+\\-@\\uFF1D\\uFF0B\\uFF0D\\uFF20]";

/**
 * The places where a spreadsheet could read a formula (OWASP, CSV Injection): the beginning of a cell, and a character at
 * which another cell can begin. A spreadsheet that takes semicolons or tabs for separators ignores the quotes of a cell that
 * does not begin a line. A `'` there makes it text.
 */
const formulas = new RegExp(`^(?=[\\t\\r\\n])|(?=${start})(?<=^|[;\\t\\r\\n]"*)`, "g");
const harmless = (text: string): string => text.replaceAll(formulas, "'");

/** Characters that must be quoted. */
const special = /[",\r\n]/;
const quote = (text: string): string => (special.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Tests for both in one pass, since nearly all texts match neither. A line break is special in any case. */
const unsafe = new RegExp(`^(?:\\t|${start})|[;\\t]"*${start}|${special.source}`);

/** The text of a cell. A number is an amount in pence, which is shown in pounds. */
export function writeCell(value: Value = ""): string {
  if (typeof value === "number") return quote(pounds(value));
  return unsafe.test(value) ? quote(harmless(value)) : value;
}

export const writeLine = (cells: string[]): string => `${cells.join(",")}\n`;
