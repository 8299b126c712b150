import type { TaggedParts } from "../../http/entity-tag.ts";
import { listBody } from "../../http/json-body.ts";
import type { Writer } from "../../values/json-writer.ts";
import type { PageLimits, Position } from "../tables/page.ts";
import { lastPage, viewLinkHeader, viewPageLinks } from "../views/links.ts";
import { type Cursors, randomText } from "./cursor.ts";
import { pageMissing, unknownCursor, wrong } from "./failures.ts";
import { pageBytesMax } from "./lanes.ts";

/** The limits of a page of a list that is read by cursors only. */
export const listLimits: PageLimits = { countMax: 200, bytesMax: pageBytesMax };

type Extension = { extended?: boolean | undefined; cursor?: string | undefined };

/** What can be searched, page by page. */
export interface Search<Row> {
  /** The parameters besides the page, as links have them. Empty if they are in a body. */
  filters: [name: string, value: unknown][];
  /** A greater `display_size` counts as this. */
  displaySizeMax: number;
  /** Where counting stops. Default: never. */
  countMax?: number | undefined;
  /** A page of the rows after a position, the position of the next page, if there is one, and the total, if it is known. */
  rows(
    after: Position | undefined,
    limits: PageLimits & { offset: number },
  ): Promise<{ rows: Row[]; next: Position | undefined; total?: number | undefined }>;
  /** The number of all matches up to a maximum. */
  count(max: number): Promise<number>;
}

/** Reads a page by its number or by a cursor. Returns it with its links and headers, or the error of the request. */
export async function readPage<Row>(
  { url, query }: { url: string; query: { page: number; display_size: number } & Extension },
  cursors: Cursors["page"],
  { filters, displaySizeMax, countMax = Number.POSITIVE_INFINITY, ...search }: Search<Row>,
) {
  const cursor = cursors.read(query.cursor);
  if (cursor === null) return unknownCursor;
  if (cursor && query.page !== 1) return cursorAndPage;
  const isLimited = countMax !== Number.POSITIVE_INFINITY;
  const displaySize = Math.min(query.display_size, displaySizeMax);
  const page = cursor?.page ?? query.page;
  const offset = cursor ? 0 : (page - 1) * displaySize;
  const limits = { offset, countMax: displaySize, bytesMax: pageBytesMax };
  const { rows, next, total: known } = await search.rows(cursor, limits);
  // The last page shows how many matches there are; counting them could take long.
  const isEnd = !next && (rows.length > 0 || offset === 0);
  const count = async () => (isEnd ? offset + rows.length : (known ?? (await search.count(countMax))));
  const total = cursor?.total ?? Math.min(await count(), countMax);
  const isBeyondLast = page > lastPage(total, displaySize) && total > 0;
  if (isBeyondLast && !cursor && !isLimited) return pageMissing;
  const { next_cursor, ...links } = viewPageLinks({
    url,
    filters: [...filters, ["extended", query.extended]],
    page: query.page,
    cursor: query.cursor,
    displaySize,
    count: rows.length,
    total: isLimited ? undefined : total,
    nextCursor: next && cursors.write({ ...next, page: page + 1, total, random: randomText() }),
  });
  return {
    headers: viewLinkHeader({ next_cursor }),
    rows,
    page: { total, count: rows.length, page },
    links: isExtended(query) ? { ...links, next_cursor } : links,
  };
}

/** The body of a page. A cursor differs in each response, so the entity tag is made of the other parts. */
export async function pageBody<Row, Value, Links extends object>(
  { page, rows, links }: { page: { total: number; count: number; page: number }; rows: Row[]; links: Links },
  write: Writer<Row, Value>,
) {
  const body = await listBody(page, "results", { elements: rows, write }, { _links: links });
  const tagged: TaggedParts = [body.subarray(0, body.lastIndexOf('"_links":')), namesOf(links)];
  return { body, tagged };
}

/** The names of the members that a text of JSON has. */
const namesOf = (links: object): string =>
  String(Object.entries(links).flatMap(([name, link]) => (link === undefined ? [] : [name])));

/** True if the response has the members that alphagov/pay-ledger does not have. */
export const isExtended = ({ cursor, extended = cursor !== undefined }: Extension): boolean => extended;

const cursorAndPage = wrong(
  "page",
  { not: "cursor" },
  "query parameters cursor and page cannot be used together",
);
