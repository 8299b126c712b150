import type { components } from "../../../generated/features.ts";
import { parseJson } from "../../values/json.ts";
import type { ResourceChange } from "../store/change-many.ts";
import type { Entry, EntryKey } from "../store/store.ts";
import { expiryOf, viewExpiry } from "./expiry.ts";

type Schemas = components["schemas"];

/** An entry as the contract shows it. */
export const viewEntry = ({ resource, id, feature, expiresAt }: Entry): Schemas["Entry"] => ({
  resource,
  id,
  feature,
  ...viewExpiry(expiresAt),
});

/** The change of the store for a change of the contract. */
export function readChange(change: Schemas["FeatureChange"]): ResourceChange {
  const { type, resource, id, feature, expires_at } = change;
  const names = { resource, id, feature };
  return type === "add" ? { type, ...names, expiresAt: expiryOf(expires_at) } : { type, ...names };
}

/** The name before a cursor of a list of names. */
export const readNameCursor = (cursor: string | undefined): string | undefined =>
  cursor && Buffer.from(cursor, "base64url").toString();

/** The cursor after a name of a list of names, if more follow. */
export const viewNameCursor = (name: string | undefined) =>
  name === undefined ? {} : { next_cursor: Buffer.from(name).toString("base64url") };

/** The cursor after an entry of a list of entries. */
export const writeCursor = ({ feature, id }: EntryKey): string =>
  Buffer.from(JSON.stringify([feature, id])).toString("base64url");

/** The entry before a cursor; undefined if the text is no cursor. */
export function readCursor(cursor: string): EntryKey | undefined {
  const names = parseJson(Buffer.from(cursor, "base64url").toString());
  const [feature, id, ...more] = Array.isArray(names) ? names : [];
  const isValid = typeof feature === "string" && typeof id === "string" && more.length === 0;
  return isValid ? { feature, id } : undefined;
}
