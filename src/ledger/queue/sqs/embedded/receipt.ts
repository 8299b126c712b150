/** One delivery of a message: its number and id, and which delivery of it this is, from 1 on. */
export interface Receipt {
  number: number;
  id: string;
  received: number;
}

export const receiptHandleOf = ({ number, id, received }: Receipt) =>
  Buffer.from(`${number} ${received} ${id}`).toString("base64url");

/** Undefined if the text is no receipt handle of this queue. */
export function readReceiptHandle(text: string): Receipt | undefined {
  const [, number, received, id] =
    /^(\d{1,15}) (\d{1,15}) ([\da-f-]{36})$/.exec(Buffer.from(text, "base64url").toString("latin1")) ?? [];
  return id === undefined ? undefined : { number: Number(number), id, received: Number(received) };
}
