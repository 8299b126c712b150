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
