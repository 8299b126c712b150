import type { Details } from "../tables/event.ts";
import { foldStateOf } from "../tables/fold-state.ts";
import type { MetadataKeyRow } from "../tables/metadata-key.ts";
import { redacted } from "../tables/redaction.ts";
import { scalarText } from "./details.ts";

/** Longer values cannot be searched. */
const searchLengthMax = 255;

/** The metadata values of a payment for searches: text in lower case, without duplicates; null if there are none. */
export function metadataValuesOf(details: Details): string[] | null {
  const texts = Object.values(metadataOf(details))
    .flatMap((value) => scalarText(value)?.toLowerCase() ?? [])
    .filter((text) => text.length <= searchLengthMax && text !== redacted.toLowerCase());
  return texts.length > 0 ? [...new Set(texts)].sort() : null;
}

type Row = Parameters<typeof foldStateOf>[0];

/**
 * For each account that events of a payment have ever named, every metadata key that they have ever had. More events only
 * add keys, so the result does not depend on their order.
 */
export const metadataKeysOf = (rows: Row[]): MetadataKeyRow[] => [...keysById(rows).values()];

/** The keys of these rows that the rows before did not have. */
export function newMetadataKeys(rows: Row[], before: Row[]): MetadataKeyRow[] {
  const known = keysById(before);
  return [...keysById(rows)].flatMap(([id, row]) => (known.has(id) ? [] : row));
}

function keysById(rows: Row[]): Map<string, MetadataKeyRow> {
  const ofRows = rows.flatMap((row) => {
    const { accounts = [], metadata_keys = [] } = foldStateOf(row) ?? {};
    return accounts.flatMap((gateway_account_id) =>
      metadata_keys.map((key) => ({ gateway_account_id, key })),
    );
  });
  return new Map(ofRows.map((row) => [JSON.stringify(row), row]));
}

/** The metadata of a payment; empty if there is none. */
export const metadataOf = (details: Details) => (details.external_metadata ?? {}) as Record<string, unknown>;
