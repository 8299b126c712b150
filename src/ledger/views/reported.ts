import { Bytes } from "../../values/bytes.ts";
import { Members } from "../../values/json-members.ts";
import { type Writer, writer } from "../../values/json-writer.ts";
import {
  type ReportedLine,
  type ReportedTransaction,
  reportedLines,
} from "../tables/reported-transaction.ts";
import type { TransactionState, TransactionType } from "../tables/transaction.ts";
import { detailNames } from "./details.ts";
import type { StatusVersion } from "./state.ts";

const lineFeed = 0x0a;
/** The first character of `null`. No other JSON value begins so. */
const firstOfNull = 0x6e;
/** Bytes that are kept for the next transactions. Larger ones are rare. */
const keptBytes = 2 ** 16;

const numberOf = (line: ReportedLine) => reportedLines.indexOf(line);
const [detailsLine, paymentLine] = [numberOf("details"), numberOf("payment_details")];

/** The members of the details of a reported transaction, with its lines. */
export class Reported extends Members {
  /** The details of the payment of a refund or dispute. */
  readonly payment = new Members(detailNames);
  version: StatusVersion = 2;
  readonly #kept = new Bytes(keptBytes);
  readonly #starts = new Int32Array(reportedLines.length);

  constructor() {
    super(detailNames);
  }

  /** Reads the next transaction. Nothing else of the one before can be read then. */
  read(transaction: ReportedTransaction, version: StatusVersion = 2): this {
    const bytesMax = 3 * transaction.length;
    this.version = version;
    const bytes = bytesMax > keptBytes ? new Bytes(bytesMax) : this.#kept;
    const { buffer } = bytes;
    buffer.write(transaction);
    let start = 0;
    for (let line = 0; line < detailsLine; line += 1) {
      this.#starts[line] = start;
      while (buffer[start] !== lineFeed) start += 1;
      start += 1;
    }
    this.#starts[detailsLine] = start;
    start = this.find(bytes, start) + 1;
    this.#starts[paymentLine] = start;
    if (this.hasLine(paymentLine)) this.payment.find(bytes, start);
    else this.payment.clear();
    return this;
  }

  lineStart(line: number): number {
    return this.#starts[line] as number;
  }

  lineEnd(line: number): number {
    return this.lineStart(line + 1) - 1;
  }

  hasLine(line: number): boolean {
    return this.bytes.buffer[this.lineStart(line)] !== firstOfNull;
  }

  lineText(name: ReportedLine): string {
    const line = numberOf(name);
    return this.bytes.buffer.toString("utf8", this.lineStart(line), this.lineEnd(line));
  }

  get type(): TransactionType {
    return this.lineText("transaction_type") as TransactionType;
  }

  get state(): TransactionState {
    return this.lineText("state") as TransactionState;
  }

  /** The details of the payment: its own for a payment. */
  get paymentDetails(): Members {
    return this.hasLine(paymentLine) ? this.payment : this;
  }
}

/** Copies a line of JSON that is not null. */
export function line<Value>(name: ReportedLine): Writer<Reported, Value, boolean> {
  const number = numberOf(name);
  return writer((reported, out) => {
    if (!reported.hasLine(number)) return false;
    out.copy(reported.bytes, reported.lineStart(number), reported.lineEnd(number));
    return true;
  });
}

/** Copies a line of JSON that is never null. */
export const presentLine = <Value>(name: ReportedLine) => line<Value>(name) as Writer<Reported, Value>;

/** The lengths of `2024-03-05` and `2024-03-05 09:14:22`. */
const [dayLength, secondsLength] = [10, 19];
const [zero, nine, point] = [0x30, 0x39, 0x2e];

/** Writes an instant, truncated to the millisecond. */
export function millisecondsLine(name: ReportedLine): Writer<Reported, string> {
  const number = numberOf(name);
  return writer((reported, out) => {
    const { bytes } = reported;
    const start = reported.lineStart(number);
    out.ascii('"');
    out.copy(bytes, start, start + dayLength);
    out.ascii("T");
    out.copy(bytes, start + dayLength + 1, start + secondsLength);
    out.ascii(".");
    let index = start + secondsLength;
    // Without a fraction the UTC offset follows.
    if (bytes.buffer[index] === point) index += 1;
    for (let digits = 0; digits < 3; digits += 1) {
      const byte = bytes.buffer[index] as number;
      const isDigit = byte >= zero && byte <= nine;
      if (isDigit) out.copy(bytes, index, index + 1);
      else out.ascii("0");
      if (isDigit) index += 1;
    }
    out.ascii('Z"');
    return true;
  });
}

/** Writes the day of an instant, if there is one. */
export function dayLine(name: ReportedLine): Writer<Reported, string, boolean> {
  const number = numberOf(name);
  return writer((reported, out) => {
    if (!reported.hasLine(number)) return false;
    const start = reported.lineStart(number);
    out.ascii('"');
    out.copy(reported.bytes, start, start + dayLength);
    out.ascii('"');
    return true;
  });
}
