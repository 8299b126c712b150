import type { PlacedFault } from "../../contract/faults.ts";
import type { Currency } from "../../values/currency.ts";
import type { DeadLetterRow } from "../tables/dead-letter.ts";
import type { Batch } from "./ingest.ts";
import { type ParsedMessage, readParsed } from "./message.ts";

/** The outcome of a replay: a dead letter is ingested as this batch, sent to its target again, or stays a dead letter. */
export type Plan =
  | { outcome: "stored" | "rebuilt"; batch: Batch }
  | { outcome: "published" }
  | { outcome: "dead_letter"; reason: string; faults: PlacedFault[] };

/** The plan for an open dead letter with this message. */
export function planOf(
  { id, target }: Pick<DeadLetterRow, "id" | "target">,
  parsed: ParsedMessage,
  currency: Currency,
): Plan {
  if (target !== null) return { outcome: "published" };
  const message = readParsed(parsed, currency);
  const batch = { events: [], rebuilds: [], deadLetters: [], replayed: [id] };
  if (message.kind === "invalid")
    return { outcome: "dead_letter", reason: message.reason, faults: message.faults };
  return message.kind === "event"
    ? { outcome: "stored", batch: { ...batch, events: [message.event] } }
    : { outcome: "rebuilt", batch: { ...batch, rebuilds: [message.externalId] } };
}
