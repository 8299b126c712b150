import type { Details } from "../tables/event.ts";
import { foldedOf } from "../tables/folded.ts";
import type { MetadataKeyRow } from "../tables/metadata-key.ts";
import { scalarText } from "./details.ts";

/** A value that is longer cannot be searched for. */
const searchedLengthMax = 255;

/** What a payment is found by: each value of its metadata once, as text in lower case; null when there is none. */
export function metadataValuesOf(details: Details): string[] | null {
  const texts = Object.values(metadataOf(details))
    .flatMap((value) => scalarText(value)?.toLowerCase() ?? [])
    .filter((text) => text.length <= searchedLengthMax);
  return texts.length > 0 ? [...new Set(texts)].sort() : null;
}

/** What a row says of the metadata of its payment. */
type Row = Parameters<typeof foldedOf>[0];

/**
 * For each account that events of a payment ever named, every metadata key that they ever had, once. More events never
 * make it less, so what is kept of it does not depend on the order either.
 */
export const metadataKeysOf = (rows: Row[]): MetadataKeyRow[] => [...keysById(rows).values()];

/** Those that rows have now, and none of the rows had before. */
export function newMetadataKeys(rows: Row[], before: Row[]): MetadataKeyRow[] {
  const known = keysById(before);
  return [...keysById(rows)].flatMap(([id, row]) => (known.has(id) ? [] : row));
}

function keysById(rows: Row[]): Map<string, MetadataKeyRow> {
  const ofRows = rows.flatMap((row) => {
    const { accounts = [], metadata_keys = [] } = foldedOf(row) ?? {};
    return accounts.flatMap((gateway_account_id) =>
      metadata_keys.map((key) => ({ gateway_account_id, key })),
    );
  });
  return new Map(ofRows.map((row) => [JSON.stringify(row), row]));
}

/** A payment's metadata; none is empty. */
export const metadataOf = (details: Details) => (details.external_metadata ?? {}) as Record<string, unknown>;
