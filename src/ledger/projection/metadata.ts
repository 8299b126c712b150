import type { Details, EventRow } from "../tables/event.ts";
import type { MetadataKeyRow } from "../tables/metadata-key.ts";
import { scalarText, textOf } from "./details.ts";

/** A value that is longer cannot be searched for. */
const searchedLengthMax = 255;

/** What a payment is found by: each value of its metadata once, as text in lower case; null when there is none. */
export function metadataValuesOf(details: Details): string[] | null {
  const texts = Object.values(metadataOf(details))
    .flatMap((value) => scalarText(value)?.toLowerCase() ?? [])
    .filter((text) => text.length <= searchedLengthMax);
  return texts.length > 0 ? [...new Set(texts)].sort() : null;
}

/**
 * For each account that events of a payment ever named, every metadata key that they ever had, once. More events never
 * make it less, so what is kept of it does not depend on the order either.
 */
export function projectMetadataKeys(events: EventRow[]): MetadataKeyRow[] {
  const payments = events.filter(({ resource_type }) => resource_type === "payment");
  const byPayment = Map.groupBy(payments, ({ resource_external_id }) => resource_external_id);
  const ofPayments = [...byPayment.values()].flatMap((own) => {
    const keys = new Set(own.flatMap(({ event_details }) => Object.keys(metadataOf(event_details))));
    const accounts = new Set(
      own.flatMap(({ event_details }) => textOf(event_details, "gateway_account_id") ?? []),
    );
    return [...accounts].flatMap((gateway_account_id) =>
      [...keys].map((key) => ({ gateway_account_id, key })),
    );
  });
  return [...new Map(ofPayments.map((row) => [JSON.stringify(row), row])).values()];
}

/** A payment's metadata; none is empty. */
export const metadataOf = (details: Details) => (details.external_metadata ?? {}) as Record<string, unknown>;
