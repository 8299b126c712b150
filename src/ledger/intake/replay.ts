import { isUtf8 } from "node:buffer";
import { parseExactly } from "../../values/exact-json.ts";
import type { DeadLetterRow } from "../tables/dead-letter.ts";
import type { Batch } from "./ingest.ts";
import { parseMessage, readMessage } from "./message.ts";

/** What a replay makes of a dead letter: it is ingested as this batch, or stays a dead letter. */
export type Plan =
  | { outcome: "stored" | "rebuilt"; batch: Batch }
  | { outcome: "dead_letter"; reason: string };

/** The plan for an open dead letter, whose body was read if it has at most 1 MiB. */
export function planOf({ id, body }: Pick<DeadLetterRow, "id" | "body">): Plan {
  const stay = (reason: string): Plan => ({ outcome: "dead_letter", reason });
  if (body === null) return stay("the message is larger than 1 MiB");
  if (!isUtf8(body)) return stay("the message is not valid UTF-8");
  const message = readMessage(Buffer.from(body).toString());
  const batch = { events: [], rebuilds: [], deadLetters: [], replayed: [id] };
  if (message.kind === "invalid") return stay(message.reason);
  return message.kind === "event"
    ? { outcome: "stored", batch: { ...batch, events: [message.event] } }
    : { outcome: "rebuilt", batch: { ...batch, rebuilds: [message.externalId] } };
}

/**
 * The value of the message of a dead letter, with exact numbers, without an envelope. Undefined if it is not JSON or exceeds
 * a limit of messages.
 */
export function messageIn({ body }: Pick<DeadLetterRow, "body">): { value: unknown } | undefined {
  if (body === null || !isUtf8(body)) return undefined;
  const message = parseMessage(Buffer.from(body).toString());
  return typeof message === "string" ? undefined : { value: parseExactly(message.text, message.value) };
}
