import { readInstant } from "../../values/instant.ts";
import { parseJson } from "../../values/json.ts";
import { isStorable } from "../database/database.ts";
import type { Position } from "../tables/search.ts";

/** The position of a page, its number, and the total of the first page. */
export interface Cursor extends Position {
  page: number;
  total: number;
}

/** The text is opaque to callers. */
export const writeCursor = ({ created_date, external_id, newest_event_id, page, total }: Cursor): string =>
  Buffer.from(JSON.stringify([created_date, external_id, String(newest_event_id), page, total])).toString(
    "base64url",
  );

/** Parses a cursor. Undefined if `writeCursor` has not written it; the first page has no cursor. */
export function readCursor(text: string): Cursor | undefined {
  const members = parseJson(Buffer.from(text, "base64url").toString());
  if (!Array.isArray(members) || members.length !== 5) return undefined;
  const [created_date, external_id, newest, page, total] = members;
  const isCursor =
    typeof created_date === "string" &&
    readInstant(created_date) === created_date &&
    typeof external_id === "string" &&
    isStorable(external_id) &&
    typeof newest === "string" &&
    /^[1-9]\d{0,17}$/.test(newest) &&
    Number.isSafeInteger(page) &&
    page >= 2 &&
    Number.isSafeInteger(total) &&
    total >= 1;
  if (!isCursor) return undefined;
  const cursor = { created_date, external_id, newest_event_id: BigInt(newest), page, total };
  return writeCursor(cursor) === text ? cursor : undefined;
}
