import type { operations } from "../../../generated/ledger.ts";
import type { Bytes } from "../../values/bytes.ts";
import { type Currency, toMajorUnits } from "../../values/currency.ts";
import type { Members } from "../../values/json-members.ts";
import type { JsonOutput } from "../../values/json-output.ts";
import { penceOf, textOf } from "../projection/details.ts";
import type { Details } from "../tables/event.ts";
import type { ReportedLine, ReportedTransaction } from "../tables/reported-transaction.ts";
import type { TransactionState, TransactionType } from "../tables/transaction.ts";
import { viewDay } from "./date.ts";
import { detailNames, plainBoolean, plainPence, plainText, reader } from "./details.ts";
import { Reported } from "./reported.ts";
import { csvStateName, viewState } from "./state.ts";

type Query = operations["searchTransactions"]["parameters"]["query"];

export interface CsvOptions
  extends Pick<Query, "columns" | "fee_headers" | "moto_header" | "currency_header">,
    CsvForm {
  /** There is a column for each, unless columns are chosen. */
  metadataKeys: string[];
  /** There is a column for all other keys. */
  hasOtherMetadata: boolean;
}

/** CSV (RFC 4180) with lines that end with a line feed: the header line, and a function for the line of a transaction. */
export function viewCsv(options: CsvOptions, currency: Currency) {
  const columns = columnsOf(options);
  const hasMetadata = columns.some(([, , need]) => need === "metadata");
  const format = csvFormat(options);
  return {
    header: format.header(columns.map(([header]) => header)),
    writeLine(transaction: ReportedTransaction, out: JsonOutput): void {
      const exported = exportedOf(transaction, format, currency, hasMetadata);
      for (const [index, [, cell]] of columns.entries()) {
        if (index > 0) out.ascii(format.separator);
        cell(exported, out);
      }
      out.ascii("\n");
    },
  };
}

/** A transaction that is exported. */
interface ExportedTransaction {
  format: CsvFormat;
  /** The currency of its amounts. */
  currency: Currency;
  reported: Reported;
  type: TransactionType;
  state: TransactionState;
  /** UTC, `2024-03-05 09:14:22` and a fraction. */
  created: string;
  /** Empty if no column shows it. */
  metadata: Record<string, unknown>;
}

const reported = new Reported();
const metadataMember = reader("external_metadata");

function exportedOf(
  transaction: ReportedTransaction,
  format: CsvFormat,
  currency: Currency,
  hasMetadata: boolean,
): ExportedTransaction {
  reported.read(transaction);
  const metadata = hasMetadata ? metadataMember(reported) : undefined;
  return {
    format,
    currency,
    reported,
    type: reported.type,
    state: reported.state,
    created: reported.lineText("created_date"),
    metadata: (metadata ?? {}) as Record<string, unknown>,
  };
}

type Cell = (exported: ExportedTransaction, out: JsonOutput) => void;
/** A column, and what it needs to be in a file that chooses no columns. */
type Column = [header: string, cell: Cell, need?: Need];
type Need = "fee_headers" | "moto_header" | "currency_header" | "metadata" | "choice";

function columnsOf({ columns: chosen, metadataKeys, hasOtherMetadata, ...given }: CsvOptions): Column[] {
  if (chosen) {
    const keys = chosen.flatMap((name) => (name.endsWith(ofMetadata) ? [keyOf(name)] : []));
    return chosen.map((name) =>
      name === otherMetadataName ? otherMetadata(keys) : (columns.get(name) ?? metadataColumn(keyOf(name))),
    );
  }
  const shown = [...columns.values()].filter(
    ([, , need]) => need === undefined || (need in given && given[need as keyof typeof given]),
  );
  const ofOthers = hasOtherMetadata ? [otherMetadata(metadataKeys)] : [];
  return [...shown, ...metadataKeys.map(metadataColumn), ...ofOthers];
}

const [wallet, cardType] = [plainText("wallet"), plainText("card_type")];
const [moto, requires3ds] = [plainBoolean("moto"), plainBoolean("requires_3ds")];
const pence = {
  amount: plainPence("amount"),
  total: plainPence("total_amount"),
  net: plainPence("net_amount"),
  fee: plainPence("fee"),
  surcharge: plainPence("corporate_surcharge"),
};

const ofMetadata = " (metadata)";
const keyOf = (name: string) => name.slice(0, -ofMetadata.length);

const metadataColumn = (key: string): Column => [
  key + ofMetadata,
  only(
    "PAYMENT",
    value(({ metadata }) => textOf(metadata, key)),
  ),
  "metadata",
];

const otherMetadataName = "Other metadata";

/** The metadata without a column of its own, as JSON. */
function otherMetadata(metadataKeys: string[]): Column {
  const known = new Set(metadataKeys);
  const write = value(({ metadata }) => {
    const others = Object.entries(metadata).filter(([key]) => !known.has(key));
    return others.length > 0 ? JSON.stringify(Object.fromEntries(others)) : undefined;
  });
  return [otherMetadataName, only("PAYMENT", write), "metadata"];
}

/** A number is an amount in minor units. A text can contain anything that a payer or producer has written. */
type Value = string | number | undefined;

/** A cell with a value. */
function value(read: (exported: ExportedTransaction) => Value): Cell {
  return (exported, out) => {
    const shown = read(exported);
    const { format } = exported;
    out.text(
      typeof shown === "number" ? format.quote(writeAmount(shown, exported.currency)) : format.cell(shown),
    );
  };
}

function ofDetails(read: (details: Members) => Value) {
  return ({ reported }: ExportedTransaction): Value => read(reported);
}

/** A cell of one type of transaction. */
function only(type: TransactionType, cell: Cell): Cell {
  return (exported, out) => {
    if (exported.type === type) cell(exported, out);
  };
}

/** A cell with a text of the transaction's own details. */
function own(name: keyof Details): Cell {
  const write = textCell(name);
  return ({ reported, format }, out) => write(reported, format, out);
}

/** A cell with a text of the payment's details. */
function ofPayment(name: keyof Details): Cell {
  const write = textCell(name);
  return ({ reported, format }, out) => write(reported.paymentDetails, format, out);
}

/** Copies a text that is safe as it is, as nearly all are. */
function textCell(name: keyof Details): (details: Members, format: CsvFormat, out: JsonOutput) => void {
  const number = detailNames.add(name);
  const read = plainText(name);
  return (details, format, out) => {
    const [start, end] = [details.start(number) + 1, details.end(number) - 1];
    if (start === 1) return;
    if (details.bytes.buffer[start - 1] === quoteByte && isPlain(details.bytes, start, end))
      out.copy(details.bytes, start, end);
    else out.text(format.cell(read(details)));
  };
}

/** Refunds and disputes are negative, except for a dispute that was won. */
function amount({ type, state, reported }: ExportedTransaction): Value {
  const stays = type === "PAYMENT" || (type === "DISPUTE" && state === "WON");
  return stays ? pence.amount(reported) : negated(pence.amount(reported));
}

function totalAmount({ type, state, reported }: ExportedTransaction): Value {
  const total = pence.total(reported) ?? pence.amount(reported);
  if (type === "DISPUTE") return undefined;
  if (type === "REFUND") return negated(total);
  if (state === "SUCCESS") return total;
  return viewState(state, 2).finished ? 0 : undefined;
}

function netAmount({ type, state, reported }: ExportedTransaction): Value {
  const net = pence.net(reported);
  const total = net ?? pence.total(reported) ?? pence.amount(reported);
  if (type === "DISPUTE") return net;
  if (type === "REFUND") return negated(total);
  return state === "SUCCESS" ? total : (net ?? 0);
}

function feePart(type: string): Cell {
  const breakdown = reader("fee_breakdown");
  const part = value(({ reported }) => {
    const parts = breakdown(reported);
    const found = Array.isArray(parts) ? parts.find((one) => one?.fee_type === type) : undefined;
    return found && penceOf(found, "amount");
  });
  return only("PAYMENT", part);
}

/** A cell with the text of a line, if it is not null. */
const ofLine = (nameOf: (type: TransactionType) => ReportedLine) =>
  value(({ type, reported }) => {
    const shown = JSON.parse(reported.lineText(nameOf(type)));
    return shown === null ? undefined : String(shown);
  });

const negated = (pence: number | undefined) => (pence === undefined ? undefined : 0 - pence);

/** `-1234567` pence are `-12,345.67`. */
function writeAmount(amount: number, currency: Currency): string {
  const [whole = "", fraction] = toMajorUnits(amount, currency).split(".");
  const grouped = whole.length <= 3 ? whole : whole.replaceAll(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `05 Mar 2024`, in UTC; undefined for `null`. */
function dateOf(instant: string): string | undefined {
  if (instant === "null") return undefined;
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

/** True for a text without characters that a cell or JSON escapes. Others than ASCII are not looked at more closely. */
function isPlain({ buffer }: Bytes, start: number, end: number): boolean {
  if (formulaBytes.includes(buffer[start] as number)) return false;
  for (let index = start; index < end; index += 1) {
    const byte = buffer[index] as number;
    if (byte >= 0x80 || escapedBytes.includes(byte)) return false;
  }
  return true;
}
const bytesOf = (characters: string) => [...Buffer.from(characters)];
const formulaBytes = bytesOf("=+-@");
const escapedBytes = bytesOf('\\",;');
const [quoteByte] = bytesOf('"');

/** How the cells of a file are separated and quoted. */
export interface CsvForm {
  separator: keyof typeof separators;
  byte_order_mark: boolean;
}
type CsvFormat = ReturnType<typeof csvFormat>;

const separators = { comma: ",", semicolon: ";", tab: "\t" };

export function csvFormat({ separator: name, byte_order_mark }: CsvForm) {
  const separator = separators[name];
  /** Characters that must be quoted. */
  const special = new RegExp(`["${separator}\r\n]`);
  /** Tests for both in one pass, since nearly all texts match neither. A line break is special in any case. */
  const unsafe = new RegExp(`^(?:\t|${start})|[;\t]"*${start}|${special.source}`);
  const quote = (text: string): string => (special.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const cell = (text = ""): string => (unsafe.test(text) ? quote(harmless(text)) : text);
  const line = (cells: string[]): string => `${cells.join(separator)}\n`;
  return {
    separator,
    quote,
    /** The text of a cell. */
    cell,
    line,
    header: (names: string[]): string => (byte_order_mark ? "\uFEFF" : "") + line(names.map(cell)),
  };
}

/** The last line of a CSV that names its position. It is no text that a spreadsheet may change. */
export const viewPositionLine = (position: string | undefined, form: CsvForm): string =>
  csvFormat(form).line(["Ledger-Position", position ?? ""]);

/** The names of all columns, with one for each of these metadata keys and, if there are others, one for all of those. */
export const csvColumnNames = (metadataKeys: string[], hasOtherMetadata: boolean): string[] => [
  ...columns.keys(),
  ...metadataKeys.map((key) => key + ofMetadata),
  ...(hasOtherMetadata ? [otherMetadataName] : []),
];

/** All columns but those of metadata, in their order. */
const columns = new Map<string, Column>(
  (
    [
      ["Reference", ofPayment("reference")],
      ["Description", ofPayment("description")],
      ["Email", ofPayment("email")],
      ["Amount", value(amount)],
      ["Card Brand", ofPayment("card_brand_label")],
      ["Cardholder Name", ofPayment("cardholder_name")],
      ["Card Expiry Date", ofPayment("expiry_date")],
      ["Card Number", ofPayment("last_digits_card_number")],
      ["State", value(({ type, state }) => csvStateName(type, state))],
      ["Finished", value(({ state }) => String(viewState(state, 2).finished))],
      ["Error Code", value(({ state }) => viewState(state, 2).code)],
      ["Error Message", value(({ state }) => viewState(state, 2).message)],
      ["Provider ID", own("gateway_transaction_id")],
      ["GOV.UK Payment ID", ofLine((type) => (type === "PAYMENT" ? "external_id" : "parent_external_id"))],
      ["Issued By", only("REFUND", own("user_email"))],
      ["Date Created", value(({ created }) => dateOf(created))],
      ["Time Created", value(({ created }) => created.slice(11, 19))],
      [
        "Corporate Card Surcharge",
        only("PAYMENT", value(ofDetails((details) => pence.surcharge(details) ?? 0))),
      ],
      ["Total Amount", value(totalAmount)],
      ["Wallet Type", value(({ reported }) => titleCase(wallet(reported.paymentDetails)))],
      [
        "Fee",
        value(({ type, reported }) => (type === "REFUND" ? undefined : pence.fee(reported))),
        "fee_headers",
      ],
      ["Net", value(netAmount), "fee_headers"],
      ["Fee (transaction)", feePart("transaction"), "fee_headers"],
      ["Fee (3DS)", feePart("three_ds"), "fee_headers"],
      ["Fee (fraud protection)", feePart("radar"), "fee_headers"],
      ["Card Type", value(({ reported }) => cardType(reported.paymentDetails)?.toLowerCase())],
      ["MOTO", only("PAYMENT", value(ofDetails((details) => String(moto(details) ?? false)))), "moto_header"],
      ["Payment Provider", only("PAYMENT", own("payment_provider"))],
      [
        "3-D Secure Required",
        only("PAYMENT", value(ofDetails((details) => (requires3ds(details) ? "true" : undefined)))),
      ],
      ["Currency", value(({ currency }) => currency.code), "currency_header"],
      ["Type", value(({ type }) => titleCase(type)), "choice"],
      ["Transaction ID", ofLine(() => "external_id"), "choice"],
      ["Account", ofLine(() => "gateway_account_id"), "choice"],
      ["Live", ofLine(() => "live"), "choice"],
      ["Payout", own("gateway_payout_id"), "choice"],
      ["Settled Date", value(({ reported }) => dateOf(reported.lineText("paid_out_date"))), "choice"],
    ] satisfies Column[]
  ).map((column) => [column[0], column]),
);
