import type { components } from "../../../generated/ledger.ts";

type Links = components["schemas"]["NextCursorLink"];

/**
 * The link to the next page of a list, with the other parameters of the request, and the header for it. The last page, which
 * has no next cursor, has no link.
 */
export function viewNextPage(
  url: string,
  query: object,
  cursor: string | undefined,
): { links: Links | undefined; headers: { Link?: string } } {
  if (cursor === undefined) return { links: undefined, headers: {} };
  const given = Object.entries(query).filter(([name, value]) => value !== undefined && name !== "cursor");
  const parameters = given.flatMap(([name, value]) =>
    [value].flat().map((item): [string, string] => [name, String(item)]),
  );
  const links = {
    next_cursor: { href: `${url}?${new URLSearchParams([...parameters, ["cursor", cursor]])}` },
  };
  return { links, headers: viewLinkHeader(links) };
}

/** The header `Link` (RFC 8288) for the link to the next page, if there is one. */
export const viewLinkHeader = (links: Partial<Links>): { Link?: string } =>
  links.next_cursor ? { Link: `<${links.next_cursor.href}>; rel="next"` } : {};

/** A page of a search. */
export interface SearchedPage {
  /** The URL of the request without its query. */
  url: string;
  /** The other parameters of the request, in the order in which links have them. Those that are undefined are left out. */
  filters: [name: string, value: unknown][];
  page: number;
  /** The cursor of the request. */
  cursor?: string | undefined;
  /** The size that applies. */
  displaySize: number;
  count: number;
  /** The number of matches; undefined if counting was limited. */
  total: number | undefined;
  /** The cursor of the next page, if there is one. */
  nextCursor?: string | undefined;
}

/** Links to the pages of a search, with every filter. */
export function viewPageLinks(searched: SearchedPage): components["schemas"]["SearchLinks"] {
  const { url, filters, page, cursor, displaySize, count, total, nextCursor } = searched;
  const given = filters.filter(([, value]) => value !== undefined);
  const link = (...paging: [string, unknown]) => {
    const parameters = [...given, paging, ["display_size", displaySize]] as [string, string][];
    return { href: `${url}?${new URLSearchParams(parameters)}` };
  };
  const links = {
    self: cursor === undefined ? link("page", page) : link("cursor", cursor),
    first_page: link("page", 1),
    next_cursor: nextCursor === undefined ? undefined : link("cursor", nextCursor),
  };
  if (cursor !== undefined) return { ...links, next_page: links.next_cursor };
  // The next page by number would not begin after the last row of a page that is cut short.
  const isCut = nextCursor !== undefined && count < displaySize;
  const last = total === undefined ? undefined : lastPage(total, displaySize);
  const hasNext = last === undefined ? count === displaySize : page < last;
  return {
    ...links,
    last_page: last === undefined ? undefined : link("page", last),
    prev_page: page === 1 ? undefined : link("page", Math.min(page - 1, last ?? page)),
    next_page: isCut ? links.next_cursor : hasNext ? link("page", page + 1) : undefined,
  };
}

export const lastPage = (total: number, displaySize: number) => Math.max(1, Math.ceil(total / displaySize));
