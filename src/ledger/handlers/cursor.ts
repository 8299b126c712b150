import { readInstant } from "../../values/instant.ts";
import { parseJson } from "../../values/json.ts";
import { isStorable } from "../database/database.ts";
import type { Position } from "../tables/search.ts";

/** Where a page begins, and what is told on every page that is reached from the same first one. */
export interface Cursor extends Position {
  page: number;
  total: number;
}

/** A text for callers to hand back; they need not understand it. */
export const writeCursor = ({ created_date, external_id, newest_event_id, page, total }: Cursor): string =>
  Buffer.from(JSON.stringify([created_date, external_id, String(newest_event_id), page, total])).toString(
    "base64url",
  );

/** What the text says; undefined when it is none that `writeCursor` makes: it leads to a second page at the earliest. */
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
