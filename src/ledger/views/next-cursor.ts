import type { components } from "../../../generated/ledger.ts";

type Links = components["schemas"]["NextCursorLink"];

/** The link to the next page of a list, with the other parameters of the request; undefined on the last page. */
export function viewNextCursor(url: string, query: object, cursor: string | undefined): Links | undefined {
  if (cursor === undefined) return undefined;
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const parameters = Object.fromEntries([
    ...given.map(([name, value]) => [name, String(value)]),
    ["cursor", cursor],
  ]);
  return { next_cursor: { href: `${url}?${new URLSearchParams(parameters)}` } };
}
