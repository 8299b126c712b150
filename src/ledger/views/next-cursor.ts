import type { components } from "../../../generated/ledger.ts";

type Links = components["schemas"]["NextCursorLink"];

/** The link to the next page of a list, with the other parameters of the request; undefined on the last page. */
export function viewNextCursor(url: string, query: object, cursor: string | undefined): Links | undefined {
  if (cursor === undefined) return undefined;
  const given = Object.entries(query).filter(([name, value]) => value !== undefined && name !== "cursor");
  const parameters = given.flatMap(([name, value]) =>
    [value].flat().map((item): [string, string] => [name, String(item)]),
  );
  return { next_cursor: { href: `${url}?${new URLSearchParams([...parameters, ["cursor", cursor]])}` } };
}

/** The header `Link` (RFC 8288) for the link to the next page; no header on the last page. */
export const viewLinkHeader = (links: Partial<Links> | undefined): { Link?: string } =>
  links?.next_cursor ? { Link: `<${links.next_cursor.href}>; rel="next"` } : {};

/** The header `Link` to the next page of a list, with the other parameters of the request; no header on the last page. */
export const viewNextLink = (url: string, query: object, cursor: string | undefined): { Link?: string } =>
  viewLinkHeader(viewNextCursor(url, query, cursor));
