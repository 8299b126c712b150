import { type Input, requiredText } from "./protocol/input.ts";
import { SqsError } from "./protocol/sqs-error.ts";

/** One delivery of a message: its number and id, and which delivery of it this is, from 1 on. */
export interface Receipt {
  number: number;
  id: string;
  received: number;
}

export const receiptHandleOf = ({ number, id, received }: Receipt) =>
  Buffer.from(`${number} ${received} ${id}`).toString("base64url");

/** The receipt in a request. Throws an `SqsError` if it is no receipt handle of this queue. */
export function readReceipt(input: Input): Receipt {
  const handle = Buffer.from(requiredText(input, "ReceiptHandle"), "base64url").toString("latin1");
  const [, number, received, id] = /^(\d{1,15}) (\d{1,15}) ([\da-f-]{36})$/.exec(handle) ?? [];
  if (id === undefined) throw new SqsError("ReceiptHandleIsInvalid", "The input receipt handle is invalid.");
  return { number: Number(number), id, received: Number(received) };
}
