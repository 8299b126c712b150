import type { Details, EventRow } from "../tables/event.ts";
import type { MetadataKeyRow } from "../tables/metadata-key.ts";
import type { TransactionRow } from "../tables/transaction.ts";

/** A value that is longer cannot be searched for. */
const searchedLengthMax = 255;

/** What a payment is found by: each value of its metadata once, as text in lower case; null when there is none. */
export function metadataValuesOf(details: Details): string[] | null {
  const texts = Object.values(metadataOf(details))
    .filter((value) => ["string", "number", "boolean"].includes(typeof value))
    .map((value) => String(value).toLowerCase())
    .filter((text) => text.length <= searchedLengthMax);
  return texts.length > 0 ? [...new Set(texts)].sort() : null;
}

/** The metadata keys that any event of these payments ever had, by the account the payment belongs to. */
export function projectMetadataKeys(events: EventRow[], transactions: TransactionRow[]): MetadataKeyRow[] {
  const accounts = new Map(
    transactions
      .filter(({ transaction_type }) => transaction_type === "PAYMENT")
      .map(({ external_id, gateway_account_id }) => [external_id, gateway_account_id]),
  );
  return events.flatMap(({ resource_external_id, event_details }) => {
    const gateway_account_id = accounts.get(resource_external_id);
    if (!gateway_account_id) return [];
    return Object.keys(metadataOf(event_details)).map((key) => ({ gateway_account_id, key }));
  });
}

const metadataOf = (details: Details) => (details.external_metadata ?? {}) as Details;
